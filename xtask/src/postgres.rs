//! PostgreSQL: the tests of the store once more, against a server of its own that ends with them.

use crate::run::{nextest, run_command};
use anyhow::{Context as _, Result, bail};
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Debian keeps the programs of each version here, and off the path.
const VERSIONS: &str = "/usr/lib/postgresql";
/// The user that starts it where root runs the tests: PostgreSQL refuses root.
const NOBODY: u32 = 65_534;

/// The tests of all that the server does with its database.
const TESTS: &str = "package(cairn-store)";

/// A database server in a temporary directory. It is killed when this is dropped.
pub(crate) struct Postgres {
    server: Child,
    pub(crate) url: String,
    _dir: tempfile::TempDir,
}

/// Runs the tests of the store against PostgreSQL.
pub(crate) fn run() -> Result<()> {
    let postgres = Postgres::start()?;
    let mut tests = nextest()?;
    tests.args(["-E", TESTS]);
    tests.env("CAIRN_TEST_POSTGRES", &postgres.url);
    run_command(&mut tests)
}

impl Postgres {
    /// Makes an empty database server and waits until it takes connections.
    pub(crate) fn start() -> Result<Self> {
        let programs = programs()?;
        let dir = tempfile::Builder::new()
            .prefix("cairn-postgres-")
            .tempdir()?;
        let as_nobody = is_root()?;
        if as_nobody {
            std::os::unix::fs::chown(dir.path(), Some(NOBODY), None)?;
        }
        let data = dir.path().join("data");
        let command = |name: &str| {
            let mut command = command_as(&programs.join(name), as_nobody);
            command.arg("-D").arg(&data).current_dir(dir.path());
            command
        };
        let mut make = command("initdb");
        make.args([
            "-U",
            "cairn",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
        ]);
        run_command(make.arg("--no-sync").stdout(Stdio::null()))?;
        let port = free_port()?;
        let mut serve = command("postgres");
        serve.args(["-p", &port.to_string()]);
        for setting in [
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "max_connections=400",
            // Nothing of it outlasts the tests.
            "fsync=off",
            "full_page_writes=off",
            "synchronous_commit=off",
        ] {
            serve.args(["-c", setting]);
        }
        let server = serve.stderr(Stdio::piped()).stdout(Stdio::null()).spawn();
        let mut started = Self {
            server: server.context("can't start postgres")?,
            url: format!("postgres://cairn@127.0.0.1:{port}/postgres"),
            _dir: dir,
        };
        started.wait()?;
        Ok(started)
    }

    /// Reads the log until it says that the server is ready; goes on reading, so that it never waits for a reader.
    fn wait(&mut self) -> Result<()> {
        let log = self.server.stderr.take().context("its log is piped")?;
        let mut lines = BufReader::new(log).lines();
        let mut log_lines = Vec::new();
        for line in lines.by_ref() {
            let line = line?;
            if line.contains("ready to accept connections") {
                std::thread::spawn(move || lines.for_each(drop));
                return Ok(());
            }
            log_lines.push(line);
        }
        bail!("postgres ended: {}", log_lines.join("\n"))
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // SIGINT ends the processes of its connections, too.
        let pid = self.server.id().to_string();
        let asked = Command::new("kill").args(["-INT", &pid]).status();
        if !asked.is_ok_and(|status| status.success()) {
            drop(self.server.kill());
        }
        drop(self.server.wait());
    }
}

/// Returns the directory of the newest version's programs.
fn programs() -> Result<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir(VERSIONS)
        .context("PostgreSQL is missing; `cargo xtask setup` installs it")?
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let version = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .collect();
    versions.sort();
    let (_, newest) = versions
        .pop()
        .with_context(|| format!("{VERSIONS} has no version of PostgreSQL"))?;
    Ok(newest)
}

fn is_root() -> Result<bool> {
    let id = Command::new("id")
        .arg("-u")
        .output()
        .context("can't run id")?;
    Ok(id.stdout.starts_with(b"0\n"))
}

fn command_as(program: &Path, as_nobody: bool) -> Command {
    if !as_nobody {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.arg(format!("--reuid={NOBODY}"));
    command.args(["--clear-groups", "--"]).arg(program);
    command
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}
