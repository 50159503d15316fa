//! One bundled server process: start, kill, restart on its port, backup and restore of its data.

mod cluster;
mod process;

pub use self::cluster::share_keys_and_objects;

use self::cluster::Cluster;
use self::process::Process;
use crate::dev::Dev;
use crate::service::Service;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

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

/// A running (or killed) server in development mode; killed when dropped. Three servers on one database, behind a
/// proxy, take its place if `CAIRN_TEST_CLUSTER` names a database of PostgreSQL.
#[derive(Debug)]
pub struct Server {
    process: Option<Process>,
    /// Several servers in place of the one.
    cluster: Option<Cluster>,
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
        let cluster = Cluster::new(&log)?;
        let mut server = Self {
            process: None,
            port: cluster.as_ref().map_or(0, Cluster::port),
            cluster,
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
        match &self.cluster {
            Some(cluster) => Dev::new(&cluster.urls()),
            None => Dev::new(&[self.url()]),
        }
    }

    /// The service as its owner sees it, without any key to the content.
    #[must_use]
    pub fn service(&self) -> Service {
        Service::new(&self.url(), OWNER_KEY)
    }

    /// Kills it as `kill -9` does.
    ///
    /// # Errors
    /// A process can't be killed or waited for.
    pub fn kill(&mut self) -> Result<()> {
        if let Some(cluster) = &mut self.cluster {
            cluster.kill()?;
        }
        self.process.take().map_or(Ok(()), Process::kill)
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
            Storage::Disk(path) if self.cluster.is_none() => Ok(path.clone()),
            Storage::Disk(_) => bail!("the data of several servers is in their database"),
            Storage::Memory => {
                bail!("this server keeps its data in memory: start it with Storage::Disk")
            }
        }
    }

    fn launch(&mut self) -> Result<()> {
        if let Some(cluster) = &mut self.cluster {
            return cluster.launch(&self.log);
        }
        let address = format!("127.0.0.1:{}", self.port);
        let mut words = vec!["--listen".to_owned(), address];
        match &self.storage {
            Storage::Memory => words.push("--ephemeral".to_owned()),
            Storage::Disk(path) => words.extend(["--data".to_owned(), path.display().to_string()]),
        }
        let process = Process::start(&words, &self.log)?;
        self.port = process.port;
        self.process = Some(process);
        Ok(())
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
