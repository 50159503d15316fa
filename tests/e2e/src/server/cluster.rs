//! Three servers on one database of PostgreSQL, which look like one.

use super::process::Process;
use crate::proxy::Proxy;
use anyhow::{Context, Result};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The variable that names the database.
const DATABASE: &str = "CAIRN_TEST_CLUSTER";
const SERVERS: usize = 3;
/// Files that all servers have that keep objects in their directories.
const KEYS: [&str; 2] = ["records.key", "objects.id"];

/// The servers, running or killed, and the proxy that sends each connection to the next of them.
#[derive(Debug)]
pub(super) struct Cluster {
    database: String,
    dir: PathBuf,
    /// The ports that they have, once they were started.
    ports: Vec<u16>,
    processes: Vec<Process>,
    proxy: Proxy,
}

impl Cluster {
    /// Prepares servers whose data lies beside `log`, if the variable is there.
    ///
    /// # Errors
    /// No port is free.
    pub(super) fn new(log: &Path) -> Result<Option<Self>> {
        let Ok(url) = std::env::var(DATABASE) else {
            return Ok(None);
        };
        let dir = log.with_extension("servers");
        let schema = blake3::hash(dir.as_os_str().as_encoded_bytes()).to_hex();
        Ok(Some(Self {
            // A schema for each test.
            database: format!("{url}?options=-csearch_path%3De2e_{}", &schema[..16]),
            dir,
            ports: vec![0; SERVERS],
            processes: Vec::new(),
            proxy: Proxy::start_over(Vec::new())?,
        }))
    }

    pub(super) fn port(&self) -> u16 {
        self.proxy.port()
    }

    /// Returns the address of each server.
    pub(super) fn urls(&self) -> Vec<String> {
        let url = |port| format!("http://127.0.0.1:{port}");
        self.ports.iter().map(url).collect()
    }

    /// Starts all servers; the first one makes what the others need.
    pub(super) fn launch(&mut self, log: &Path) -> Result<()> {
        for number in 0..SERVERS {
            let data = self.dir.join(number.to_string());
            if number > 0 && !data.exists() {
                share_keys_and_objects(&self.dir.join("0"), &data)?;
            }
            let words = [
                "--listen",
                &format!("127.0.0.1:{}", self.ports[number]),
                "--data",
                &data.display().to_string(),
                "--database",
                &self.database,
            ];
            let process = Process::start(&words.map(str::to_owned), log)?;
            self.ports[number] = process.port;
            self.processes.push(process);
        }
        let targets = self
            .ports
            .iter()
            .map(|port| SocketAddr::from(([127, 0, 0, 1], *port)));
        self.proxy.forward_to(targets.collect());
        Ok(())
    }

    pub(super) fn kill(&mut self) -> Result<()> {
        self.processes.drain(..).try_for_each(Process::kill)
    }
}

/// Makes a data directory with the keys and objects of another one, for one more server on its database.
///
/// # Errors
/// The first server's files aren't there, or can't be copied.
pub fn share_keys_and_objects(first: &Path, data: &Path) -> Result<()> {
    fs::create_dir_all(data)?;
    for name in KEYS {
        fs::copy(first.join(name), data.join(name))
            .with_context(|| format!("the first server's {name}"))?;
    }
    fs::create_dir_all(first.join("objects"))?;
    std::os::unix::fs::symlink(first.join("objects"), data.join("objects"))?;
    Ok(())
}
