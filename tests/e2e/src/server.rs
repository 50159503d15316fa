//! One bundled server process: start, kill, restart on its port, backup and restore of its data.

use crate::dev::Dev;
use crate::service::Service;
use crate::{binaries, wait};
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

/// The API key of the account that all devices of a test share, see `--dev`.
pub const OWNER_KEY: &str = "ck_dev_owner";

/// The place of the server's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    /// In memory: gone with the process.
    Memory,
    /// In a directory: survives a restart.
    Disk(PathBuf),
}

/// A running (or killed) server in development mode; killed when dropped.
#[derive(Debug)]
pub struct Server {
    child: Option<Child>,
    port: u16,
    storage: Storage,
    log: PathBuf,
}

impl Server {
    /// Starts a server on a free port of 127.0.0.1 and waits until it accepts connections.
    ///
    /// # Errors
    /// It can't be started, or does not say that it is listening.
    pub fn start(storage: Storage, log: PathBuf) -> Result<Self> {
        let mut server = Self {
            child: None,
            port: 0,
            storage,
            log,
        };
        server.launch()?;
        Ok(server)
    }

    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The `/_dev` interface.
    #[must_use]
    pub fn dev(&self) -> Dev {
        Dev::new(&self.url())
    }

    /// The service as its owner sees it, without any key to the content.
    #[must_use]
    pub fn service(&self) -> Service {
        Service::new(&self.url(), OWNER_KEY)
    }

    /// Kills it as `kill -9` does.
    ///
    /// # Errors
    /// The process can't be waited for.
    pub fn kill(&mut self) -> Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill().context("the server can't be killed")?;
            child.wait().context("the server can't be waited for")?;
        }
        Ok(())
    }

    /// Starts it again after [`Server::kill`], on the same port and data.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub fn restart(&mut self) -> Result<()> {
        self.kill()?;
        self.launch()
    }

    /// Copies the data while the server is down for a moment.
    ///
    /// # Errors
    /// A server in memory, or a failed copy.
    pub fn backup(&mut self, to: &Path) -> Result<()> {
        self.kill()?;
        copy_dir(&self.data()?, to)?;
        self.launch()
    }

    /// Puts a backup in place of the data, as an administrator does after a disaster.
    ///
    /// # Errors
    /// As [`Server::backup`].
    pub fn restore(&mut self, from: &Path) -> Result<()> {
        self.kill()?;
        let data = self.data()?;
        fs::remove_dir_all(&data)
            .with_context(|| format!("{} can't be removed", data.display()))?;
        copy_dir(from, &data)?;
        self.launch()
    }

    /// The last lines that it logged.
    #[must_use]
    pub fn log_tail(&self, lines: usize) -> String {
        tail(&self.log, lines)
    }

    fn data(&self) -> Result<PathBuf> {
        match &self.storage {
            Storage::Disk(path) => Ok(path.clone()),
            Storage::Memory => {
                bail!("this server keeps its data in memory: start it with Storage::Disk")
            }
        }
    }

    fn launch(&mut self) -> Result<()> {
        let program = binaries::server()?;
        let log = File::options().create(true).append(true).open(&self.log)?;
        let mut command = Command::new(&program);
        command.args([
            "serve",
            "--dev",
            "--listen",
            &format!("127.0.0.1:{}", self.port),
        ]);
        match &self.storage {
            Storage::Memory => command.arg("--ephemeral"),
            Storage::Disk(path) => command.arg("--data").arg(path),
        };
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .with_context(|| format!("{} can't be started", program.display()))?;
        let stdout = child.stdout.take().context("the server has no stdout")?;
        let (sender, line) = mpsc::channel();
        thread::spawn(move || {
            let mut first = String::new();
            let mut reader = BufReader::new(stdout);
            let read = reader.read_line(&mut first);
            let _ = sender.send(read.map(|_| first));
            // Keeps the pipe open and empty for as long as the server lives.
            for _ in reader.lines().map_while(Result::ok) {}
        });
        self.child = Some(child);
        let line = line.recv_timeout(wait::PROCESS).with_context(|| {
            format!("the server printed nothing; its log: {}", self.log_tail(20))
        })??;
        self.port = line
            .trim()
            .strip_prefix("cairn-server listening on http://127.0.0.1:")
            .and_then(|port| port.parse().ok())
            .with_context(|| {
                format!(
                    "the server's first line is {line:?}; its log: {}",
                    self.log_tail(20)
                )
            })?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server that is already gone needs nothing more.
        let _ = self.kill();
    }
}

/// The last lines of a text file, or nothing.
pub(crate) fn tail(path: &Path, lines: usize) -> String {
    let text = fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let text = text.unwrap_or_default();
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

fn copy_dir(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in
        fs::read_dir(from).with_context(|| format!("{} can't be listed", from.display()))?
    {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_dir(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)
                .with_context(|| format!("{} can't be copied", entry.path().display()))?;
        }
    }
    Ok(())
}
