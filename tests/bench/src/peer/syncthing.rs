//! Two Syncthing nodes on loopback, discovery, relays and upgrades off, all else as installed: the
//! folder's watcher and rescan settings are its defaults, written out.

use super::{Pair, Service, counting_proxy, free_port};
use anyhow::{Context, Result, bail};
use cairn_e2e::proxy::Proxy;
use cairn_e2e::wait;
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const KEY: &str = "cairn-bench";
const FOLDER: &str = "bench";
/// A tree of 100,000 files takes it minutes.
const LIMIT: Duration = Duration::from_secs(1200);

pub(crate) struct Syncthing {
    a: Node,
    b: Node,
    proxy: Proxy,
}

struct Node {
    home: PathBuf,
    root: PathBuf,
    id: String,
    gui: u16,
    listen: u16,
    process: Option<Service>,
    agent: ureq::Agent,
}

impl Syncthing {
    pub(crate) fn new(dir: &Path) -> Result<Self> {
        let mut a = Node::new(dir, "a")?;
        let mut b = Node::new(dir, "b")?;
        let proxy = counting_proxy(b.listen)?;
        // Only A dials, through the proxy, so that all bytes are counted once.
        a.configure(&b, &format!("tcp://127.0.0.1:{}", proxy.port()))?;
        b.configure(&a, "tcp://127.0.0.1:9")?;
        a.start()?;
        b.start()?;
        let pair = Self { a, b, proxy };
        wait::holds("the Syncthing nodes are connected", LIMIT, || {
            let response = pair.a.get("/rest/system/connections")?;
            Ok(response["connections"][&pair.b.id]["connected"] == Value::Bool(true))
        })?;
        pair.settle()?;
        Ok(pair)
    }
}

impl Pair for Syncthing {
    fn a(&self) -> &Path {
        &self.a.root
    }

    fn b(&self) -> &Path {
        &self.b.root
    }

    fn wire(&self) -> u64 {
        self.proxy.total()
    }

    fn settle(&self) -> Result<()> {
        wait::holds("Syncthing is in sync", LIMIT, || {
            let (here, there) = (self.a.idle_totals()?, self.b.idle_totals()?);
            Ok(here.is_some() && here == there)
        })
    }

    fn pid_a(&self) -> Result<u32> {
        self.a
            .process
            .as_ref()
            .map(|process| process.0.id())
            .context("Syncthing is gone")
    }

    fn restart_a(&mut self) -> Result<f64> {
        self.a.process = None;
        let start = Instant::now();
        self.a.start()?;
        wait::holds("Syncthing has scanned again", LIMIT, || {
            Ok(self.a.idle_totals()?.is_some_and(|(_, files)| files > 0))
        })?;
        Ok(start.elapsed().as_secs_f64())
    }
}

impl Node {
    fn new(dir: &Path, name: &str) -> Result<Self> {
        let (home, root) = (
            dir.join(format!("home-{name}")),
            dir.join(format!("folder-{name}")),
        );
        fs::create_dir_all(&home)?;
        // The folder's marker: without it Syncthing takes the folder for an unmounted one.
        fs::create_dir_all(root.join(".stfolder"))?;
        let made = Command::new("syncthing")
            .arg("generate")
            .arg(format!("--home={}", home.display()))
            .args(["--no-default-folder", "--skip-port-probing"])
            .output()
            .context("`syncthing generate` can't be run")?;
        if !made.status.success() {
            bail!(
                "`syncthing generate` failed: {}",
                String::from_utf8_lossy(&made.stderr)
            );
        }
        let config = fs::read_to_string(home.join("config.xml"))?;
        let id = config
            .split_once("<device id=\"")
            .and_then(|(_, rest)| rest.split_once('"'))
            .context("the generated configuration names no device")?
            .0
            .to_owned();
        Ok(Self {
            home,
            root,
            id,
            gui: free_port()?,
            listen: free_port()?,
            process: None,
            agent: ureq::Agent::new_with_defaults(),
        })
    }

    fn configure(&self, other: &Self, address: &str) -> Result<()> {
        let config = format!(
            r#"<configuration version="36">
  <folder id="{FOLDER}" label="bench" path="{root}" type="sendreceive" rescanIntervalS="3600" fsWatcherEnabled="true" fsWatcherDelayS="10">
    <device id="{own}"></device>
    <device id="{other}"></device>
  </folder>
  <device id="{own}" name="own"><address>dynamic</address></device>
  <device id="{other}" name="other"><address>{address}</address></device>
  <gui enabled="true" tls="false"><address>127.0.0.1:{gui}</address><apikey>{KEY}</apikey></gui>
  <options>
    <listenAddress>tcp://127.0.0.1:{listen}</listenAddress>
    <globalAnnounceEnabled>false</globalAnnounceEnabled>
    <localAnnounceEnabled>false</localAnnounceEnabled>
    <relaysEnabled>false</relaysEnabled>
    <natEnabled>false</natEnabled>
    <startBrowser>false</startBrowser>
    <urAccepted>-1</urAccepted>
    <autoUpgradeIntervalH>0</autoUpgradeIntervalH>
    <crashReportingEnabled>false</crashReportingEnabled>
    <reconnectionIntervalS>1</reconnectionIntervalS>
  </options>
</configuration>
"#,
            root = self.root.display(),
            own = self.id,
            other = other.id,
            gui = self.gui,
            listen = self.listen,
        );
        Ok(fs::write(self.home.join("config.xml"), config)?)
    }

    fn start(&mut self) -> Result<()> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.home.join("node.log"))?;
        let child = Command::new("syncthing")
            .args(["serve", "--no-browser", "--no-upgrade", "--no-restart"])
            .arg(format!("--home={}", self.home.display()))
            .env("STNOUPGRADE", "1")
            // Without its monitor process the memory measured is that of the node.
            .env("STMONITORED", "yes")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("`syncthing serve` can't be started")?;
        self.process = Some(Service(child));
        wait::holds("Syncthing answers", wait::PROCESS, || {
            Ok(self.get("/rest/system/ping").is_ok())
        })
    }

    fn get(&self, path: &str) -> Result<Value> {
        let mut response = self
            .agent
            .get(format!("http://127.0.0.1:{}{path}", self.gui))
            .header("X-API-Key", KEY)
            .call()?;
        Ok(serde_json::from_str(
            &response.body_mut().read_to_string()?,
        )?)
    }

    /// Bytes and files of the whole folder, if nothing is being scanned or fetched.
    fn idle_totals(&self) -> Result<Option<(u64, u64)>> {
        let status = self.get(&format!("/rest/db/status?folder={FOLDER}"))?;
        let number = |name: &str| status[name].as_u64().unwrap_or(0);
        let quiet = status["state"] == "idle" && number("needTotalItems") == 0;
        Ok(quiet.then(|| (number("globalBytes"), number("globalFiles"))))
    }
}
