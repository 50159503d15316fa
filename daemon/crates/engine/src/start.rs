//! Starting an engine.

use crate::checkpoints;
use crate::dispatcher::{Dispatcher, Tuning};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::feed;
use crate::handle::EngineHandle;
use crate::health::Health;
use crate::ports::Ports;
use crate::verification::VerificationSetting;
use cairn_api::{Api, RetryPolicy};
use cairn_crypto::SpaceKeys;
use cairn_index::{Index, PlanSizes};
use cairn_model::{BackOff, Verification};
use cairn_transfer::Transfer;
use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex as AsyncMutex, broadcast, mpsc};

/// The usual [`EngineOptions::long_scan`].
pub const LONG_SCAN: Duration = Duration::from_millis(500);

/// The parts and settings of an engine.
pub struct EngineOptions {
    pub index: Arc<Index>,
    pub api: Arc<Api>,
    pub transfer: Arc<Transfer>,
    pub keys: Arc<SpaceKeys>,
    /// The device's name, for conflict copies.
    pub device_name: String,
    pub ports: Ports,
    pub settings: Settings,
    /// Quiet time before the changes of a folder are scanned; the default is 80 ms.
    pub debounce: Duration,
    /// The places of Cairn's own files, as absolute paths: what is in them is never synced, and nothing is
    /// put there. The default is none.
    pub own_places: Vec<PathBuf>,
    /// Keeps the feed's stream open; the simulator polls instead.
    pub stream: bool,
    /// Compares this device's view with those of others, through checkpoints on the service; the default is yes.
    pub checkpoints: bool,
    /// The sizes of plans.
    pub plan_sizes: PlanSizes,
    /// A folder whose last whole scan took so long is not scanned for those who wait until all is in sync, if its
    /// watcher can tell what has changed; the default is [`LONG_SCAN`].
    pub long_scan: Duration,
}

/// The settings of a person, which can change while the engine runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// A full scan and a full comparison at least this often; the default is an hour.
    pub rescan_every: Duration,
    /// The number of transfers that run at once in each direction; a batch of small files may come on top.
    pub parallel: usize,
    /// Lets changes without a valid seal of the account's devices wait for a person; the default is no.
    pub verify: Verification,
    /// Lets the service make new large files of equal ones that it has, and so learn that they are equal; the default
    /// is yes.
    pub server_copies: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            rescan_every: Duration::from_secs(3600),
            parallel: 3,
            verify: Verification::default(),
            server_copies: true,
        }
    }
}

impl EngineOptions {
    /// Returns the defaults for a real device.
    #[must_use]
    pub fn new(
        index: Arc<Index>,
        api: Arc<Api>,
        transfer: Arc<Transfer>,
        keys: Arc<SpaceKeys>,
        device_name: String,
        ports: Ports,
    ) -> Self {
        Self {
            index,
            api,
            transfer,
            keys,
            device_name,
            ports,
            settings: Settings::default(),
            debounce: Duration::from_millis(80),
            own_places: Vec::new(),
            stream: true,
            checkpoints: true,
            plan_sizes: PlanSizes::default(),
            long_scan: LONG_SCAN,
        }
    }
}

/// Steps are carried out one after the other, for all folders: one that the service does not do at once
/// is tried again later, and others go on.
const STRUCTURE_RETRIES: RetryPolicy = RetryPolicy {
    tries: 2,
    back_off: BackOff {
        first: Duration::from_millis(100),
        most: Duration::from_millis(100),
    },
    longest_retry_after: Duration::ZERO,
    after_silence: true,
};

/// Starts an engine on the current tokio runtime.
///
/// # Errors
/// An index that can't be read.
pub fn start(options: EngineOptions) -> Result<EngineHandle, EngineError> {
    let (commands, inbox) = mpsc::unbounded_channel();
    let tuning = options.tuning();
    let engine = Arc::new(engine_of(options));
    feed::note_key_epoch(&engine)?;
    feed::restore_held_problems(&engine)?;
    engine.index.read(|db| checkpoints::report(&engine, db))?;
    let dispatcher = Dispatcher::new(Arc::clone(&engine), inbox, tuning)?;
    let task = tokio::spawn(dispatcher.run());
    Ok(EngineHandle {
        engine,
        commands,
        task: AsyncMutex::new(Some(task)),
    })
}

impl EngineOptions {
    /// Returns the dispatcher's part of the settings.
    pub(crate) fn tuning(&self) -> Tuning {
        Tuning {
            rescan_every: self.settings.rescan_every,
            debounce: self.debounce,
            stream: self.stream,
            checkpoints: self.checkpoints,
            plan_sizes: self.plan_sizes,
            long_scan: self.long_scan,
            parallel: self.settings.parallel.max(1),
        }
    }
}

/// Returns the parts of an engine that nobody drives yet.
pub(crate) fn engine_of(options: EngineOptions) -> Engine {
    let (events, _) = broadcast::channel(4096);
    let (seed, _) = uuid::Uuid::from_bytes(options.ports.id()).as_u64_pair();
    Engine {
        index: options.index,
        structure_api: Api::clone(&options.api).with_retry(STRUCTURE_RETRIES),
        api: options.api,
        transfer: options.transfer,
        keys: options.keys,
        device_name: options.device_name,
        ports: options.ports,
        events,
        earlier_seals: Mutex::default(),
        feed_pages: Mutex::default(),
        disk_lock: AsyncMutex::default(),
        health: Mutex::new(Health::new(seed)),
        figures: Default::default(),
        running: Default::default(),
        arriving: Default::default(),
        placing: Default::default(),
        tried_restores: Default::default(),
        devices: Default::default(),
        pauses: Default::default(),
        verification: VerificationSetting::new(options.settings.verify),
        own_places: options.own_places,
        ids: Default::default(),
        server_copies: options.settings.server_copies.into(),
        stop: Default::default(),
        reload: Default::default(),
    }
}
