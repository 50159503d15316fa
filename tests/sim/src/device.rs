//! A simulated device: a disk, an index (the sync engine's database), a line to the server, and the real sync engine,
//! which can be killed and started again.

use crate::disk::{Files, SimDisk};
use crate::network::{Line, SERVER};
use crate::random::Seeded;
use crate::world::client;
use cairn_api::{Api, ApiKey, RetryPolicy};
use cairn_crypto::SpaceKeys;
use cairn_engine::ports::{Clock, Ports};
use cairn_engine::{EngineHandle, EngineOptions, LONG_SCAN, WaitResult, start};
use cairn_index::{FolderSettings, Index, PlanSizes};
use cairn_model::{
    BackOff, ContentHash, DeletionGate, DeviceId, FolderId, ProblemCode, SyncMode, Verification,
};
use cairn_transfer::{Blocking, Download, Options, Transfer, TransferError};
use parking_lot::Mutex;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Path of the synced folder on every device.
pub const ROOT: &str = "/home";

/// Returns the path of something below the synced folder.
#[must_use]
pub fn path(below: &str) -> PathBuf {
    Path::new(ROOT).join(below)
}

/// A wall clock that follows the simulated time and may be wrong.
struct SkewedClock {
    begin: Instant,
    skew_ms: i64,
}

impl Clock for SkewedClock {
    fn now_ms(&self) -> i64 {
        let passed = i64::try_from(self.begin.elapsed().as_millis()).unwrap_or(i64::MAX);
        1_700_000_000_000 + passed + self.skew_ms
    }

    fn offset_s(&self) -> i32 {
        0
    }
}

/// A device of the simulation.
pub struct Device {
    pub name: String,
    pub disk: SimDisk,
    pub line: Arc<Line>,
    /// With `Strict`, changes wait that no device of the account has authenticated; from the next start on.
    pub verify: Verification,
    /// The places that this device knows to hold Cairn's own files, from the next start on.
    pub own_places: Vec<PathBuf>,
    /// Compares its view with those of the others, from the next start on.
    pub checkpoints: bool,
    plan_sizes: PlanSizes,
    long_scan: Duration,
    index: Arc<Index>,
    id: DeviceId,
    key: String,
    keys: Arc<SpaceKeys>,
    random: Seeded,
    begin: Instant,
    skew_ms: i64,
    engine: Option<EngineHandle>,
}

impl Device {
    /// A device with an empty folder, not running yet.
    ///
    /// # Panics
    /// If the simulation itself can't be set up.
    #[must_use]
    pub fn new(
        number: usize,
        line: Line,
        key: String,
        keys: Arc<SpaceKeys>,
        random: Seeded,
        begin: Instant,
    ) -> Self {
        let disk = SimDisk::default();
        disk.user(Path::new(ROOT), false, |files| files.mkdir(Path::new(ROOT)))
            .expect("an empty disk has room");
        let index = Arc::new(Index::memory().expect("SQLite in memory"));
        index
            .write(|db| db.add_folder(ROOT, "/", &FolderSettings::default()))
            .expect("a new index takes a folder");
        let mut id = [0; 16];
        cairn_crypto::Random::fill(&mut random.clone(), &mut id);
        let skew_ms = (random.below(5) as i64 - 2) * 6 * 3_600_000;
        Self {
            name: format!("d{number}"),
            disk,
            line: Arc::new(line),
            verify: Verification::default(),
            own_places: Vec::new(),
            checkpoints: false,
            plan_sizes: PlanSizes::default(),
            long_scan: LONG_SCAN,
            index,
            id: DeviceId::from_random_bytes(id),
            key,
            keys,
            random,
            begin,
            skew_ms,
            engine: None,
        }
    }

    /// Has every other device plan a few files at a time from its next start on, and ask its watcher instead of scanning
    /// everything once more, as all do in a folder of a million. The sizes follow from its id, so that they change nothing else of a seed.
    pub fn plan_in_parts(&mut self) {
        let [odd, whole, part, ..] = *self.id.as_bytes();
        if odd % 2 == 1 {
            self.plan_sizes = PlanSizes {
                whole: 1 + usize::from(whole % 8),
                part: 1 + usize::from(part % 4),
            };
            self.trust_watcher();
        }
    }

