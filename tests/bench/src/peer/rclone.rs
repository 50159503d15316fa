//! rclone's crypt over WebDAV, served by rclone itself.

use super::{Push, Service, counting_proxy, free_port, serve_with_rclone};
use crate::process::{Run, run};
use anyhow::{Result, bail};
use cairn_e2e::proxy::Proxy;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) struct Rclone {
    dir: PathBuf,
    proxy: Proxy,
    _server: Service,
}

impl Rclone {
    pub(crate) fn new(dir: &Path) -> Result<Self> {
        let store = dir.join("store");
        fs::create_dir_all(&store)?;
        let port = free_port()?;
        let server = serve_with_rclone("webdav", &store, port, &dir.join("server.log"))?;
        let proxy = counting_proxy(port)?;
        let password = Command::new("rclone")
            .args(["obscure", "a passphrase"])
            .output()?;
        if !password.status.success() {
            bail!("`rclone obscure` failed");
        }
        let password = String::from_utf8(password.stdout)?;
        let config = format!(
            "[dav]\ntype = webdav\nurl = {}\nvendor = other\n\n[sealed]\ntype = crypt\nremote = dav:data\npassword = {}\n",
            proxy.url(),
            password.trim()
        );
        fs::write(dir.join("rclone.conf"), config)?;
        Ok(Self {
            dir: dir.to_owned(),
            proxy,
            _server: server,
        })
    }

    /// Renames are followed by name and size, the only strategy that this store allows.
    pub(crate) fn push_renamed(&mut self, from: &Path) -> Result<Run> {
        let args = [
            "sync",
            "--track-renames",
            "--track-renames-strategy",
            "leaf",
        ];
        self.time_command(&args, &from.display().to_string(), "sealed:")
    }

    fn time_command(&mut self, args: &[&str], from: &str, to: &str) -> Result<Run> {
        let before = self.proxy.total();
        let mut command = Command::new("rclone");
        command.arg("--config").arg(self.dir.join("rclone.conf"));
        // More at once than its default of 4 and 8: it is faster so.
        command
            .args(args)
            .args(["--transfers", "16", "--checkers", "16", from, to]);
        let done = run(&mut command, &self.dir.join("client.log"))?;
        Ok(Run {
            wire: self.proxy.total() - before,
            ..done
        })
    }
}

impl Push for Rclone {
    fn push(&mut self, from: &Path) -> Result<Run> {
        self.time_command(&["copy"], &from.display().to_string(), "sealed:")
    }

    fn pull(&mut self, to: &Path) -> Result<Run> {
        self.time_command(&["copy"], "sealed:", &to.display().to_string())
    }

    /// WebDAV of this kind keeps no times, so an edit that keeps the size is seen only when told.
    fn push_edited(&mut self, from: &Path) -> Result<Run> {
        self.time_command(
            &["copy", "--ignore-times"],
            &from.display().to_string(),
            "sealed:",
        )
    }
}
