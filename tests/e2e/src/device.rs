//! One device: a home, a folder, a daemon process, and the commands a person gives.

mod killing;

use crate::cli::{self, Output};
use crate::server::tail;
use crate::status::{Counters, Status};
use crate::{Files, Tree, binaries, wait};
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The passphrase of the account that all devices of a test share.
pub const PASSPHRASE: &str = "correct horse battery staple";

/// The differences of a device from a plain one.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The path of the synced folder; beside the home if absent.
    pub root: Option<PathBuf>,
    /// More arguments of `add`, such as `--exclude`.
    pub add: Vec<String>,
    /// The environment of all processes of this device.
    pub environment: Vec<(String, String)>,
    /// A program and its arguments that runs the daemon, such as `setpriv`.
    pub wrapper: Vec<String>,
}

impl Options {
    /// Takes root's power to read everything from the daemon, so that permissions count for it too.
    #[must_use]
    pub fn without_root_powers() -> Self {
        if !geteuid().is_root() {
            return Self::default();
        }
        let powers = "-dac_override,-dac_read_search";
        let bounding = format!("--bounding-set={powers}");
        let inheritable = format!("--inh-caps={powers}");
        Self {
            wrapper: vec!["setpriv".to_owned(), bounding, inheritable, "--".to_owned()],
            ..Self::default()
        }
    }
}

/// A device of a test; its daemon is killed when it is dropped.
#[derive(Debug)]
pub struct Device {
    name: String,
    home: PathBuf,
    passphrase: PathBuf,
    log: PathBuf,
    options: Options,
    files: Files,
    daemon: Option<Child>,
}

impl Device {
    /// Makes a fresh home and an empty folder below `dir`.
    ///
    /// # Errors
    /// They can't be made.
    pub fn new(dir: &Path, name: &str, options: Options) -> Result<Self> {
        let home = dir.join(format!("home-{name}"));
        let root = options
            .root
            .clone()
            .unwrap_or_else(|| dir.join(format!("folder-{name}")));
        let passphrase = dir.join("passphrase");
        fs::create_dir_all(&home)?;
        fs::create_dir_all(&root)?;
        fs::write(&passphrase, PASSPHRASE)?;
        Ok(Self {
            name: name.to_owned(),
            home,
            passphrase,
            log: dir.join(format!("daemon-{name}.log")),
            options,
            files: Files::new(root),
            daemon: None,
        })
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Returns the actions of a person in the synced folder.
    #[must_use]
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// The process id of the running daemon.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.daemon.as_ref().map(Child::id)
    }

    /// Runs a command, whatever its exit code.
    ///
    /// # Errors
    /// It can't be run.
    pub fn cli(&self, args: &[&str]) -> Result<Output> {
        cli::run(&self.home, &self.options.environment, args)
    }

    /// Runs a command that must succeed.
    ///
    /// # Errors
    /// It fails.
    pub fn must(&self, args: &[&str]) -> Result<Output> {
        let output = self.cli(args)?;
        output
            .ok()
            .with_context(|| format!("`cairn {}` on device {}", args.join(" "), self.name))
    }

    /// The arguments of a login with an API key and this test's passphrase.
    #[must_use]
    pub fn login_args(&self, url: &str, key: &str) -> Vec<String> {
        let passphrase = self.passphrase.display().to_string();
        [
            "login",
            "--server",
            url,
            "--api-key",
            key,
            "--passphrase-file",
            &passphrase,
        ]
        .into_iter()
        .chain(["--secrets", "file", "--device-name", &self.name])
        .map(str::to_owned)
        .collect()
    }

    /// # Errors
    /// The login fails.
    pub fn login(&self, url: &str, key: &str) -> Result<()> {
        let args = self.login_args(url, key);
        self.must(&args.iter().map(String::as_str).collect::<Vec<_>>())?;
        Ok(())
    }

    /// Links the folder to a remote one; with `CAIRN_E2E_PRIVATE` in the environment, to one in the private space. Tests
    /// that look at names on the server fail then.
    ///
    /// # Errors
    /// The command fails.
    pub fn add(&self, remote: &str) -> Result<()> {
        let root = self.root_text();
        let mut args = vec!["add", &root, "--remote", remote];
        args.extend(self.options.add.iter().map(String::as_str));
        if std::env::var_os("CAIRN_E2E_PRIVATE").is_some() {
            args.push("--private");
        }
        self.must(&args)?;
        Ok(())
    }

    /// Starts the daemon and waits until it answers.
    ///
    /// # Errors
    /// It ends at once, or does not answer.
    pub fn start(&mut self) -> Result<()> {
        let child = self.spawn(&self.options.wrapper)?;
        self.daemon = Some(child);
        wait::holds(
            &format!("the daemon of {} answers", self.name),
            wait::PROCESS,
            || {
                if let Some(status) = self
                    .daemon
                    .as_mut()
                    .and_then(|child| child.try_wait().transpose())
                {
                    bail!(
                        "the daemon of {} ended with {}: {}",
                        self.name,
                        status?,
                        tail(&self.log, 20)
                    );
                }
                Ok(self.cli(&["status"])?.code == 0)
            },
        )
        .with_context(|| format!("its log: {}", tail(&self.log, 20)))
    }

