//! Public judges of the tools for assistants: the official Python SDK as a client, the inspector's command
//! line, and the protocol's own conformance scenarios. What they need is installed below `target/`.

mod conformance;
mod inspector;
mod sdk;

use crate::run::{program, succeeds};
use anyhow::{Context as _, Result, bail};
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// An account of the bundled server in its mode for developers.
const KEY: &str = "ck_dev_owner";

pub(crate) fn run() -> Result<()> {
    let service = Running::service()?;
    if !succeeds("npx", &["--version"]) {
        println!("only the SDK judges: there is no npx on this machine");
        return sdk::run(&service.url, None);
    }
    let suite = conformance::Suite::install()?;
    sdk::run(&service.url, Some(&suite.schemas()?))?;
    inspector::run(&service.url)?;
    suite.run(&service.url)
}

/// A program that ends its first line with the address that it serves; it ends with the value.
struct Running {
    child: Child,
    url: String,
}

impl Running {
    /// A bundled server in memory.
    fn service() -> Result<Self> {
        let mut command = Command::new(program("cairn-server"));
        command.args(["serve", "--dev", "--ephemeral", "--listen", "127.0.0.1:0"]);
        Self::start(&mut command)
    }

    fn start(command: &mut Command) -> Result<Self> {
        let name = command.get_program().to_owned();
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("can't start {}", name.display()))?;
        let output = child.stdout.take().context("its output is piped")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let url = line
            .trim()
            .rsplit(' ')
            .next()
            .unwrap_or_default()
            .to_owned();
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
