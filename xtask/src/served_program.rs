//! A program that serves an address, for as long as the value lives.

use crate::run::program;
use anyhow::{Context as _, Result, bail};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// An API key of `cairn-server --dev`.
pub(crate) const DEV_KEY: &str = "ck_dev_owner";

/// A program that prints an address and serves it. It is killed when this is dropped.
pub(crate) struct ServedProgram {
    child: Child,
    /// Open as long as the program runs: it may print more.
    output: BufReader<ChildStdout>,
    pub(crate) url: String,
}

impl ServedProgram {
    /// Starts `cairn-server --dev` in memory on a free port.
    pub(crate) fn dev_server() -> Result<Self> {
        Self::start(dev_command().arg("--ephemeral"))
    }

    /// Starts `cairn-server --dev` with a data directory on a free port.
    pub(crate) fn dev_server_in(data: &Path) -> Result<Self> {
        Self::start(dev_command().arg("--data").arg(data))
    }

    /// Starts a program whose first line ends with its address.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let name = command.get_program().to_owned();
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("can't start {}", name.display()))?;
        let output = child.stdout.take().context("its output is piped")?;
        // From here on the child ends with the value, whatever it prints.
        let mut served = Self {
            child,
            output: BufReader::new(output),
            url: String::new(),
        };
        let mut line = String::new();
        let read = served.output.read_line(&mut line);
        read.with_context(|| format!("can't read the output of {}", name.display()))?;
        let last = line.trim().rsplit(' ').next();
        served.url = last.unwrap_or_default().to_owned();
        if !served.url.starts_with("http://") {
            bail!(
                "{} printed `{}` instead of its address: run it by hand to see why",
                name.display(),
                line.trim()
            );
        }
        Ok(served)
    }
}

fn dev_command() -> Command {
    let mut command = Command::new(program("cairn-server"));
    command
        .args(["serve", "--dev", "--listen", "127.0.0.1:0"])
        .env("CAIRN_LOG", "error");
    command
}

impl Drop for ServedProgram {
    fn drop(&mut self) {
        // It may have ended by itself; both ways it is gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::run::succeeds;

    #[test]
    fn a_program_without_an_address_is_named_and_not_left_running() {
        for first_line in ["no address", "\\377"] {
            let dir = tempfile::tempdir().unwrap();
            let id = dir.path().join("id");
            let script = format!(
                "echo $$ > '{}'; printf '{first_line}\\n'; exec sleep 600",
                id.display()
            );
            let started = ServedProgram::start(Command::new("sh").args(["-c", &script]));
            let error = started.err().unwrap().to_string();
            assert!(error.contains("sh"), "{error}");
            let id = std::fs::read_to_string(id).unwrap();
            assert!(!succeeds("kill", &["-0", id.trim()]), "{id} runs on");
        }
    }
}
