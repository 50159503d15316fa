//! The fixture of the end-to-end tests, the `World`: a server and two devices of one account, and what must be true of
//! them when all is quiet.

use crate::device::{Device, Options};
use crate::server::{OWNER_KEY, Server, Storage};
use crate::service::REMOTE;
use crate::status::Counters;
use crate::tree::{leftovers, trash};
use crate::{Tree, wait};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::thread;
use tempfile::TempDir;

/// Rounds of looking at both devices until neither did anything more; two are enough in practice.
const ROUNDS: usize = 20;

/// The needs of a test besides two plain devices.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// The server keeps its data on disk, and so survives a restart.
    pub durable: bool,
    /// Neither device is linked to the remote folder or started.
    pub unlinked: bool,
    pub a: Options,
    pub b: Options,
}

/// One server, devices A and B. Call [`World::finish`] at the end: a world that is dropped without
/// tells on stderr all that helps to find out why.
#[derive(Debug)]
pub struct World {
    pub server: Server,
    pub a: Device,
    pub b: Device,
    dir: TempDir,
    finished: bool,
}

impl World {
    /// Two linked, running, idle devices with empty folders.
    ///
    /// # Errors
    /// A process does not start, or a command fails.
    pub fn two_devices() -> Result<Self> {
        Self::with(Setup::default())
    }

    /// The same, and both folders hold what the literal says.
    ///
    /// # Errors
    /// Fails like [`World::two_devices`].
    pub fn with_base(script: &str) -> Result<Self> {
        let world = Self::two_devices()?;
        world.base(script)?;
        Ok(world)
    }

