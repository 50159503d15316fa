//! What dispatcher, executor and handle share, and how an engine is started.

use crate::dispatcher::Dispatcher;
use crate::error::EngineError;
use crate::feed::{self, Admission};
use crate::handle::EngineHandle;
use crate::health::Health;
use crate::ports::Ports;
use crate::status::{Counters, Event, FolderStatus, State, Status, TransferStatus};
use cairn_api::Api;
use cairn_crypto::SpaceKeys;
use cairn_index::{ActivityRow, Index};
use cairn_model::{FolderId, LocalId, NodeId};
use cairn_transfer::Transfer;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Mutex as AsyncMutex, Notify, broadcast, mpsc};

/// How an engine is made.
pub struct EngineOptions {
    pub index: Arc<Index>,
    pub api: Arc<Api>,
    pub transfer: Arc<Transfer>,
    pub keys: Arc<SpaceKeys>,
    /// This device's name, for conflict copies.
    pub device_name: String,
    pub ports: Ports,
    /// A full scan and a full comparison at least this often; the default is an hour.
    pub rescan_every: Duration,
    /// How long a folder must be quiet before its changes are looked at; the default is 80 ms.
    pub debounce: Duration,
    /// Whether to keep the feed's stream open; the simulator polls instead.
    pub stream: bool,
    /// How many transfers run at once.
    pub parallel: usize,
    /// Whether changes that no device of the account vouches for wait for a person; the default is no.
    pub strict: bool,
}

impl EngineOptions {
    /// The defaults for a real device.
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
            rescan_every: Duration::from_secs(3600),
            debounce: Duration::from_millis(80),
            stream: true,
            parallel: 3,
            strict: false,
        }
    }
}

/// A key of the planner's world.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Key {
    Local(LocalId),
    Node(NodeId),
}

/// A transfer that is running.
pub(crate) struct Running {
    pub(crate) path: String,
    pub(crate) upload: bool,
    pub(crate) total: u64,
    pub(crate) done: AtomicU64,
    pub(crate) since: tokio::time::Instant,
}

/// State that is shared; each lock is held for moments only.
pub(crate) struct Shared {
    pub(crate) index: Arc<Index>,
    pub(crate) api: Arc<Api>,
    pub(crate) transfer: Arc<Transfer>,
    pub(crate) keys: Arc<SpaceKeys>,
    pub(crate) device_name: String,
    strict: AtomicBool,
    pub(crate) ports: Ports,
    pub(crate) events: broadcast::Sender<Event>,
    /// Held by whoever changes the disk together with the index, and by a scan: a scan never sees a
    /// file that was put in place but not yet recorded.
    pub(crate) disk_gate: AsyncMutex<()>,
    pub(crate) health: Mutex<Health>,
    pub(crate) board: Mutex<Board>,
    pub(crate) running: Mutex<BTreeMap<u64, Arc<Running>>>,
    pub(crate) devices: Mutex<BTreeMap<cairn_model::DeviceId, String>>,
    /// Nodes that a running upload is making. The feed may tell of one before its upload is recorded:
    /// it must not be taken for somebody else's file then.
    pub(crate) arriving: Mutex<BTreeSet<NodeId>>,
    stopping: AtomicBool,
    pub(crate) stop: Notify,
    next_running: AtomicU64,
}

/// The figures that the status is made from.
#[derive(Default)]
pub(crate) struct Board {
    pub(crate) folders: Vec<FolderStatus>,
    pub(crate) counters: Counters,
    pub(crate) paused: bool,
    pub(crate) paused_until: Option<i64>,
    /// The whole home can't work, and why.
    pub(crate) trouble: Option<(State, String)>,
    /// Something is being looked at or planned.
    pub(crate) busy: bool,
}

impl Shared {
    pub(crate) fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn count(&self, change: impl FnOnce(&mut Counters)) {
        change(&mut self.board().counters);
    }

    pub(crate) fn set_paused(&self, paused: bool, until: Option<i64>) {
        let mut board = self.board();
        board.paused = paused;
        board.paused_until = until;
    }

    /// Which changes are taken without asking.
    pub(crate) fn admission(&self) -> Admission {
        if self.strict.load(Ordering::Relaxed) {
            Admission::Verified
        } else {
            Admission::All
        }
    }

    pub(crate) fn set_strict(&self, strict: bool) {
        self.strict.store(strict, Ordering::Relaxed);
    }

    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.stop.notify_waiters();
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Adds to the activity, and tells whoever listens.
    pub(crate) fn activity(
        &self,
        folder: FolderId,
        kind: &str,
        path: &str,
        device: Option<String>,
        bytes: u64,
    ) {
        let row = ActivityRow {
            at_ms: self.ports.clock.now_ms(),
            folder: Some(folder),
            kind: kind.to_owned(),
            path: path.to_owned(),
            device,
            bytes,
        };
        if let Err(error) = self.index.write(|db| db.add_activity(&row)) {
            tracing::warn!(%error, "the activity can't be recorded");
        }
        self.announce(row);
    }

    pub(crate) fn announce(&self, row: ActivityRow) {
        let event = Event::Activity {
            at_ms: row.at_ms,
            folder: row.folder,
            kind: row.kind,
            path: row.path,
            device: row.device,
            bytes: row.bytes,
        };
        // No one listening is fine.
        drop(self.events.send(event));
    }

    pub(crate) fn changed(&self) {
        drop(self.events.send(Event::Status));
    }