    /// Starts the daemon, by another program if there is one.
    fn spawn(&self, wrapper: &[String]) -> Result<Child> {
        let program = binaries::cairn()?;
        let mut command = match wrapper.split_first() {
            Some((wrapper, args)) => {
                let mut command = Command::new(wrapper);
                command.args(args).arg(program);
                command
            }
            None => Command::new(program),
        };
        let environment = self.options.environment.iter();
        let log = File::options().create(true).append(true).open(&self.log)?;
        command
            .arg("--home")
            .arg(&self.home)
            .arg("daemon")
            .envs(environment.map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("the daemon of {} can't be started", self.name))
    }

    /// Ends the daemon as the system does at log-out; it must exit 0 within 5 s.
    ///
    /// # Errors
    /// It does not.
    pub fn stop(&mut self) -> Result<()> {
        let Some(mut child) = self.daemon.take() else {
            return Ok(());
        };
        let pid = i32::try_from(child.id())
            .ok()
            .and_then(Pid::from_raw)
            .context("a pid of 0")?;
        kill_process(pid, Signal::TERM)?;
        let limit = std::time::Duration::from_secs(5);
        let ended = wait::until("the daemon ends after SIGTERM", limit, || {
            Ok(child.try_wait()?)
        });
        let status = match ended {
            Ok(status) => status,
            Err(error) => {
                child.kill()?;
                child.wait()?;
                return Err(error);
            }
        };
        if !status.success() {
            bail!(
                "the daemon of {} ended with {status}: {}",
                self.name,
                tail(&self.log, 20)
            );
        }
        Ok(())
    }

    /// Ends the daemon as `kill -9` does.
    ///
    /// # Errors
    /// It can't be waited for.
    pub fn kill9(&mut self) -> Result<()> {
        if let Some(mut child) = self.daemon.take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// # Errors
    /// The command fails.
    pub fn pause(&self) -> Result<()> {
        self.must(&["pause"]).map(drop)
    }

    /// # Errors
    /// The command fails.
    pub fn resume(&self) -> Result<()> {
        self.must(&["resume"]).map(drop)
    }

    /// Scans again now, and waits until idle.
    ///
    /// # Errors
    /// The commands fail.
    pub fn cycle(&self) -> Result<()> {
        self.must(&["sync"])?;
        self.wait_idle()
    }

    /// Waits until nothing changes any more: in sync (exit code 0), or all that is left needs a person (exit code 5).
    ///
    /// # Errors
    /// Not within 120 s.
    pub fn wait_idle(&self) -> Result<()> {
        let output = self.cli(&["status", "--wait", "--timeout", "120"])?;
        if output.code == 5 {
            return Ok(());
        }
        output
            .ok()
            .with_context(|| format!("{} does not become idle", self.name))
            .map(drop)
    }

    /// # Errors
    /// The daemon does not answer, or a documented field is missing.
    pub fn status(&self) -> Result<Status> {
        let output = self.must(&["status"])?;
        serde_json::from_value(output.json()?)
            .with_context(|| format!("the status is {}", output.stdout))
    }

    /// Waits until the status fulfils a condition, and gives it.
    ///
    /// # Errors
    /// It never does; the last one is told.
    pub fn wait_status(
        &self,
        what: &str,
        mut holds: impl FnMut(&Status) -> bool,
    ) -> Result<Status> {
        let mut last = None;
        let found = wait::until(what, wait::SYNC, || {
            let status = self.status()?;
            let good = holds(&status);
            last = Some(status);
            Ok(last.clone().filter(|_| good))
        });
        found.with_context(|| format!("the last status of {}: {last:#?}", self.name))
    }

    /// # Errors
    /// Fails like [`Device::status`].
    pub fn counters(&self) -> Result<Counters> {
        Ok(self.status()?.counters)
    }

    /// # Errors
    /// The folder can't be read.
    pub fn tree(&self) -> Result<Tree> {
        Tree::of(self.files.root())
    }

    /// Returns the number of unresolved conflicts that `cairn conflicts` lists.
    ///
    /// # Errors
    /// The command fails.
    pub fn conflicts(&self) -> Result<usize> {
        let response = self.must(&["conflicts"])?.json()?;
        let list = response["conflicts"]
            .as_array()
            .context("`conflicts` answered without a list")?;
        Ok(list.len())
    }

    /// The folder's path as an argument.
    #[must_use]
    pub fn root_text(&self) -> String {
        self.files.root().display().to_string()
    }

    /// The last lines of the daemon's output.
    #[must_use]
    pub fn log_tail(&self, lines: usize) -> String {
        tail(&self.log, lines)
    }

    /// The last lines of the newest file in the home's `logs`.
    #[must_use]
    pub fn home_log_tail(&self, lines: usize) -> String {
        let newest = fs::read_dir(self.home.join("logs"))
            .into_iter()
            .flatten()
            .filter_map(Result::ok)
            .filter(|entry| entry.path().is_file())
            .max_by_key(|entry| entry.metadata().and_then(|meta| meta.modified()).ok());
        newest
            .map(|entry| tail(&entry.path(), lines))
            .unwrap_or_default()
    }

    /// Fails if the daemon ever panicked.
    ///
    /// # Errors
    /// The panic's message.
    pub fn check_log(&self) -> Result<()> {
        let log = tail(&self.log, usize::MAX);
        if let Some(line) = log.lines().find(|line| line.contains("panicked at")) {
            bail!("the daemon of {} panicked: {line}", self.name);
        }
        Ok(())
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // A daemon that is already gone needs nothing more.
        let _ = self.kill9();
    }
}