    /// Has the device ask its watcher instead of scanning everything once more, from its next start on.
    pub fn trust_watcher(&mut self) {
        self.long_scan = Duration::ZERO;
    }

    /// Pairs the folder anew with a mode of its own; before the first start.
    ///
    /// # Panics
    /// If the index refuses it.
    pub fn set_mode(&self, mode: SyncMode) {
        let settings = FolderSettings {
            mode,
            ..FolderSettings::default()
        };
        let pair = self.index.write(|db| {
            let old = db.folders()?.remove(0).id;
            db.remove_folder(old)?;
            db.add_folder(ROOT, "/", &settings)
        });
        pair.expect("the index takes it");
    }

    /// Returns the pair of the folder.
    ///
    /// # Panics
    /// If the index can't be read.
    pub(crate) fn folder(&self) -> FolderId {
        let folders = self.index.read(|db| db.folders());
        folders.expect("the index is read").remove(0).id
    }

    /// Sets the deletion gate of the folder; before the first start.
    ///
    /// # Panics
    /// If the index refuses it.
    pub(crate) fn set_gate(&self, gate: DeletionGate) {
        let changed = self.index.write(|db| {
            let row = db.folders()?.remove(0);
            let settings = FolderSettings {
                gate: Some(gate),
                ..row.settings
            };
            db.set_folder_settings(row.id, &settings)
        });
        changed.expect("the index takes it");
    }

    /// Leaves out what some patterns match, on this device alone.
    ///
    /// # Panics
    /// If the index refuses it.
    pub fn leave_out(&self, exclude: Vec<String>) {
        let changed = self.index.write(|db| {
            let row = db.folders()?.remove(0);
            let settings = FolderSettings {
                exclude,
                ..row.settings
            };
            db.set_folder_settings(row.id, &settings)
        });
        changed.expect("the index takes it");
        if let Some(engine) = &self.engine {
            engine.reload();
        }
    }

    /// Returns the patterns of [`Self::leave_out`].
    pub(crate) fn left_out(&self) -> Vec<String> {
        let folders = self.index.read(|db| db.folders());
        folders
            .expect("the index is read")
            .remove(0)
            .settings
            .exclude
    }

    /// Lets the user do something at a path below the root, which the watcher notices.
    ///
    /// # Panics
    /// If the disk refuses it.
    pub fn user<T>(
        &self,
        below: &str,
        action: impl FnOnce(&mut Files, &Path) -> io::Result<T>,
    ) -> T {
        let path = path(below);
        self.disk
            .user(&path, true, |files| action(files, &path))
            .expect("the disk does it")
    }

    /// Renames or moves something as the user. The watcher notices both places.
    ///
    /// # Panics
    /// If the disk refuses it.
    pub fn rename(&self, from: &str, to: &str) {
        let to_path = path(to);
        self.user(from, |files, from| files.rename(from, &to_path));
        self.user(to, |_, _| Ok(()));
    }

    /// Writes a file as the user, with the folder that it lies in.
    ///
    /// # Panics
    /// If the disk refuses it.
    pub fn write(&self, below: &str, bytes: &[u8]) {
        self.user(below, |files, path| {
            let missing: Vec<&Path> = path
                .ancestors()
                .skip(1)
                .take_while(|above| files.get(above).is_err())
                .collect();
            for above in missing.into_iter().rev() {
                files.mkdir(above)?;
            }
            files.write(path, bytes)
        });
    }

    /// Returns the id of the device on the service.
    #[must_use]
    pub fn id(&self) -> DeviceId {
        self.id
    }