    /// Registers a running transfer; it is in the status until the returned guard is dropped.
    pub(crate) fn running(
        self: &Arc<Self>,
        path: String,
        upload: bool,
        total: u64,
    ) -> RunningGuard {
        let id = self.next_running.fetch_add(1, Ordering::Relaxed);
        let running = Arc::new(Running {
            path,
            upload,
            total,
            done: AtomicU64::new(0),
            since: tokio::time::Instant::now(),
        });
        self.running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id, Arc::clone(&running));
        RunningGuard {
            shared: Arc::clone(self),
            id,
            running,
        }
    }

    /// Whether a running upload is making this node.
    pub(crate) fn is_arriving(&self, key: Key) -> bool {
        let Key::Node(node) = key else { return false };
        let arriving = self.arriving.lock().unwrap_or_else(PoisonError::into_inner);
        arriving.contains(&node)
    }

    pub(crate) fn device(&self, id: Option<cairn_model::DeviceId>) -> Option<String> {
        let id = id?;
        let devices = self.devices.lock().unwrap_or_else(PoisonError::into_inner);
        Some(devices.get(&id).cloned().unwrap_or_else(|| id.to_string()))
    }

    pub(crate) fn status(&self) -> Status {
        let transfers: Vec<TransferStatus> = {
            let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            running.values().map(|r| transfer_status(r)).collect()
        };
        let health = self.health();
        let board = self.board();
        let mut folders = board.folders.clone();
        for folder in &mut folders {
            folder.errors = health.problems(FolderId(folder.id));
            let waiting = folder.waiting_local_deletions + folder.waiting_remote_deletions > 0;
            if folder.state == State::Idle {
                if waiting || folder.errors.iter().any(|p| needs_person(&p.code)) {
                    folder.state = State::Attention;
                } else if folder.pending > 0 {
                    folder.state = State::Syncing;
                }
            }
        }
        let mut counters = board.counters;
        counters.remote_calls = self.api.counters().snapshot().requests;
        let mut state = folders.iter().map(|f| f.state).max().unwrap_or_default();
        if state == State::Idle && (board.busy || !transfers.is_empty()) {
            state = State::Syncing;
        }
        if board.paused {
            state = State::Paused;
        }
        let message = board.trouble.as_ref().map(|(_, message)| message.clone());
        if let Some((trouble, _)) = &board.trouble
            && !board.paused
        {
            state = *trouble;
        }
        Status {
            state,
            pending: folders.iter().map(|f| f.pending).sum(),
            folders,
            transfers,
            counters,
            message,
            paused_until: board.paused_until,
        }
    }
}

/// Lines that only inform (a skipped symbolic link) don't call for a person.
fn needs_person(code: &str) -> bool {
    !matches!(code, "symlink" | "special" | "changing")
}

fn transfer_status(running: &Running) -> TransferStatus {
    let bytes = running.done.load(Ordering::Relaxed).min(running.total);
    let seconds = running.since.elapsed().as_secs_f64();
    let speed = if seconds > 0.0 {
        bytes as f64 / seconds
    } else {
        0.0
    };
    TransferStatus {
        path: running.path.clone(),
        direction: if running.upload { "upload" } else { "download" }.into(),
        bytes,
        total: running.total,
        speed,
        time_left: (speed > 0.0).then(|| (running.total - bytes) as f64 / speed),
    }
}

/// Keeps nodes that are being made from being taken for somebody else's.
pub(crate) struct Arriving {
    shared: Arc<Shared>,
    nodes: Vec<NodeId>,
}

impl Arriving {
    pub(crate) fn new(shared: &Arc<Shared>, nodes: Vec<NodeId>) -> Self {
        shared
            .arriving
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(nodes.iter().copied());
        Self {
            shared: Arc::clone(shared),
            nodes,
        }
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        let mut arriving = self
            .shared
            .arriving
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for node in &self.nodes {
            arriving.remove(node);
        }
    }
}

pub(crate) struct RunningGuard {
    shared: Arc<Shared>,
    id: u64,
    pub(crate) running: Arc<Running>,
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        self.shared
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.id);
    }
}

/// Starts an engine on the current tokio runtime.
///
/// # Errors
/// An index that can't be read.
pub fn start(options: EngineOptions) -> Result<EngineHandle, EngineError> {
    let (events, _) = broadcast::channel(4096);
    let (commands, inbox) = mpsc::unbounded_channel();
    let shared = Arc::new(Shared {
        index: options.index,
        api: options.api,
        transfer: options.transfer,
        keys: options.keys,
        device_name: options.device_name,
        strict: AtomicBool::new(options.strict),
        ports: options.ports,
        events,
        disk_gate: AsyncMutex::new(()),
        health: Mutex::new(Health::default()),
        board: Mutex::new(Board::default()),
        running: Mutex::new(BTreeMap::new()),
        devices: Mutex::new(BTreeMap::new()),
        arriving: Mutex::new(BTreeSet::new()),
        stopping: AtomicBool::new(false),
        stop: Notify::new(),
        next_running: AtomicU64::new(0),
    });
    feed::recall_held(&shared)?;
    let tuning = Tuning {
        rescan_every: options.rescan_every,
        debounce: options.debounce,
        stream: options.stream,
        parallel: options.parallel.max(1),
    };
    let dispatcher = Dispatcher::new(Arc::clone(&shared), inbox, tuning)?;
    let task = tokio::spawn(dispatcher.run());
    Ok(EngineHandle {
        shared,
        commands,
        task: AsyncMutex::new(Some(task)),
    })
}

/// The dispatcher's figures.
pub(crate) struct Tuning {
    pub(crate) rescan_every: Duration,
    pub(crate) debounce: Duration,
    pub(crate) stream: bool,
    pub(crate) parallel: usize,
}

/// Keys that a running transfer holds: no step touches them meanwhile.
pub(crate) type Locks = BTreeSet<Key>;
