//! Programs of others in a cluster: the object store, and the proxy in front of the servers.

use super::logged;
use crate::postgres::free_port;
use crate::run::root;
use crate::{proxy, python};
use anyhow::{Context as _, Result, bail};
use std::fmt::Write as _;
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The longest wait for a program to listen.
const LONGEST: Duration = Duration::from_secs(60);

/// A process that is killed with the value.
struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Result<Self> {
        let name = command.get_program().to_owned();
        let started = command.stdout(Stdio::null()).spawn();
        Ok(Self(started.with_context(|| {
            format!("can't start {}", name.display())
        })?))
    }

    /// Waits until something listens on a port. The programs tell nobody when they do.
    fn wait_for(&mut self, port: u16) -> Result<()> {
        let begun = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if let Some(status) = self.0.try_wait()? {
                bail!("a program ended with {status} before it listened");
            }
            if begun.elapsed() > LONGEST {
                bail!("nothing listens on port {port}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // SIGTERM first: nginx ends its workers then.
        let pid = self.0.id().to_string();
        drop(Command::new("kill").arg(&pid).status());
        drop(self.0.wait());
    }
}

/// A double of S3 with an empty bucket.
pub(super) struct ObjectStore {
    _process: Process,
    pub(super) url: String,
}

impl ObjectStore {
    pub(super) fn start(dir: &Path) -> Result<Self> {
        let folder = root().join("tests/s3");
        let tools = python::environment(
            "s3",
            &std::fs::read_to_string(folder.join("requirements.txt"))?,
        )?;
        let port = free_port()?;
        let mut command = Command::new(tools.join("python"));
        command.args([
            "-m",
            "moto.server",
            "-H",
            "127.0.0.1",
            "-p",
            &port.to_string(),
        ]);
        logged(&mut command, &dir.join("objects.log"))?;
        let mut process = Process::start(&mut command)?;
        process.wait_for(port)?;
        let url = format!("http://127.0.0.1:{port}");
        // It takes a bucket from anybody who asks.
        ureq::put(format!("{url}/cairn")).send_empty()?;
        Ok(Self {
            _process: process,
            url,
        })
    }
}

/// nginx with the configuration that the project hands out, without its certificate.
pub(super) struct Balancer {
    _process: Process,
}

impl Balancer {
    pub(super) fn start(dir: &Path, port: u16, servers: &[u16]) -> Result<Self> {
        let programs = proxy::programs()?;
        let config = dir.join("nginx.conf");
        std::fs::write(&config, configuration(dir, port, servers)?)?;
        let mut command = Command::new(programs.join("usr/sbin/nginx"));
        command
            .arg("-c")
            .arg(&config)
            .arg("-e")
            .arg(dir.join("nginx.log"));
        logged(&mut command, &dir.join("nginx.log"))?;
        let mut process = Process::start(&mut command)?;
        process.wait_for(port)?;
        Ok(Self { _process: process })
    }
}

/// Returns the configuration of nginx: the two examples, with other addresses.
fn configuration(dir: &Path, port: u16, servers: &[u16]) -> Result<String> {
    let examples = root().join("packaging/proxy");
    let read = |name: &str| -> Result<String> { Ok(std::fs::read_to_string(examples.join(name))?) };
    let mut upstream = String::new();
    for line in read("nginx-servers.conf")?.lines() {
        if !line.trim_start().starts_with("server ") {
            writeln!(upstream, "{line}")?;
        }
    }
    let mut lines = String::new();
    for server in servers {
        writeln!(
            lines,
            "    server 127.0.0.1:{server} max_fails=1 fail_timeout=1s;"
        )?;
    }
    let upstream = upstream.replace("    keepalive", &format!("{lines}    keepalive"));
    let mut site = String::new();
    for line in read("nginx.conf")?.lines() {
        if !line.contains("ssl_certificate") {
            writeln!(site, "{line}")?;
        }
    }
    let site = site
        .replace("listen 443 ssl", &format!("listen 127.0.0.1:{port}"))
        .replace("http://127.0.0.1:8787", "http://cairn_servers")
        .replace(
            "proxy_set_header Host $host;",
            "proxy_set_header Host $http_host;",
        );
    let dir = dir.display();
    let mut temporary = String::new();
    for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        writeln!(temporary, "{kind}_temp_path {dir}/nginx-{kind};")?;
    }
    Ok(format!(
        "pid {dir}/nginx.pid;\nerror_log {dir}/nginx.log;\ndaemon off;\nevents {{}}\n\
         http {{\naccess_log off;\n{temporary}{upstream}{site}}}\n"
    ))
}
