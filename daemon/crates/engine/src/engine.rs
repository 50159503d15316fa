//! The parts of a running engine, which dispatcher, steps and handle share.

use crate::arriving::ArrivingNodes;
use crate::device_names::DeviceNames;
use crate::health::Health;
use crate::pauses::Pauses;
use crate::placing::PlacingNodes;
use crate::ports::Ports;
use crate::running::RunningTransfers;
use crate::status::{Event, ProblemGroup, Status};
use crate::status_snapshot::StatusSnapshot;
use crate::stop_signal::StopSignal;
use crate::tried_restores::TriedRestores;
use crate::verification::VerificationSetting;
use cairn_api::{Api, Paging};
use cairn_crypto::SpaceKeys;
use cairn_index::{ActivityRow, FolderRow, Index};
use cairn_model::{ActivityKind, Counters, FolderId, IdSeries, NodeId, RevisionId};
use cairn_transfer::Transfer;
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{Mutex as AsyncMutex, broadcast};

/// A running engine's parts. Each keeps its own lock, which is held for moments only.
pub(crate) struct Engine {
    pub(crate) index: Arc<Index>,
    pub(crate) api: Arc<Api>,
    /// The same, for steps other than transfers: others wait for those, so it does not retry for long.
    pub(crate) structure_api: Api,
    pub(crate) transfer: Arc<Transfer>,
    pub(crate) keys: Arc<SpaceKeys>,
    pub(crate) device_name: String,
    pub(crate) ports: Ports,
    /// Ids for what this device makes.
    pub(crate) ids: Mutex<IdSeries>,
    pub(crate) events: broadcast::Sender<Event>,
    /// Held by whoever changes the disk together with the index, and by a scan: a scan never sees a
    /// file that was put in place but not yet recorded.
    pub(crate) disk_lock: AsyncMutex<()>,
    pub(crate) health: Mutex<Health>,
    pub(crate) figures: StatusSnapshot,
    pub(crate) running: Arc<RunningTransfers>,
    pub(crate) arriving: Arc<ArrivingNodes>,
    pub(crate) placing: Arc<PlacingNodes>,
    /// The deletions that this engine has tried to take back.
    pub(crate) tried_restores: TriedRestores,
    pub(crate) devices: DeviceNames,
    pub(crate) pauses: Pauses,
    pub(crate) verification: VerificationSetting,
    /// The places of Cairn's own files on this machine, as absolute paths: they are never synced.
    pub(crate) own_places: Vec<PathBuf>,
    /// The service may make new files from equal ones that it has, without an upload.
    pub(crate) server_copies: AtomicBool,
    /// The ends of seals that were known before the service had another history; mostly empty.
    pub(crate) earlier_seals: Mutex<BTreeSet<[u8; 32]>>,
    /// The pages of the change feed that were read since it last came to its end.
    pub(crate) feed_pages: Mutex<Paging>,
    pub(crate) stop: StopSignal,
    /// Folders or settings were changed, and the dispatcher has not read them yet: no further step is
    /// begun before it has.
    pub(crate) reload: AtomicBool,
}

impl Engine {
    /// Returns the id of a new file or folder.
    pub(crate) fn new_node(&self) -> NodeId {
        NodeId(self.ids.lock().draw(|| self.ports.id()))
    }

    /// Returns the id of a new version of a file.
    pub(crate) fn new_revision(&self) -> RevisionId {
        RevisionId(self.ids.lock().draw(|| self.ports.id()))
    }

    pub(crate) fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock()
    }

    /// Returns whether a path is, or lies in, a place of Cairn's own files in a folder.
    pub(crate) fn is_own_place(&self, folder: &FolderRow, path: &Path) -> bool {
        let mut own = self.own_places.iter();
        own.any(|place| place.starts_with(&folder.root) && path.starts_with(place))
    }

    /// Returns whether whatever is being carried out should end at the next safe point.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.stop.is_set() || self.reload.load(Ordering::Acquire)
    }

    pub(crate) fn count(&self, change: impl FnOnce(&mut Counters)) {
        self.figures.count(change);
    }

    /// Adds to the activity, and announces it.
    pub(crate) fn activity(
        &self,
        folder: FolderId,
        kind: ActivityKind,
        path: &str,
        device: Option<String>,
        bytes: u64,
    ) {
        let row = self.activity_row(folder, kind, path, device, bytes);
        if let Err(error) = self.index.write(|db| db.add_activity(&row)) {
            tracing::warn!(%error, "the activity can't be recorded");
        }
        self.announce(row);
    }

    /// Returns an activity of now, for a record that is written with others.
    pub(crate) fn activity_row(
        &self,
        folder: FolderId,
        kind: ActivityKind,
        path: &str,
        device: Option<String>,
        bytes: u64,
    ) -> ActivityRow {
        ActivityRow {
            at_ms: self.ports.clock.now_ms(),
            folder: Some(folder),
            kind,
            path: path.to_owned(),
            device,
            bytes,
        }
    }

    /// Sends a recorded activity to whoever listens.
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

    pub(crate) fn announce_status(&self) {
        drop(self.events.send(Event::Status));
    }

    pub(crate) fn status(&self) -> Status {
        let transfers = self.running.status();
        let remote_calls = self.api.counters().snapshot().requests;
        let health = self.health();
        self.figures.status(transfers, remote_calls, |id, folder| {
            folder.problems = health.groups(id, ProblemGroup::EXAMPLES);
            let examples = folder.problems.iter().flat_map(|group| &group.examples);
            folder.errors = examples.cloned().collect();
            folder.errors.sort();
            folder.free = health.free_bytes(id);
        })
    }
}
