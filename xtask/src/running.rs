//! A program that serves an address, for as long as the value lives.

use crate::run::program;
use anyhow::{Context as _, Result, bail};
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// A program that ends its first line with the address that it serves; it ends with the value.
pub(crate) struct Running {
    child: Child,
    pub(crate) url: String,
}

impl Running {
    /// Starts a bundled server in memory, with what developers need.
    pub(crate) fn service() -> Result<Self> {
        let mut command = Command::new(program("cairn-server"));
        command
            .args(["serve", "--dev", "--ephemeral", "--listen", "127.0.0.1:0"])
            .env("CAIRN_LOG", "error");
        Self::start(&mut command)
    }

    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let name = command.get_program().to_owned();
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("can't start {}", name.display()))?;
        let output = child.stdout.take().context("its output is piped")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let last = line.trim().rsplit(' ').next();
        let url = last.unwrap_or_default().to_owned();
        let running = Self { child, url };
        if !running.url.starts_with("http://") {
            bail!("{} said `{}`", name.display(), line.trim());
        }
        Ok(running)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself; both ways it is gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
