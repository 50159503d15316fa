//! The fixture of the simulator, the `World`: a real server in memory and simulated devices of one account.

use crate::device::{Device, ROOT};
use crate::entries::Entries;
use crate::network::{Line, SERVER};
use crate::oracle::label;
use crate::persons::Persons;
use crate::random::Seeded;
use crate::{actions, rules, spelling, truth};
use cairn_api::{Api, ApiKey};
use cairn_crypto::{Random as _, SpaceKeys};
use cairn_model::DeviceId;
use cairn_server::{Clock, DevAccess, Options, Server};
use cairn_transfer::api_in_space;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Everything of one simulation.
pub struct World {
    pub server: Server,
    pub devices: Vec<Device>,
    pub random: Seeded,
    /// The names that random actions give.
    pub(crate) names: &'static [&'static str],
    /// The devices need not become equal: changes go one way, or not at all.
    pub(crate) is_one_way: bool,
    pub(crate) persons: Persons,
    /// The account as a program without devices uses it.
    pub api: Arc<Api>,
}

/// The kinds of spaces that the devices of a world sync with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SpaceKind {
    /// The account's own, in which the server can read names.
    Open,
    /// One in which the server has sealed names.
    Private,
}

impl World {
    /// A server and `count` devices, not running yet.
    ///
    /// # Panics
    /// If the simulation itself can't be set up.
    pub async fn new(seed: u64, count: usize) -> Self {
        Self::in_space(seed, count, SpaceKind::Open).await
    }

    /// Returns a server and devices that sync with a space of a kind, not running yet.
    pub(crate) async fn in_space(seed: u64, count: usize, kind: SpaceKind) -> Self {
        let mut options = Options::ephemeral();
        options.seed = Some(seed);
        options.clock = Clock::Virtual {
            start_ms: 1_700_000_000_000,
        };
        // Time stands still on the server, so a bucket would never fill again.
        options.rate_limits.read = u32::MAX;
        options.rate_limits.write = u32::MAX;
        options.rate_limits.content = u32::MAX;
        // Requests name the host of the simulated network.
        let server = cairn_server::build_dev_reachable(options, DevAccess::Anyone)
            .expect("a server in memory");
        let key = "ck_dev_owner".to_owned();
        let random = Seeded::new(seed, 0);
        // Made once: with all its routes it is a good part of the work of a short run.
        let router = server.router();
        let line = Line::new(router.clone(), Seeded::new(seed, 1));
        let auth = Arc::new(ApiKey::new(key.clone()));
        let api = Api::new(
            Arc::new(line),
            SERVER,
            None,
            auth,
            DeviceId::from_random_bytes([7; 16]),
        )
        .expect("the address is one");
        let space = match kind {
            SpaceKind::Open => api.account().await.expect("an account").space_id,
            SpaceKind::Private => {
                let team = api.create_private_team("Private").await;
                team.expect("a private space").space_id
            }
        };
        let mut raw = [0; 32];
        Seeded::new(seed, 2).fill(&mut raw);
        let keys = Arc::new(SpaceKeys::from_raw(space, 1, &raw).expect("a key"));
        let api = client(api, &keys);
        let begin = Instant::now();
        let devices = (0..count)
            .map(|n| {
                let stream = 10 + n as u64 * 10;
                let line = Line::new(router.clone(), Seeded::new(seed, stream));
                Device::new(
                    n,
                    line,
                    key.clone(),
                    Arc::clone(&keys),
                    Seeded::new(seed, stream + 1),
                    begin,
                )
            })
            .collect();
        Self {
            server,
            devices,
            random,
            names: actions::NAMES,
            is_one_way: false,
            persons: Persons::default(),
            api,
        }
    }

    /// Has all devices compare their views of the space, from their next start on.
    ///
    /// # Panics
    /// If the server does not take them.
    pub async fn compare_views(&mut self) {
        for device in &mut self.devices {
            let known = cairn_wire::account::Device {
                id: device.id(),
                name: device.name.clone(),
            };
            let put = self.api.put_device(&known).await;
            put.expect("the server takes a device");
            device.checkpoints = true;
        }
    }

    /// Lets all lines and disks work as they should, and all users rest.
    pub fn end_faults(&self) {
        for device in &self.devices {
            device.line.fault_one_in(0);
            device.disk.fault_one_in(0, &self.random);
            device.disk.end_interference();
        }
    }

    /// Lets time pass until all devices say that they are up to date and hold the same, without making any of them
    /// look at all of its files.
    ///
    /// # Errors
    /// Returns the status of all devices after half an hour.
    pub async fn calm(&mut self) -> Result<(), String> {
        for device in &mut self.devices {
            device.start();
        }
        let mut before = None;
        for _ in 0..30 {
            // Longer than a device takes to ask for news: what one has sent last may be no part of these trees.
            tokio::time::sleep(Duration::from_secs(70)).await;
            let mut has_decided = false;
            for at in 0..self.devices.len() {
                has_decided |= self.persons.decide(&self.devices, at, &self.random);
            }
            let trees = self.shared_trees().await?;
            let is_equal = trees.windows(2).all(|pair| pair[0] == pair[1]);
            let now: Vec<Entries> = self.devices.iter().map(Entries::of).collect();
            let is_unchanged = before.as_ref() == Some(&now);
            if is_equal
                && is_unchanged
                && !has_decided
                && self.devices.iter().all(truth::is_at_rest)
            {
                return Ok(());
            }
            before = Some(now);
        }
        let devices = self.devices.iter();
        let status: Vec<_> = devices
            .filter_map(|device| Some(device.engine()?.status()))
            .collect();
        Err(format!(
            "the devices do not come to rest by themselves: {status:#?}{}",
            self.trees().await?
        ))
    }

