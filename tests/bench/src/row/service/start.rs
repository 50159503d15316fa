//! Servers to measure, as they are used but for limits, with one account.

use crate::peer::{Service, free_port, wait_for_listener};
use anyhow::{Context as _, Result, ensure};
use cairn_e2e::binaries;
use cairn_e2e::http::Http;
use cairn_e2e::server::share_keys_and_objects;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

/// A client that asks as fast as it can would meet the limits that protect a service from it.
const NO_LIMITS: &str = "[rate_limits]\nread = 100000000\nwrite = 100000000\ncontent = 100000000\n\n\
     [connections]\nmost = 20000\nstreams = 20000\n";

const EMAIL: &str = "owner@example.com";
/// A password that is long enough for any rule.
const PASSWORD: &str = "correct horse battery staple";

/// Servers that have all data in common; they end with the value.
pub(super) struct Servers {
    _processes: Vec<Service>,
    ports: Vec<u16>,
    key: String,
}

impl Servers {
    /// Returns the account's API key.
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    /// Returns a client of the first server.
    pub(super) fn http(&self) -> Result<Http> {
        let first = self.ports.first().context("no server")?;
        let url = format!("http://127.0.0.1:{first}");
        Ok(Http::new(&url, Some(&self.key)))
    }

    pub(super) fn ports(&self) -> &[u16] {
        &self.ports
    }
}

/// Starts a server with its data in a directory.
pub(super) fn one(dir: &Path) -> Result<Servers> {
    several_on(dir, 1, None)
}

/// Starts so many servers on one empty database of PostgreSQL; `schema` is their part of it.
pub(super) fn several(dir: &Path, number: usize, url: &str, schema: &str) -> Result<Servers> {
    let database = format!("{url}?options=-csearch_path%3D{schema}");
    several_on(dir, number, Some(&database))
}

fn several_on(dir: &Path, number: usize, database: Option<&str>) -> Result<Servers> {
    fs::create_dir_all(dir)?;
    fs::write(dir.join("server.toml"), NO_LIMITS)?;
    let mut servers = Servers {
        _processes: Vec::new(),
        ports: Vec::new(),
        key: make_account(dir, database)?,
    };
    for number in 0..number {
        if number > 0 {
            share_keys_and_objects(&dir.join("0"), &dir.join(number.to_string()))?;
        }
        let (process, port) = server(dir, number, database)?;
        servers._processes.push(process);
        servers.ports.push(port);
    }
    Ok(servers)
}

fn server(dir: &Path, number: usize, database: Option<&str>) -> Result<(Service, u16)> {
    let port = free_port()?;
    let mut command = command(&["serve"], dir, number, database)?;
    command.args(["--listen", &format!("127.0.0.1:{port}")]);
    let log = File::create(dir.join(format!("server-{number}.log")))?;
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let process = command.stderr(log).spawn();
    let process = Service(process.context("the server can't be started")?);
    wait_for_listener(port)?;
    Ok((process, port))
}

/// Returns a command of the server's program on one of the data directories.
fn command(words: &[&str], dir: &Path, number: usize, database: Option<&str>) -> Result<Command> {
    let mut command = Command::new(binaries::server()?);
    command.args(words).arg("--data");
    command.arg(dir.join(number.to_string()));
    command.arg("--config").arg(dir.join("server.toml"));
    if let Some(database) = database {
        command.args(["--database", database]);
    }
    Ok(command)
}

/// Makes an account, and returns an API key for it.
fn make_account(dir: &Path, database: Option<&str>) -> Result<String> {
    let password = dir.join("password");
    fs::write(&password, PASSWORD)?;
    let mut add = command(
        &["user", "add", EMAIL, "--password-stdin"],
        dir,
        0,
        database,
    )?;
    add.stdin(File::open(password)?).stdout(Stdio::null());
    ensure!(add.status()?.success(), "no account was made");
    let made = command(&["apikey", "add", EMAIL], dir, 0, database)?.output()?;
    ensure!(made.status.success(), "no API key was made");
    Ok(String::from_utf8(made.stdout)?.trim().to_owned())
}
