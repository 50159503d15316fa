//! The one actor that owns the engine's state: takes events in one order, and turns the wheel —
//! look, catch up, plan, carry out — until there is nothing left to do.

mod folders;
mod inbox;
mod plans;
mod settle;
mod turn;

use crate::error::EngineError;
use crate::gate::Flow;
use crate::handle::Command;
use crate::observe::rules::Rules;
use crate::ports::Hint;
use crate::shared::{Key, Locks, Shared, Tuning};
use crate::step::Ctx;
use cairn_index::FolderRow;
use cairn_model::{FolderId, LocalId, RelPath};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::executor::{Outcome, Work};

/// A missing file is looked for once more after this long, before it counts as deleted: it may be
/// on its way to a place that the scan had already passed.
const GRACE: Duration = Duration::from_millis(250);
/// Changes that don't end are looked at after this long all the same.
const LONGEST_DEBOUNCE: Duration = Duration::from_secs(1);
/// A folder whose root is not there is looked at again this often.
const ROOT_RETRY: Duration = Duration::from_secs(5);
/// Pauses between tries to reach the service.
const FIRST_RETRY: Duration = Duration::from_millis(500);
const LONGEST_RETRY: Duration = Duration::from_secs(30);
/// While transfers run, planning rests this many times as long as it took.
const REST: u32 = 5;
/// Counting a folder's files does, too; nothing but the status waits for it.
const TOTALS_REST: u32 = 30;
/// The feed is asked this often even if its stream is silent.
const POLL: Duration = Duration::from_secs(60);

/// What the dispatcher knows of one folder.
struct Folder {
    row: Arc<FolderRow>,
    rules: Arc<Rules>,
    /// Keeps the watcher running.
    _watch: Box<dyn Send + Sync>,
    /// Watching does not work here: scan on a timer.
    blind: Option<String>,
    whole: bool,
    /// The rules file has changed: everything is looked at when the burst is over.
    rules_hint: bool,
    dirs: BTreeSet<RelPath>,
    /// When the first and the last hint of the present burst came.
    burst: Option<(Instant, Instant)>,
    /// Rows that a scan missed, since when; and where and when to look again.
    missing: BTreeMap<LocalId, Instant>,
    again: Option<(Instant, BTreeSet<RelPath>)>,
    next_rescan: Instant,
    root_retry: Option<Instant>,
    /// Its remote folder can't be had; tried again whenever the feed is asked.
    unlinkable: bool,
    plan_due: bool,
    /// While transfers run, no plan is made before this: planning must not crowd them out.
    next_plan: Instant,
    queue: VecDeque<Work>,
    in_flight: u64,
    waiting: u64,
    deletions: Flow,
    /// Tells running transfers of this folder that it is paused.
    pause: watch::Sender<bool>,
    totals_due: bool,
    /// While transfers run, no totals are counted before this.
    next_totals: Instant,
}

/// A finished work.
struct Done {
    folder: FolderId,
    keys: Vec<Key>,
    count: u64,
    outcomes: Vec<Outcome>,
}

pub(crate) struct Dispatcher {
    shared: Arc<Shared>,
    tuning: Tuning,
    commands: mpsc::UnboundedReceiver<Command>,
    hints: mpsc::UnboundedReceiver<(FolderId, Hint)>,
    hint_sender: mpsc::UnboundedSender<(FolderId, Hint)>,
    feed: mpsc::UnboundedReceiver<()>,
    feed_sender: mpsc::UnboundedSender<()>,
    stream: Option<tokio::task::JoinHandle<()>>,
    folders: BTreeMap<FolderId, Folder>,
    jobs: JoinSet<Done>,
    locks: Locks,
    reload: bool,
    remote_due: bool,
    remote_retry: Option<(Instant, Duration)>,
    next_poll: Instant,
    devices_due: bool,
    settle: settle::Settling,
}

impl Dispatcher {
    pub(crate) fn new(
        shared: Arc<Shared>,
        commands: mpsc::UnboundedReceiver<Command>,
        tuning: Tuning,
    ) -> Result<Self, EngineError> {
        let (hint_sender, hints) = mpsc::unbounded_channel();
        let (feed_sender, feed) = mpsc::unbounded_channel();
        let mut dispatcher = Self {
            shared,
            tuning,
            commands,
            hints,
            hint_sender,
            feed,
            feed_sender,
            stream: None,
            folders: BTreeMap::new(),
            jobs: JoinSet::new(),
            locks: Locks::new(),
            reload: false,
            remote_due: true,
            remote_retry: None,
            next_poll: Instant::now() + POLL,
            devices_due: true,
            settle: settle::Settling::default(),
        };
        dispatcher.load_folders()?;
        dispatcher.update_board();
        Ok(dispatcher)
    }

    pub(crate) async fn run(mut self) {
        while !self.shared.is_stopping() {
            let again = {
                let shared = Arc::clone(&self.shared);
                let stopped = shared.stop.notified();
                tokio::pin!(stopped);
                tokio::select! {
                    biased;
                    () = &mut stopped => break,
                    again = self.turn() => again,
                }
            };
            self.update_board();
            if again {
                // Others run between two turns.
                tokio::task::yield_now().await;
                continue;
            }
            self.answer_settled();
            self.wait().await;
        }
        self.jobs.shutdown().await;
        if let Some(stream) = self.stream.take() {
            stream.abort();
        }
        self.settle.drop_all();
    }

    fn ctx(&self, id: FolderId) -> Option<Ctx> {
        let folder = self.folders.get(&id)?;
        Some(Ctx {
            shared: Arc::clone(&self.shared),
            folder: Arc::clone(&folder.row),
            rules: Arc::clone(&folder.rules),
            pause: folder.pause.subscribe(),
        })
    }

    fn is_paused(&self, folder: &Folder) -> bool {
        let now = self.shared.ports.clock.now_ms();
        let settings = &folder.row.settings;
        settings.paused && settings.paused_until.is_none_or(|until| until > now)
    }
}
