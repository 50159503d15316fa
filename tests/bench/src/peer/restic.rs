//! restic over its REST protocol, served by `rclone serve restic`.

use super::{Push, Service, counting_proxy, free_port, serve_with_rclone};
use crate::process::{Run, run};
use anyhow::Result;
use cairn_e2e::proxy::Proxy;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) struct Restic {
    dir: PathBuf,
    proxy: Proxy,
    _server: Service,
}

impl Restic {
    pub(crate) fn new(dir: &Path) -> Result<Self> {
        let store = dir.join("store");
        fs::create_dir_all(&store)?;
        let port = free_port()?;
        let server = serve_with_rclone("restic", &store, port, &dir.join("server.log"))?;
        let mut restic = Self {
            dir: dir.to_owned(),
            proxy: counting_proxy(port)?,
            _server: server,
        };
        restic.time_command(&["init"], None)?;
        Ok(restic)
    }

    fn time_command(&mut self, args: &[&str], inside: Option<&Path>) -> Result<Run> {
        let before = self.proxy.total();
        let mut command = Command::new("restic");
        command
            .env("RESTIC_PASSWORD", "a passphrase")
            .env("RESTIC_REPOSITORY", format!("rest:{}/", self.proxy.url()))
            .env("RESTIC_CACHE_DIR", self.dir.join("cache"))
            .args(args);
        if let Some(dir) = inside {
            command.current_dir(dir);
        }
        let done = run(&mut command, &self.dir.join("client.log"))?;
        Ok(Run {
            wire: self.proxy.total() - before,
            ..done
        })
    }
}

impl Push for Restic {
    fn push(&mut self, from: &Path) -> Result<Run> {
        self.time_command(&["backup", "."], Some(from))
    }

    fn pull(&mut self, to: &Path) -> Result<Run> {
        self.time_command(
            &["restore", "latest", "--target", &to.display().to_string()],
            None,
        )
    }
}
