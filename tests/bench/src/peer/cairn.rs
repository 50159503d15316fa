//! Cairn: one or two devices and the bundled server, all bytes through a counting proxy.

use super::{Pair, Push, counting_proxy};
use crate::line;
use crate::process::{Run, peak_memory};
use anyhow::{Context, Result};
use cairn_e2e::device::{Device, Options};
use cairn_e2e::proxy::Proxy;
use cairn_e2e::server::{OWNER_KEY, Server, Storage};
use cairn_e2e::wait;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Instant;

const REMOTE: &str = "/bench";

/// One device that pushes; a second one that pulls.
pub(crate) struct CairnPush {
    world: World,
    a: Option<Device>,
}

/// Two devices that live.
pub(crate) struct CairnPair {
    world: World,
    a: Device,
    b: Device,
}

/// A server on disk behind a proxy.
struct World {
    dir: std::path::PathBuf,
    proxy: Proxy,
    /// The other end of the line between the proxy and the server, if there is one.
    _far_end: Option<Proxy>,
    server: Server,
}

impl World {
    fn new(dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        let server = Server::start(Storage::Disk(dir.join("server")), dir.join("server.log"))?;
        Ok(Self {
            dir: dir.to_owned(),
            proxy: counting_proxy(server.port())?,
            _far_end: None,
            server,
        })
    }

    /// Returns the same, with a [`Line`](crate::line::Line) that exists between the proxy and the server.
    fn over_line(dir: &Path) -> Result<Self> {
        let world = Self::new(dir)?;
        let server = SocketAddr::from((Ipv4Addr::LOCALHOST, world.server.port()));
        let far_end = Proxy::start_at(IpAddr::V4(line::NEAR), vec![server])?;
        let over_line = SocketAddr::from((line::FAR, far_end.port()));
        Ok(Self {
            proxy: Proxy::start(over_line)?,
            _far_end: Some(far_end),
            ..world
        })
    }

    /// A device that is logged in and linked, but does not run.
    fn device(&self, name: &str, root: &Path) -> Result<Device> {
        let options = Options {
            root: Some(root.to_owned()),
            // The question about mass deletions is no part of what is measured.
            add: vec!["--deletion-gate".to_owned(), "off".to_owned()],
            ..Options::default()
        };
        let device = Device::new(&self.dir, name, options)?;
        device.login(&self.proxy.url(), OWNER_KEY)?;
        device.add(REMOTE)?;
        Ok(device)
    }
}

impl CairnPush {
    pub(crate) fn new(dir: &Path) -> Result<Self> {
        Ok(Self {
            world: World::new(dir)?,
            a: None,
        })
    }

    /// Returns the same, with its devices at the other end of a line that exists.
    pub(crate) fn over_line(dir: &Path) -> Result<Self> {
        Ok(Self {
            world: World::over_line(dir)?,
            a: None,
        })
    }

    fn time_sync(&self, device: &mut Device) -> Result<Run> {
        let before = self.world.proxy.total();
        let start = Instant::now();
        if device.pid().is_none() {
            device.start()?;
        }
        device.wait_idle()?;
        Ok(Run {
            seconds: start.elapsed().as_secs_f64(),
            wire: self.world.proxy.total() - before,
            peak: peak_memory(device.pid().context("the daemon is gone")?)?,
        })
    }
}

impl Push for CairnPush {
    fn push(&mut self, from: &Path) -> Result<Run> {
        let mut device = match self.a.take() {
            Some(device) => device,
            None => self.world.device("a", from)?,
        };
        let run = self.time_sync(&mut device)?;
        self.a = Some(device);
        Ok(run)
    }

    fn pull(&mut self, to: &Path) -> Result<Run> {
        let mut device = self.world.device("pull", to)?;
        let run = self.time_sync(&mut device)?;
        device.stop()?;
        Ok(run)
    }
}

impl CairnPair {
    pub(crate) fn new(dir: &Path) -> Result<Self> {
        let world = World::new(dir)?;
        let mut a = world.device("a", &dir.join("folder-a"))?;
        a.start()?;
        let mut b = world.device("b", &dir.join("folder-b"))?;
        b.start()?;
        let pair = Self { world, a, b };
        pair.settle()?;
        Ok(pair)
    }
}

impl CairnPair {
    /// Limits the uploads of A, such as to `2MB` a second.
    pub(crate) fn limit_a(&self, rate: &str) -> Result<()> {
        self.a.must(&["limits", "--up", rate]).map(|_| ())
    }

    /// Waits until A sends.
    pub(crate) fn wait_until_sending(&self) -> Result<()> {
        let before = self.world.proxy.total();
        wait::holds("A sends", wait::PROCESS, || {
            Ok(self.world.proxy.total() > before + 4_000_000)
        })
    }
}

impl Pair for CairnPair {
    fn a(&self) -> &Path {
        self.a.files().root()
    }

    fn b(&self) -> &Path {
        self.b.files().root()
    }

    fn wire(&self) -> u64 {
        self.world.proxy.total()
    }

    fn settle(&self) -> Result<()> {
        self.a.wait_idle()?;
        self.b.wait_idle()
    }

    fn pid_a(&self) -> Result<u32> {
        self.a.pid().context("the daemon of A is gone")
    }

    fn restart_a(&mut self) -> Result<f64> {
        self.a.stop()?;
        let start = Instant::now();
        self.a.start()?;
        self.a.wait_idle()?;
        Ok(start.elapsed().as_secs_f64())
    }
}
