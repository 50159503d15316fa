//! Unison in its text mode: a server on loopback holds the one folder, a command brings the other to it.

use super::{Service, counting_proxy, free_port, wait_for_listener};
use crate::process::{Run, run};
use anyhow::{Context, Result};
use cairn_e2e::proxy::Proxy;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Two folders that are equal after each command.
pub(crate) struct Unison {
    dir: PathBuf,
    a: PathBuf,
    b: PathBuf,
    proxy: Proxy,
    _server: Service,
}

impl Unison {
    /// Starts the server, and compares the empty folders once: the state of a pair that has been used before.
    pub(crate) fn new(dir: &Path) -> Result<Self> {
        let (a, b) = (dir.join("folder-a"), dir.join("folder-b"));
        for folder in [&a, &b] {
            fs::create_dir_all(folder)?;
        }
        let port = free_port()?;
        let log = File::create(dir.join("server.log"))?;
        let server = Command::new("unison")
            .args(["-socket", &port.to_string(), "-listen", "127.0.0.1"])
            .env("UNISON", dir.join("state-b"))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("`unison -socket` can't be started")?;
        let server = Service(server);
        wait_for_listener(port)?;
        let pair = Self {
            dir: dir.to_owned(),
            a,
            b,
            proxy: counting_proxy(port)?,
            _server: server,
        };
        pair.sync()?;
        Ok(pair)
    }

    pub(crate) fn a(&self) -> &Path {
        &self.a
    }

    pub(crate) fn b(&self) -> &Path {
        &self.b
    }

    /// Brings the folders to the same state, without questions.
    pub(crate) fn sync(&self) -> Result<Run> {
        let before = self.proxy.total();
        let b = format!(
            "socket://127.0.0.1:{}/{}",
            self.proxy.port(),
            self.b.display()
        );
        let mut command = Command::new("unison");
        command
            .env("UNISON", self.dir.join("state-a"))
            .arg(&self.a)
            .arg(b)
            .args(["-ui", "text", "-batch", "-terse"]);
        let done = run(&mut command, &self.dir.join("client.log"))?;
        Ok(Run {
            wire: self.proxy.total() - before,
            ..done
        })
    }
}
