//! The programs that are measured, behind two small interfaces: one that pushes a folder once, and
//! a pair of devices that keep two folders equal.

pub(crate) mod cairn;
pub(crate) mod rclone;
pub(crate) mod restic;
pub(crate) mod sealed_copy;
pub(crate) mod syncthing;
pub(crate) mod unison;

use crate::machine;
use crate::process::Run;
use anyhow::{Context as _, Result};
use cairn_e2e::proxy::Proxy;
use clap::ValueEnum;
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The program that was measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Tool {
    Cairn,
    Rclone,
    Restic,
    Syncthing,
    Unison,
}

impl Tool {
    const ALL: [Self; 5] = [
        Self::Cairn,
        Self::Rclone,
        Self::Restic,
        Self::Syncthing,
        Self::Unison,
    ];
    pub(crate) const PEERS: [Self; 4] = [Self::Rclone, Self::Restic, Self::Syncthing, Self::Unison];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Cairn => "Cairn",
            Self::Rclone => "rclone crypt",
            Self::Restic => "restic",
            Self::Syncthing => "Syncthing",
            Self::Unison => "Unison",
        }
    }

    /// The installed version, if it is installed.
    pub(crate) fn version(self) -> Option<String> {
        match self {
            Self::Cairn => Some(format!("Cairn {}", env!("CARGO_PKG_VERSION"))),
            Self::Rclone => machine::version("rclone", "version"),
            Self::Restic => machine::version("restic", "version"),
            Self::Syncthing => machine::version("syncthing", "--version"),
            Self::Unison => machine::version("unison", "-version"),
        }
    }
}

/// The wanted tools (all, if none is named) that are installed; says how to get the others.
pub(crate) fn installed_tools(wanted: &[Tool]) -> Vec<Tool> {
    let (there, missing): (Vec<Tool>, Vec<Tool>) = Tool::ALL
        .into_iter()
        .filter(|tool| wanted.is_empty() || wanted.contains(tool))
        .partition(|tool| tool.version().is_some());
    for tool in missing {
        eprintln!(
            "{} is not installed and left out (apt-get install rclone restic syncthing unison)",
            tool.title()
        );
    }
    there
}

/// Pushes a folder's present state to a store, sealed.
pub(crate) trait Push {
    /// Sends what the store does not have.
    fn push(&mut self, from: &Path) -> Result<Run>;
    /// Sends a file of which a part was overwritten.
    fn push_edited(&mut self, from: &Path) -> Result<Run> {
        self.push(from)
    }
    /// Brings everything into an empty folder.
    fn pull(&mut self, to: &Path) -> Result<Run>;
}

/// Two live devices with one folder each.
pub(crate) trait Pair {
    fn a(&self) -> &Path;
    fn b(&self) -> &Path;
    /// Bytes between them and their store so far, both ways.
    fn wire(&self) -> u64;
    /// Waits until nothing is left to do.
    fn settle(&self) -> Result<()>;
    /// The process that serves A's folder.
    fn pid_a(&self) -> Result<u32>;
    /// Stops A and starts it again; gives the seconds from the start until it is idle.
    fn restart_a(&mut self) -> Result<f64>;
}

/// A helper process that ends with its owner.
#[derive(Debug)]
pub(crate) struct Service(pub(crate) Child);

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port of loopback that is free now.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Waits until something accepts connections on a port.
pub(crate) fn wait_for_listener(port: u16) -> Result<()> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let what = format!("a server listens on port {port}");
    cairn_e2e::wait::holds(&what, cairn_e2e::wait::PROCESS, || {
        Ok(TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok())
    })
}

/// Serves a folder with rclone, over one of its protocols.
pub(crate) fn serve_with_rclone(
    protocol: &str,
    folder: &Path,
    port: u16,
    log: &Path,
) -> Result<Service> {
    let server = Command::new("rclone")
        .args(["serve", protocol, "--addr", &format!("127.0.0.1:{port}")])
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(log)?)
        .spawn()
        .with_context(|| format!("`rclone serve {protocol}` can't be started"))?;
    let server = Service(server);
    wait_for_listener(port)?;
    Ok(server)
}

/// A counting proxy in front of a port.
pub(crate) fn counting_proxy(port: u16) -> Result<Proxy> {
    Proxy::start(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
}
