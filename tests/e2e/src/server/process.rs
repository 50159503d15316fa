//! One process of `cairn-server`.

use super::tail;
use crate::{binaries, wait};
use anyhow::{Context, Result};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

/// A running server in development mode; killed when dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    pub(super) port: u16,
}

impl Process {
    /// Starts a server and waits until it accepts connections.
    pub(super) fn start(words: &[String], log: &Path) -> Result<Self> {
        let program = binaries::server()?;
        let output = File::options().create(true).append(true).open(log)?;
        let mut child = Command::new(&program)
            .args(["serve", "--dev"])
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(output)
            .spawn()
            .with_context(|| format!("{} can't be started", program.display()))?;
        let stdout = child.stdout.take().context("the server has no stdout")?;
        // From here on it ends with the value.
        let mut started = Self { child, port: 0 };
        let (sender, line) = mpsc::channel();
        thread::spawn(move || {
            let mut first = String::new();
            let mut reader = BufReader::new(stdout);
            let read = reader.read_line(&mut first);
            let _ = sender.send(read.map(|_| first));
            // Keeps the pipe open and empty for as long as the server lives.
            for _ in reader.lines().map_while(Result::ok) {}
        });
        let line = line
            .recv_timeout(wait::PROCESS)
            .with_context(|| format!("the server printed nothing; its log: {}", tail(log, 20)))??;
        started.port = line
            .trim()
            .strip_prefix("cairn-server listening on http://127.0.0.1:")
            .and_then(|port| port.parse().ok())
            .with_context(|| {
                format!(
                    "the server's first line is {line:?}; its log: {}",
                    tail(log, 20)
                )
            })?;
        Ok(started)
    }
}

impl Process {
    /// Ends it as `kill -9` does.
    ///
    /// # Errors
    /// It can't be killed or waited for.
    pub(super) fn kill(mut self) -> Result<()> {
        self.child.kill().context("the server can't be killed")?;
        self.child
            .wait()
            .context("the server can't be waited for")?;
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended needs nothing more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