    /// Returns the index, to be damaged or read; it outlives the engine.
    #[must_use]
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Starts the engine, or does nothing if it runs.
    ///
    /// # Panics
    /// If the engine can't start.
    pub fn start(&mut self) {
        if self.engine.is_some() {
            return;
        }
        let api = self.api();
        let transfer = self.transfer(&api);
        let ports = Ports {
            disk: Arc::new(self.disk.clone()),
            watch: Arc::new(self.disk.clone()),
            clock: Arc::new(SkewedClock {
                begin: self.begin,
                skew_ms: self.skew_ms,
            }),
            random: Arc::new(Mutex::new(self.random.clone())),
            threads: false,
        };
        let mut options = EngineOptions::new(
            Arc::clone(&self.index),
            api,
            Arc::new(transfer),
            Arc::clone(&self.keys),
            self.name.clone(),
            ports,
        );
        options.stream = false;
        options.checkpoints = self.checkpoints;
        options.settings.verify = self.verify;
        options.own_places.clone_from(&self.own_places);
        options.plan_sizes = self.plan_sizes;
        options.long_scan = self.long_scan;
        self.engine = Some(start(options).expect("the engine starts"));
    }

    fn api(&self) -> Arc<Api> {
        let retry = RetryPolicy {
            tries: 3,
            back_off: BackOff {
                first: Duration::from_millis(200),
                most: Duration::from_secs(15),
            },
            ..RetryPolicy::default()
        };
        let auth = Arc::new(ApiKey::new(self.key.clone()));
        let transport: Arc<dyn cairn_api::Transport> = Arc::clone(&self.line) as _;
        let api = Api::new(transport, SERVER, None, auth, self.id)
            .expect("the address is one")
            .with_retry(retry)
            .with_entropy(Arc::new(self.random.clone()));
        client(api, &self.keys)
    }

    fn transfer(&self, api: &Arc<Api>) -> Transfer {
        let options = Options {
            limits: Arc::default(),
            blocking: Blocking::Inline,
            random: Box::new(self.random.clone()),
        };
        Transfer::new(Arc::clone(api), Arc::clone(&self.keys), self.id, options)
    }

    /// Returns the hash of the content that the service has of a file, without its seal.
    ///
    /// # Errors
    /// Returns the error of the transfer.
    pub(crate) async fn hash_on_service(
        &self,
        download: Download,
    ) -> Result<ContentHash, TransferError> {
        let transfer = self.transfer(&self.api());
        Ok(transfer.manifest(download).await?.hash)
    }

    /// Stops the engine in the way of `kill -9`; with `power`, the disk forgets what was not flushed.
    pub async fn kill(&mut self, power: bool) {
        if let Some(engine) = self.engine.take() {
            engine.abort().await;
        }
        if power {
            self.disk.crash();
        }
    }

    /// The running engine.
    #[must_use]
    pub fn engine(&self) -> Option<&EngineHandle> {
        self.engine.as_ref()
    }

    /// Waits until this device is in sync; false if it isn't within an hour of simulated time.
    pub async fn settle(&self) -> bool {
        self.wait().await == Some(WaitResult::InSync)
    }

    /// Waits until nothing is left to do without a person; false if that isn't so within an hour of
    /// simulated time.
    pub async fn rest(&self) -> bool {
        let waited = self.wait().await;
        matches!(waited, Some(WaitResult::InSync | WaitResult::NeedsPerson))
    }

    async fn wait(&self) -> Option<WaitResult> {
        let waiting = self.engine.as_ref()?.wait_until_idle();
        let waited = tokio::time::timeout(Duration::from_secs(3600), waiting).await;
        waited.ok()?.ok()
    }

    /// Returns the paths of the problems of a kind.
    ///
    /// # Panics
    /// If the engine does not run.
    #[must_use]
    pub fn problems(&self, code: ProblemCode) -> Vec<String> {
        let status = self.engine().expect("it runs").status();
        let errors = status.folders[0].errors.iter();
        errors
            .filter(|error| error.code == code)
            .map(|error| error.path.clone())
            .collect()
    }

    /// Returns the number of contents that went up or down since the engine started.
    #[must_use]
    pub fn transfers(&self) -> u64 {
        self.engine.as_ref().map_or(0, |engine| {
            let counters = engine.status().counters;
            counters.uploads + counters.downloads
        })
    }
}