    /// Returns whether the devices need not become equal in the end: changes go one way, or a disk that ignores case
    /// can't have all names that another one has. The problems that a device reports do not count.
    pub(crate) fn may_differ(&self) -> bool {
        // What is left out on such a disk has its name, too.
        let ignoring = self.devices.iter();
        let ignoring = ignoring.filter(|device| device.disk.is_ignoring_case());
        let left_out: Tree = ignoring.flat_map(rules::left_out).collect();
        let has_clash = |device: &Device| {
            let mut tree = tree_of(device);
            tree.extend(left_out.clone());
            spelling::has_clash(&tree)
        };
        self.is_one_way || (self.is_ignoring_case() && self.devices.iter().any(has_clash))
    }

    fn is_ignoring_case(&self) -> bool {
        let mut devices = self.devices.iter();
        devices.any(|device| device.disk.is_ignoring_case())
    }

    fn transfers(&self) -> Vec<u64> {
        self.devices.iter().map(Device::transfers).collect()
    }

    /// Returns what is on the disk of each device and has to be on all of them.
    async fn shared_trees(&self) -> Result<Vec<Tree>, String> {
        let exempt = rules::exempt(self).await?;
        let trees = self.devices.iter().map(tree_of);
        let shared = trees.map(|mut tree| {
            tree.retain(|path, _| !exempt.contains(path));
            tree
        });
        Ok(shared.collect())
    }

    /// Lets each device do what it can without a person, in turn: for trees that stay different.
    ///
    /// # Panics
    /// If one of them does not come to rest.
    pub async fn rest(&mut self) {
        for _ in 0..3 {
            for device in &mut self.devices {
                device.start();
                assert!(device.rest().await, "{} comes to rest", device.name);
            }
        }
    }

    /// Checks that no device waits for a person, unless the devices may differ.
    async fn check_calm(&self, may_differ: bool) -> Result<(), String> {
        for device in &self.devices {
            if !may_differ && !device.settle().await {
                return Err(format!("{} waits for a person", device.name));
            }
        }
        Ok(())
    }

    /// Lets all devices work, one after the other, until a whole round transfers nothing.
    /// `Err` says what did not come to rest.
    ///
    /// # Errors
    /// A device that does not come to rest, or devices that keep one another busy.
    pub async fn settle(&mut self) -> Result<(), String> {
        self.end_faults();
        let mut quiet_rounds = 0;
        for _ in 0..20 {
            let before = (self.shared_trees().await?, self.transfers());
            let may_need_person = self.is_one_way || self.is_ignoring_case();
            let mut has_decided = false;
            for at in 0..self.devices.len() {
                self.devices[at].start();
                let device = &self.devices[at];
                // What can't be sent, or waits for a name that is in use, waits for a person.
                let is_calm = match may_need_person {
                    true => device.rest().await,
                    false => device.settle().await,
                };
                // Somebody decides in the end.
                let is_decided = self.persons.decide(&self.devices, at, &self.random);
                let is_calm = is_calm || is_decided;
                has_decided |= is_decided;
                if !is_calm {
                    let status = device.engine().map(cairn_engine::EngineHandle::status);
                    return Err(format!(
                        "{} does not come to rest: {status:#?}",
                        device.name
                    ));
                }
            }
            let after = (self.shared_trees().await?, self.transfers());
            let is_equal = after.0.windows(2).all(|pair| pair[0] == pair[1]);
            let may_differ = self.may_differ();
            let is_quiet = !has_decided
                && match may_differ {
                    true => before == after,
                    false => before.0 == after.0 && is_equal,
                };
            quiet_rounds = if is_quiet { quiet_rounds + 1 } else { 0 };
            // Where trees may differ, they don't show a rename that was sent at the end of a round.
            if quiet_rounds > usize::from(may_differ) {
                return self.check_calm(may_differ).await;
            }
        }
        let trees = self.trees().await?;
        Err(format!("the devices do not become equal{trees}"))
    }

    /// Returns the paths on each device, and of those the ones that have to be on all of them, for people.
    async fn trees(&self) -> Result<String, String> {
        let shared = self.shared_trees().await?;
        let trees = self.devices.iter().zip(shared).map(|(device, shared)| {
            let paths = tree_of(device).into_iter().map(|(path, bytes)| {
                let kept = match shared.contains_key(&path) {
                    true => "",
                    false => ", left out",
                };
                let bytes = bytes.map(|bytes| format!(" = {}", label(&bytes)));
                format!("\n  {path}{}{kept}", bytes.unwrap_or_default())
            });
            format!("\n{}:{}", device.name, paths.collect::<String>())
        });
        Ok(trees.collect())
    }
}

/// Returns a client as a device with these keys uses it: only for another space than the account's own, requests name
/// it.
pub(crate) fn client(api: Api, keys: &Arc<SpaceKeys>) -> Arc<Api> {
    match keys.space().is_private() {
        true => api_in_space(&api, keys),
        false => Arc::new(api),
    }
}

/// The paths below a synced folder with the bytes of files; a folder has none.
pub type Tree = BTreeMap<String, Option<Vec<u8>>>;

/// The synced folder of a device, without our own directories.
#[must_use]
pub fn tree_of(device: &Device) -> Tree {
    device.disk.look(|files| files.listing(Path::new(ROOT)))
}
