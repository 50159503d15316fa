//! An engine without a network and without a running dispatcher: for tests of its parts.

use crate::dispatcher::Dispatcher;
use crate::engine::Engine;
use crate::folder_rules::present_rules;
use crate::observe::hash::local_stat;
use crate::ports::{Clock, Hint, Ports, Watch, Watched};
use crate::start::{EngineOptions, engine_of};
use crate::step::Ctx;
use async_trait::async_trait;
use cairn_api::{Api, ApiKey, Request, Response, Transport, TransportError};
use cairn_crypto::{SpaceKeys, SystemRandom};
use cairn_index::{
    Db, FolderRow, FolderSettings, Index, IndexError, LocalRow, LocalStat, Skipped, SyncedRow,
};
use cairn_model::{
    DeletionGate, DeviceId, FolderId, Kind, LocalId, Name, NodeId, RelPath, SpaceId,
};
use cairn_platform::{Disk as _, RealDisk};
use cairn_transfer::{Blocking, Options, Transfer};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;

/// A network that can never be reached.
struct NoNetwork;

#[async_trait]
impl Transport for NoNetwork {
    async fn send(&self, _: Request) -> Result<Response, TransportError> {
        Err(TransportError::Connect("there is no network".into()))
    }
}

/// A network that takes every request and never answers.
struct SilentNetwork;

#[async_trait]
impl Transport for SilentNetwork {
    async fn send(&self, _: Request) -> Result<Response, TransportError> {
        std::future::pending().await
    }
}

struct NoWatch;

impl Watch for NoWatch {
    fn watch(&self, _: &Path) -> (UnboundedReceiver<Hint>, Box<dyn Watched>) {
        let (sender, hints) = unbounded_channel();
        (hints, Box::new(Silent(sender)))
    }
}

/// A watched folder in which nothing is ever noticed.
struct Silent(#[expect(dead_code, reason = "keeps the channel open")] UnboundedSender<Hint>);

impl Watched for Silent {
    fn flush(&self, _: u64) -> bool {
        false
    }
}

struct StoppedClock;

impl Clock for StoppedClock {
    fn now_ms(&self) -> i64 {
        1_700_000_000_000
    }

    fn offset_s(&self) -> i32 {
        0
    }
}

/// An engine with one folder, attached to the top of the service, on a real disk.
pub(crate) struct TestEngine {
    pub(crate) options: EngineOptions,
    pub(crate) folder: FolderRow,
    pub(crate) dir: TempDir,
}

impl TestEngine {
    /// Returns one that reaches no service.
    pub(crate) fn new() -> Self {
        Self::over(Arc::new(NoNetwork))
    }

    /// Returns one whose service never answers.
    pub(crate) fn with_silent_service() -> Self {
        Self::over(Arc::new(SilentNetwork))
    }

    /// Returns one that reaches no service, and whose folder asks before many deletions.
    pub(crate) fn with_gate(gate: DeletionGate) -> Self {
        let mut test = Self::new();
        test.folder.settings.gate = Some(gate);
        let FolderRow { id, settings, .. } = &test.folder;
        let set = test
            .options
            .index
            .write(|db| db.set_folder_settings(*id, settings));
        set.unwrap();
        test
    }

    fn over(network: Arc<dyn Transport>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let index = Arc::new(Index::memory().unwrap());
        let folder = index.write(|db| attach_folder(db, dir.path())).unwrap();
        let device = DeviceId::from_random_bytes([1; 16]);
        let auth = Arc::new(ApiKey::new("key"));
        let api = Api::new(network, "http://nowhere", None, auth, device).unwrap();
        let api = Arc::new(api);
        let space = SpaceId::from_random_bytes([2; 16]);
        let keys = Arc::new(SpaceKeys::from_raw(space, 1, &[3; 32]).unwrap());
        let transfer = Transfer::new(
            Arc::clone(&api),
            Arc::clone(&keys),
            device,
            Options {
                blocking: Blocking::Inline,
                ..Options::default()
            },
        );
        let ports = Ports {
            disk: Arc::new(RealDisk::new()),
            watch: Arc::new(NoWatch),
            clock: Arc::new(StoppedClock),
            random: Arc::new(Mutex::new(SystemRandom)),
            threads: false,
        };
        let transfer = Arc::new(transfer);
        let options = EngineOptions::new(index, api, transfer, keys, "here".into(), ports);
        Self {
            options,
            folder,
            dir,
        }
    }

    /// Records a file at the top of the folder that was never synced. Returns its id.
    pub(crate) fn local_file(&self, name: &str, skipped: Skipped) -> LocalId {
        self.local_node(name, Kind::File, skipped)
    }

    /// Records what [`TestEngine::local_file`] does, of either kind.
    pub(crate) fn local_node(&self, name: &str, kind: Kind, skipped: Skipped) -> LocalId {
        let row = LocalRow {
            id: LocalId(0),
            folder: self.folder.id,
            parent: None,
            name: Name::new(name.to_owned()).unwrap(),
            kind,
            stat: LocalStat::default(),
            executable: false,
            hash: None,
            skipped,
        };
        let index = &self.options.index;
        index.write(|db| db.insert_local(&row)).unwrap()
    }

    /// Returns a dispatcher of it that nobody runs, its folder, and the directory that goes when it is dropped.
    pub(crate) fn into_dispatcher(self) -> (Dispatcher, FolderId, TempDir) {
        let (tuning, id) = (self.options.tuning(), self.folder.id);
        let (engine, dir) = self.into_engine();
        let (_, commands) = unbounded_channel();
        let dispatcher = Dispatcher::new(engine, commands, tuning).unwrap();
        (dispatcher, id, dir)
    }

    /// Returns the context of the steps of its folder, and the directory that goes when it is dropped.
    pub(crate) fn into_ctx(self) -> (Ctx, TempDir) {
        let folder = Arc::new(self.folder.clone());
        let (engine, dir) = self.into_engine();
        let rules = present_rules(&engine, &folder, &RelPath::root()).unwrap();
        let ctx = Ctx {
            engine,
            folder,
            rules: Arc::new(rules),
            pause: watch::channel(false).1,
            ended: None,
        };
        (ctx, dir)
    }

    /// Returns the engine and the directory that goes when it is dropped.
    pub(crate) fn into_engine(self) -> (Arc<Engine>, TempDir) {
        (Arc::new(engine_of(self.options)), self.dir)
    }
}

/// Returns the merge base of a file at the top of a folder.
pub(crate) fn synced_file(folder: FolderId, node: NodeId, local: LocalId, name: &str) -> SyncedRow {
    SyncedRow {
        folder,
        node,
        local,
        parent: None,
        name: Name::new(name.to_owned()).unwrap(),
        kind: Kind::File,
        revision: None,
        hash: None,
        size: 1,
        executable: false,
    }
}

fn attach_folder(db: &Db<'_>, root: &Path) -> Result<FolderRow, IndexError> {
    let id = db.add_folder(root.to_str().unwrap(), "/", &FolderSettings::default())?;
    let root = local_stat(&RealDisk::new().stat(root).unwrap());
    db.attach_folder(id, None, root.identity())?;
    Ok(db.folder(id)?.unwrap())
}
