//! PostgreSQL: servers of it, and the tests of the store and the API once more against one.

use crate::run::{is_root, nextest, run_command};
use anyhow::{Context as _, Result, bail};
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Debian keeps the programs of each version here, and off the path.
const VERSIONS: &str = "/usr/lib/postgresql";
/// The user that starts it where root runs the tests: PostgreSQL refuses root.
const NOBODY: u32 = 65_534;

/// The tests of all that the server does with its database. One copies so much that each statement's way to another
/// process counts; it shows nothing of the database.
const TESTS: &str = "package(cairn-store) | (package(cairn-service) & test(/^leased::/)) | \
     (package(cairn-server) & binary(api) & not test(a_folder_that_is_copied_into_itself))";

/// A database server in a temporary directory. It is killed when this is dropped.
pub(crate) struct Postgres {
    server: Child,
    pub(crate) url: String,
    place: Place,
}

/// Runs the tests of the store and the API against PostgreSQL.
pub(crate) fn run() -> Result<()> {
    let (postgres, certificate) = Postgres::start_with_tls()?;
    let mut tests = nextest()?;
    tests.args(["-E", TESTS, "--run-ignored", "all"]);
    tests.env("CAIRN_TEST_POSTGRES", &postgres.url);
    tests.env("CAIRN_TEST_POSTGRES_TLS", &postgres.url);
    tests.env("SSL_CERT_FILE", certificate);
    run_command(&mut tests)
}

/// The settings of a database whose contents no one needs after the tests.
const FAST: [&str; 3] = [
    "fsync=off",
    "full_page_writes=off",
    "synchronous_commit=off",
];

impl Postgres {
    /// Makes an empty database server that is fast, and waits until it takes connections.
    pub(crate) fn start() -> Result<Self> {
        let empty = Place::new(free_port()?)?;
        empty.init()?;
        empty.serve(&FAST)
    }

    /// Makes an empty database server that keeps what it has acknowledged, as one does that is used.
    pub(crate) fn start_safe() -> Result<Self> {
        let empty = Place::new(free_port()?)?;
        empty.init()?;
        empty.serve(&[])
    }

    /// Makes a fast one that also takes connections with TLS; returns it and the path of its certificate.
    pub(crate) fn start_with_tls() -> Result<(Self, PathBuf)> {
        let empty = Place::new(free_port()?)?;
        empty.init()?;
        let certificate = empty.make_certificate()?;
        let tls = [
            "ssl=on",
            &format!("ssl_cert_file={}", certificate.display()),
            &format!(
                "ssl_key_file={}",
                empty.dir.path().join("key.pem").display()
            ),
        ];
        let started = empty.serve(&[&FAST[..], &tls].concat())?;
        Ok((started, certificate))
    }

    /// Makes an empty database server that acknowledges what its replica has.
    pub(crate) fn start_primary() -> Result<Self> {
        let empty = Place::new(free_port()?)?;
        empty.init()?;
        empty.serve(&["fsync=off", "synchronous_standby_names=*"])
    }

    /// Makes a replica of this server, which follows it from now on.
    pub(crate) fn replica(&self) -> Result<Self> {
        let place = Place::new(free_port()?)?;
        let mut copy = place.command("pg_basebackup");
        copy.args(["-h", "127.0.0.1", "-p", &self.place.port.to_string()]);
        copy.args([
            "-U",
            "cairn",
            "-R",
            "-X",
            "stream",
            "-c",
            "fast",
            "--no-sync",
        ]);
        run_command(&mut copy)?;
        place.serve(&["fsync=off"])
    }

    pub(crate) fn port(&self) -> u16 {
        self.place.port
    }

    /// Makes a replica the server that is written to.
    pub(crate) fn promote(&self) -> Result<()> {
        let mut promote = self.place.command("pg_ctl");
        run_command(promote.arg("promote").stdout(Stdio::null()))
    }

    /// Ends the server without any order, as a crash does.
    pub(crate) fn crash(mut self) -> Result<()> {
        signal(&self.server, "QUIT")?;
        self.server.wait()?;
        Ok(())
    }

    /// Reads the log until it says that the server is ready; goes on reading, so that it never waits for a reader.
    fn wait(&mut self) -> Result<()> {
        let log = self.server.stderr.take().context("its log is piped")?;
        let mut lines = BufReader::new(log).lines();
        let mut log_lines = Vec::new();
        for line in lines.by_ref() {
            let line = line?;
            if line.contains("ready to accept") {
                std::thread::spawn(move || lines.for_each(drop));
                return Ok(());
            }
            log_lines.push(line);
        }
        bail!("postgres ended: {}", log_lines.join("\n"))
    }
}

/// The directory and port of a database server, and its programs.
struct Place {
    dir: tempfile::TempDir,
    port: u16,
    programs: PathBuf,
    as_nobody: bool,
}

impl Place {
    fn new(port: u16) -> Result<Self> {
        let programs = programs()?;
        let dir = tempfile::Builder::new()
            .prefix("cairn-postgres-")
            .tempdir()?;
        let as_nobody = is_root();
        if as_nobody {
            std::os::unix::fs::chown(dir.path(), Some(NOBODY), None)?;
        }
        Ok(Self {
            dir,
            port,
            programs,
            as_nobody,
        })
    }

    /// Returns a command on the data.
    fn command(&self, name: &str) -> Command {
        let mut command = command_as(&self.programs.join(name), self.as_nobody);
        command.arg("-D").arg(self.dir.path().join("data"));
        command.current_dir(self.dir.path());
        command
    }

    fn init(&self) -> Result<()> {
        let mut make = self.command("initdb");
        make.args([
            "-U",
            "cairn",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
        ]);
        run_command(make.arg("--no-sync").stdout(Stdio::null()))
    }

    /// Makes a certificate for this machine, and its key beside it.
    fn make_certificate(&self) -> Result<PathBuf> {
        let (certificate, key) = (
            self.dir.path().join("cert.pem"),
            self.dir.path().join("key.pem"),
        );
        let mut make = command_as(Path::new("openssl"), self.as_nobody);
        make.args([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
        ]);
        make.args([
            "-subj",
            "/CN=127.0.0.1",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
        ]);
        make.args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout"]);
        make.arg(&key).arg("-out").arg(&certificate);
        run_command(make.stderr(Stdio::null()))?;
        Ok(certificate)
    }

    fn serve(self, settings: &[&str]) -> Result<Postgres> {
        let mut serve = self.command("postgres");
        serve.args(["-p", &self.port.to_string()]);
        let of_all = [
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "max_connections=400",
        ];
        for setting in of_all.iter().chain(settings) {
            serve.args(["-c", setting]);
        }
        let server = serve.stderr(Stdio::piped()).stdout(Stdio::null()).spawn();
        let mut started = Postgres {
            server: server.context("can't start postgres")?,
            url: format!("postgres://cairn@127.0.0.1:{}/postgres", self.port),
            place: self,
        };
        started.wait()?;
        Ok(started)
    }
}

fn signal(server: &Child, name: &str) -> Result<()> {
    let pid = server.id().to_string();
    run_command(Command::new("kill").args([format!("-{name}"), pid]))
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // Where it has crashed before, there is nothing to end.
        if matches!(self.server.try_wait(), Ok(Some(_))) {
            return;
        }
        // SIGINT ends the processes of its connections, too.
        if signal(&self.server, "INT").is_err() {
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

fn command_as(program: &Path, as_nobody: bool) -> Command {
    if !as_nobody {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.arg(format!("--reuid={NOBODY}"));
    command.args(["--clear-groups", "--"]).arg(program);
    command
}

pub(crate) fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}
