//! Several servers on one database of PostgreSQL, with a replica of it, an S3 store that others wrote (moto), and nginx in
//! front: for developers, and for the check of their common history.

mod check;
mod client;
mod deliveries;
mod history;
mod load;
mod programs;
mod servers;
mod stories;

pub(crate) use check::run as check;
pub(crate) use stories::{run_few, run_many};

use self::programs::{Balancer, ObjectStore};
use self::servers::{Common, ServerProcess};
use crate::postgres::Postgres;
use crate::run::{cargo, run_command};
use anyhow::{Context as _, Result};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// The servers of a cluster.
const SERVERS: usize = 3;
/// The account that a cluster begins with.
const EMAIL: &str = "owner@example.com";

/// A running cluster; all of it ends with the value.
pub(crate) struct Cluster {
    /// Before what they use, so that they end first.
    _balancer: Balancer,
    servers: Vec<ServerProcess>,
    _objects: ObjectStore,
    primary: Option<Postgres>,
    replica: Postgres,
    common: Common,
    key: String,
    _dir: tempfile::TempDir,
}

impl Cluster {
    /// Starts a cluster with one account.
    pub(crate) fn start() -> Result<Self> {
        let dir = tempfile::Builder::new()
            .prefix("cairn-cluster-")
            .tempdir()?;
        let primary = Postgres::start_primary()?;
        let replica = primary.replica()?;
        let objects = ObjectStore::start(dir.path())?;
        let database = format!(
            "postgres://cairn@127.0.0.1:{},127.0.0.1:{}/postgres",
            primary.port(),
            replica.port()
        );
        let common = Common::new(dir.path(), database, &objects.url)?;
        let key = common.make_account(EMAIL)?;
        let servers = (0..SERVERS)
            .map(|number| ServerProcess::start(&common, number))
            .collect::<Result<Vec<_>>>()?;
        let ports: Vec<u16> = servers.iter().map(|server| server.port).collect();
        let balancer = Balancer::start(dir.path(), common.public_port, &ports)?;
        Ok(Self {
            _balancer: balancer,
            servers,
            _objects: objects,
            primary: Some(primary),
            replica,
            common,
            key,
            _dir: dir,
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.common.public_port)
    }

    /// Kills a server and starts it again.
    fn restart(&mut self, number: usize) -> Result<()> {
        let server = &mut self.servers[number];
        server.kill();
        server.launch(&self.common)
    }

    /// Lets the database crash, and its replica take its place.
    fn fail_over(&mut self) -> Result<()> {
        let primary = self
            .primary
            .take()
            .context("the database failed over before")?;
        primary.crash()?;
        self.replica.promote()
    }
}

/// Starts a cluster and keeps it until the standard input ends or the program is interrupted.
pub(crate) fn serve() -> Result<()> {
    build()?;
    let cluster = Cluster::start()?;
    println!("\nservice   {}", cluster.url());
    for server in &cluster.servers {
        println!(
            "server {}  http://127.0.0.1:{}",
            server.number + 1,
            server.port
        );
    }
    println!("account   {EMAIL}");
    println!("API key   {}", cluster.key);
    println!("database  {}", cluster.common.database);
    println!("logs      {}", cluster.common.dir.display());
    println!("\nEnter ends all of it.");
    std::io::stdout().flush()?;
    std::io::stdin().read_line(&mut String::new())?;
    Ok(())
}

/// Checks the history of a cluster for so many seconds, with the server as the sources have it.
pub(crate) fn build_and_check(seconds: u64) -> Result<()> {
    build()?;
    check(seconds)
}

fn build() -> Result<()> {
    run_command(cargo().args(["build", "--locked", "-p", "cairn-server"]))
}

/// Sends the errors of a command into a file.
fn logged(command: &mut Command, log: &std::path::Path) -> Result<()> {
    let log = std::fs::File::options()
        .create(true)
        .append(true)
        .open(log)?;
    command.stdin(Stdio::null()).stderr(log);
    Ok(())
}