    /// # Errors
    /// Fails like [`World::two_devices`].
    pub fn with(setup: Setup) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("cairn-e2e-").tempdir()?;
        let at = dir.path();
        let storage = if setup.durable {
            Storage::Disk(at.join("server"))
        } else {
            Storage::Memory
        };
        let mut world = Self {
            server: Server::start(storage, at.join("server.log"))?,
            a: Device::new(at, "a", setup.a)?,
            b: Device::new(at, "b", setup.b)?,
            dir,
            finished: false,
        };
        let url = world.server.url();
        // The first login makes the account's keys, so the second can't run beside it.
        world.a.login(&url, OWNER_KEY)?;
        if setup.unlinked {
            world.b.login(&url, OWNER_KEY)?;
            return Ok(world);
        }
        let remote = format!("/{REMOTE}");
        let (a, b) = (&mut world.a, &mut world.b);
        thread::scope(|scope| {
            let second = scope.spawn(|| b.login(&url, OWNER_KEY));
            a.add(&remote).and_then(|()| a.start())?;
            second
                .join()
                .unwrap_or_else(|_| bail!("the login of b panicked"))
        })?;
        world.b.add(&remote)?;
        world.b.start()?;
        world.settle()?;
        Ok(world)
    }

    /// A directory of this test's own, removed at its end.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// A path in the test's own directory.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The remote folder, as an argument.
    #[must_use]
    pub fn remote_folder() -> String {
        format!("/{REMOTE}")
    }

    /// Links the folders of unlinked devices to the remote one: A's first, B's when that is in sync.
    ///
    /// # Errors
    /// It does not sync.
    pub fn link_one_after_the_other(&mut self) -> Result<()> {
        self.a.add(&Self::remote_folder())?;
        self.a.start()?;
        self.a.wait_idle()?;
        self.b.add(&Self::remote_folder())?;
        self.b.start()?;
        self.settle()
    }

    /// Does a script on A, waits, and checks that B has the same.
    ///
    /// # Errors
    /// It does not sync.
    pub fn base(&self, script: &str) -> Result<()> {
        self.a.files().run(script)?;
        self.settle().context("the base does not sync")?;
        self.equal().context("after the base")?;
        Ok(())
    }

    /// Waits until both devices are idle and neither moved a counter any more.
    ///
    /// # Errors
    /// A device does not become idle within 120 s, or they never stop.
    pub fn settle(&self) -> Result<()> {
        let mut before = None;
        for _ in 0..ROUNDS {
            self.a.wait_idle()?;
            self.b.wait_idle()?;
            let now = (self.a.counters()?.effects(), self.b.counters()?.effects());
            if before == Some(now) {
                return Ok(());
            }
            before = Some(now);
        }
        bail!("the devices never stop changing things: {before:?}")
    }

    /// Returns the counters of A and B since their daemons started.
    ///
    /// # Errors
    /// A daemon does not answer.
    pub fn counters(&self) -> Result<(Counters, Counters)> {
        Ok((self.a.counters()?, self.b.counters()?))
    }

    /// Checks that A and B hold the same, and gives it.
    ///
    /// # Errors
    /// The difference.
    pub fn equal(&self) -> Result<Tree> {
        let (a, b) = (self.a.tree()?, self.b.tree()?);
        if let Some(difference) = a.difference(&b) {
            bail!("A and B differ (expected is A, found is B):\n{difference}");
        }
        Ok(a)
    }

    /// Checks everything that must hold when two devices are quiet: equal trees, equal to the
    /// expected one; two more cycles change and transfer nothing; no temporary file is left.
    ///
    /// # Errors
    /// The first difference.
    pub fn expect(&self, expected: &Tree) -> Result<()> {
        let tree = self.equal()?;
        if let Some(difference) = expected.difference(&tree) {
            bail!("A and B agree on something else than expected:\n{difference}");
        }
        self.steady()
    }

    /// Checks that two more cycles of both devices do nothing, and that no temporary file is left.
    ///
    /// # Errors
    /// The work that they did.
    pub fn steady(&self) -> Result<()> {
        let stamps = || -> Result<_> {
            Ok((
                Tree::stamps(self.a.files().root())?,
                Tree::stamps(self.b.files().root())?,
            ))
        };
        let (before, effects) = (stamps()?, self.counters()?);
        self.server.dev().forget_requests()?;
        for _ in 0..2 {
            self.a.cycle()?;
            self.b.cycle()?;
        }
        let after = self.counters()?;
        if (effects.0.effects(), effects.1.effects()) != (after.0.effects(), after.1.effects()) {
            bail!("two more cycles did something: {effects:?} became {after:?}");
        }
        let changing: Vec<_> = self
            .server
            .dev()
            .requests()?
            .into_iter()
            .filter(|r| r.changes_nodes())
            .collect();
        if !changing.is_empty() {
            bail!("two more cycles asked the server to change something: {changing:?}");
        }
        if stamps()? != before {
            bail!(
                "two more cycles rewrote a file: {before:?} became {:?}",
                stamps()?
            );
        }
        for device in [&self.a, &self.b] {
            let left = leftovers(device.files().root())?;
            if !left.is_empty() {
                bail!("temporary files are left on {}: {left:?}", device.name());
            }
        }
        Ok(())
    }

    /// Waits until the server holds a node at a path of the synced folder.
    ///
    /// # Errors
    /// It never does.
    pub fn wait_remote(&self, path: &str) -> Result<()> {
        wait::holds(&format!("the server has {path}"), wait::SYNC, || {
            Ok(self.server.service().tree()?.contains_key(path))
        })
    }

    /// Ends the test: fails if a daemon panicked, and forgets the diagnosis.
    ///
    /// # Errors
    /// The panic.
    pub fn finish(mut self) -> Result<()> {
        self.a.check_log()?;
        self.b.check_log()?;
        self.finished = true;
        Ok(())
    }

    fn diagnose(&self) {
        for device in [&self.a, &self.b] {
            let name = device.name();
            let status = device
                .cli(&["status"])
                .map_or_else(|error| error.to_string(), |out| out.printed_text());
            eprintln!("== device {name}: status\n{}", status.trim());
            let tree = device
                .tree()
                .map_or_else(|error| error.to_string(), |tree| tree.to_string());
            eprintln!("== device {name}: folder\n{tree}");
            if let Ok(kept) = trash(device.files().root()) {
                eprintln!("== device {name}: trash\n{kept}");
            }
            eprintln!("== device {name}: output\n{}", device.log_tail(40));
            eprintln!("== device {name}: log\n{}", device.home_log_tail(60));
        }
        match self.server.service().tree() {
            Ok(tree) => tree
                .values()
                .take(40)
                .for_each(|node| eprintln!("== server: {node:?}")),
            Err(error) => eprintln!("== server: {error:#}"),
        }
        if let Ok(requests) = self.server.dev().requests() {
            for request in requests.iter().rev().take(40).rev() {
                eprintln!(
                    "== request: {} {} → {}",
                    request.method, request.path, request.status
                );
            }
        }
        eprintln!("== server: output\n{}", self.server.log_tail(20));
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        self.diagnose();
        if std::env::var_os("CAIRN_E2E_KEEP").is_some() {
            self.dir.disable_cleanup(true);
            eprintln!("== kept: {}", self.dir.path().display());
        }
    }
}
