//! The servers of a cluster: each with a data directory of its own and the same `records.key`.

use super::logged;
use crate::postgres::free_port;
use crate::run::{program, run_command};
use crate::served_program::ServedProgram;
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A password that is long enough for any rule.
const PASSWORD: &str = "correct horse battery staple";

/// The configuration that all servers have in common.
pub(super) struct Common {
    pub(super) dir: PathBuf,
    pub(super) program: PathBuf,
    pub(super) public_port: u16,
    pub(super) database: String,
    config: PathBuf,
}

impl Common {
    /// Writes the configuration file that all servers have; `objects` is the address of the object store.
    pub(super) fn new(dir: &Path, database: String, objects: &str) -> Result<Self> {
        let public_port = free_port()?;
        let config = dir.join("server.toml");
        let text = format!(
            "database = \"{database}\"\npublic_url = \"http://127.0.0.1:{public_port}\"\nbehind_proxy = true\n\n\
             [objects]\nurl = \"s3://cairn\"\nendpoint = \"{objects}\"\nregion = \"us-east-1\"\nallow_http = true\n\n\
             [rate_limits]\nread = 1000000\nwrite = 1000000\ncontent = 1000000\n"
        );
        fs::write(&config, text)?;
        Ok(Self {
            dir: dir.to_owned(),
            program: program("cairn-server"),
            public_port,
            database,
            config,
        })
    }

    fn data(&self, number: usize) -> PathBuf {
        self.dir.join(format!("data-{number}"))
    }

    /// Returns a command of the server's program on a data directory.
    fn command(&self, words: &[&str], number: usize) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).arg("--data").arg(self.data(number));
        command.arg("--config").arg(&self.config);
        command.env("AWS_ACCESS_KEY_ID", "test");
        command.env("AWS_SECRET_ACCESS_KEY", "test");
        command
    }

    /// Makes an account and an API key for it, and with them the `records.key`.
    pub(super) fn make_account(&self, email: &str) -> Result<String> {
        let password = self.dir.join("password");
        fs::write(&password, PASSWORD)?;
        let mut add = self.command(&["user", "add", email, "--password-stdin"], 0);
        add.stdin(fs::File::open(&password)?).stdout(Stdio::null());
        run_command(&mut add)?;
        let made = self.command(&["apikey", "add", email], 0).output()?;
        let key = String::from_utf8_lossy(&made.stdout).trim().to_owned();
        if !made.status.success() || key.is_empty() {
            bail!("no API key: {}", String::from_utf8_lossy(&made.stderr));
        }
        Ok(key)
    }
}

/// One server, which may be killed and started again on its port.
pub(super) struct ServerProcess {
    pub(super) number: usize,
    pub(super) port: u16,
    process: Option<ServedProgram>,
}

impl ServerProcess {
    pub(super) fn start(common: &Common, number: usize) -> Result<Self> {
        let (first, data) = (common.data(0), common.data(number));
        if number > 0 {
            fs::create_dir(&data)?;
            fs::copy(first.join("records.key"), data.join("records.key"))
                .context("the first server's key for records")?;
        }
        let mut server = Self {
            number,
            port: free_port()?,
            process: None,
        };
        server.launch(common)?;
        Ok(server)
    }

    /// Starts the program and waits until it listens.
    pub(super) fn launch(&mut self, common: &Common) -> Result<()> {
        let address = format!("127.0.0.1:{}", self.port);
        let mut command = common.command(
            &["serve", "--listen", &address, "--allow-private-webhooks"],
            self.number,
        );
        logged(
            &mut command,
            &common.dir.join(format!("server-{}.log", self.number)),
        )?;
        self.process = Some(ServedProgram::start(&mut command)?);
        Ok(())
    }

    /// Ends the program as `kill -9` does.
    pub(super) fn kill(&mut self) {
        self.process = None;
    }
}
