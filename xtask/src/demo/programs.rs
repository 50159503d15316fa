//! The two programs, and a running server.

use crate::run::{cargo, root, run_command};
use anyhow::{Context as _, Result, bail};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const GREETING: &str = "cairn-server listening on ";

/// The paths of the programs.
pub(super) struct Programs {
    pub(super) cairn: PathBuf,
    server: PathBuf,
}

impl Programs {
    /// The programs that `CAIRN_BIN` and `CAIRN_SERVER_BIN` name, else release builds made now.
    pub(super) fn find() -> Result<Self> {
        let named = |variable| std::env::var_os(variable).map(PathBuf::from);
        if let (Some(cairn), Some(server)) = (named("CAIRN_BIN"), named("CAIRN_SERVER_BIN")) {
            return Ok(Self { cairn, server });
        }
        println!("building cairn and cairn-server (release)");
        run_command(cargo().args(["build", "--release", "-p", "cairn", "-p", "cairn-server"]))?;
        let target = named("CARGO_TARGET_DIR").unwrap_or_else(|| root().join("target"));
        let built = |name: &str| {
            let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
            let path = target.join("release").join(file);
            match path.is_file() {
                true => Ok(path),
                false => bail!("{} is missing after the build", path.display()),
            }
        };
        Ok(Self {
            cairn: built("cairn")?,
            server: built("cairn-server")?,
        })
    }
}

/// A server of our own; ends when dropped.
pub(super) struct Server {
    pub(super) url: String,
    pub(super) data: PathBuf,
    process: ChildProcess,
}

impl Server {
    /// Starts a server on a free port, with its data in a new directory.
    pub(super) fn start(programs: &Programs, data: &Path) -> Result<Self> {
        fs::create_dir(data)?;
        let log = data.with_extension("log");
        let mut child = Command::new(&programs.server)
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log)?)
            .spawn()
            .context("can't start cairn-server")?;
        let stdout = child.stdout.take().context("the server has no stdout")?;
        let process = ChildProcess(child);
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let Some(url) = line.trim().strip_prefix(GREETING) else {
            let printed = fs::read_to_string(&log).unwrap_or_default();
            bail!(
                "the server didn't start: it printed `{}` and {printed}",
                line.trim()
            );
        };
        Ok(Self {
            url: url.to_owned(),
            data: data.to_path_buf(),
            process,
        })
    }

    /// Makes an account and returns an API key for it.
    pub(super) fn account(
        &self,
        programs: &Programs,
        email: &str,
        password: &str,
    ) -> Result<String> {
        let command = |words: &[&str]| {
            let mut command = Command::new(&programs.server);
            command.args(words).arg("--data").arg(&self.data);
            command
        };
        let mut child = command(&["user", "add", email, "--password-stdin"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            writeln!(stdin, "{password}")?;
        }
        if !child.wait()?.success() {
            bail!("`cairn-server user add {email}` failed");
        }
        let output = command(&["apikey", email]).output()?;
        let printed = String::from_utf8_lossy(&output.stdout);
        printed
            .split_whitespace()
            .find(|word| word.starts_with("ck_"))
            .map(str::to_owned)
            .with_context(|| {
                let why = String::from_utf8_lossy(&output.stderr);
                format!("`cairn-server apikey {email}` gave no key: {printed}{why}")
            })
    }

    pub(super) fn stop(&mut self) -> Result<()> {
        self.process.end()
    }
}

/// A process that the demo started, and ends.
pub(super) struct ChildProcess(pub(super) Child);

impl ChildProcess {
    /// Ends the process and waits for it.
    pub(super) fn end(&mut self) -> Result<()> {
        if self.0.try_wait()?.is_some() {
            return Ok(());
        }
        let asked = Command::new("kill")
            .args(["-TERM", &self.0.id().to_string()])
            .status()
            .is_ok_and(|status| status.success());
        if !asked {
            self.0.kill()?;
        }
        self.0.wait()?;
        Ok(())
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        // After an error nothing may be left running, however roughly.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
