//! One device: a home, a folder and a daemon, steered through the command line.

use super::programs::{ChildProcess, Programs};
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Between two looks at something that gives no sign by itself.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A device of the demo.
pub(super) struct Device {
    pub(super) home: PathBuf,
    pub(super) folder: PathBuf,
    name: String,
    cairn: PathBuf,
    daemon: Option<ChildProcess>,
}

/// The part of `cairn status` that the demo uses.
pub(super) struct Status {
    pub(super) pending: u64,
    pub(super) uploaded_bytes: u64,
    pub(super) downloaded_bytes: u64,
}

impl Device {
    pub(super) fn new(programs: &Programs, dir: &Path, name: &str) -> Result<Self> {
        let home = dir.join(format!("{name}-home"));
        let folder = dir.join(name);
        fs::create_dir(&home)?;
        fs::create_dir(&folder)?;
        Ok(Self {
            home,
            folder,
            name: name.to_owned(),
            cairn: programs.cairn.clone(),
            daemon: None,
        })
    }

    pub(super) fn login(&self, url: &str, key: &str, passphrase: &Path) -> Result<()> {
        let passphrase = passphrase.to_string_lossy();
        self.cli(&[
            "login",
            "--server",
            url,
            "--api-key",
            key,
            "--passphrase-file",
            &passphrase,
            "--device-name",
            &self.name,
            // The demo leaves nothing in the user's own keyring.
            "--secrets",
            "file",
        ])?;
        Ok(())
    }

    pub(super) fn add(&self, remote: &str) -> Result<()> {
        let folder = self.folder.to_string_lossy();
        self.cli(&["add", &folder, "--remote", remote])?;
        Ok(())
    }

    /// Starts the daemon as a child, so that it can't outlive the demo.
    pub(super) fn start(&mut self) -> Result<()> {
        let log = self.home.join("daemon-output.log");
        let child = Command::new(&self.cairn)
            .arg("--home")
            .arg(&self.home)
            .arg("daemon")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log)?)
            .spawn()
            .context("can't start the daemon")?;
        let mut daemon = ChildProcess(child);
        wait_until("the daemon to answer", Duration::from_secs(30), || {
            if let Some(status) = daemon.0.try_wait()? {
                let log_text = fs::read_to_string(&log).unwrap_or_default();
                bail!("the daemon of {} ended ({status}): {log_text}", self.name);
            }
            Ok(self.cli(&["--no-start", "status"]).is_ok())
        })?;
        self.daemon = Some(daemon);
        Ok(())
    }

    pub(super) fn stop(&mut self) -> Result<()> {
        match self.daemon.take() {
            Some(mut daemon) => daemon.end(),
            None => Ok(()),
        }
    }

    /// Waits until everything is in sync and stays so.
    pub(super) fn wait_synced(&self) -> Result<()> {
        self.cli(&["status", "--wait", "--timeout", "600"])?;
        Ok(())
    }

    pub(super) fn status(&self) -> Result<Status> {
        let status = self.cli(&["status"])?;
        let number = |value: &Value| value.as_u64().unwrap_or(0);
        Ok(Status {
            pending: number(&status["pending"]),
            uploaded_bytes: number(&status["counters"]["uploaded_bytes"]),
            downloaded_bytes: number(&status["counters"]["downloaded_bytes"]),
        })
    }

    /// Runs a command of this device and returns what it says as JSON.
    pub(super) fn cli(&self, words: &[&str]) -> Result<Value> {
        let output = Command::new(&self.cairn)
            .arg("--home")
            .arg(&self.home)
            .arg("--json")
            .args(words)
            .stdin(Stdio::null())
            .output()
            .context("can't run cairn")?;
        if !output.status.success() {
            bail!(
                "on {}: `cairn {}` failed ({}): {}{}",
                self.name,
                words.join(" "),
                output.status,
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        if output.stdout.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&output.stdout)
            .with_context(|| format!("`cairn {}` printed no JSON document", words.join(" ")))
    }
}

/// Polls until `done` returns `true`.
///
/// # Errors
/// The first error of `done`, or that it took too long.
pub(super) fn wait_until(
    what: &str,
    time_limit: Duration,
    mut done: impl FnMut() -> Result<bool>,
) -> Result<()> {
    let begun = Instant::now();
    while !done()? {
        if begun.elapsed() > time_limit {
            bail!("waited {} s for {what}", time_limit.as_secs());
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    Ok(())
}
