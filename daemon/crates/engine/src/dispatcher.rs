//! The one actor that owns the engine's state: takes events in one order, and repeats scan, poll, plan
//! and execute until there is nothing left to do.

mod attach;
mod checkpoints;
mod cleaning;
mod commands;
mod events;
mod figures;
mod folder;
mod folders;
mod fresh_look;
mod gone_files;
mod heads;
mod healing;
mod idle;
mod in_the_way;
mod invalid_names;
mod lanes;
mod new_chances;
mod plans;
mod poll;
mod resting;
mod retries;
mod retry_pause;
mod root;
mod rules;
mod scanning;
mod schedule;
mod silence;
mod stream;
mod structure;
mod taken_there;
mod tick;
mod waiters;

use crate::checkpoints::{Compared, OwnCheckpoint};
use crate::command::Command;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::healing::Unhealable;
use crate::key::LockedKeys;
use crate::overall_progress::Amount;
use crate::ports::Hint;
use crate::step::Ctx;
use crate::work::TransferResult;
use cairn_index::PlanSizes;
use cairn_model::FolderId;
use folder::Folder;
use lanes::Lanes;
use poll::Polled;
use retry_pause::Pause;
use schedule::Timing;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use structure::Executed;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use waiters::{IdleWaiters, PollWaiters};

/// The time after the start at which the service is first asked what it has lost.
const FIRST_HEALING: Duration = Duration::from_secs(60);
/// The time after the start at which views are first compared with other devices.
const FIRST_COMPARISON: Duration = Duration::from_secs(60);
/// The feed is polled this often even if its stream is silent.
const POLL: Duration = Duration::from_secs(60);

/// The dispatcher's settings.
pub(crate) struct Tuning {
    pub(crate) rescan_every: Duration,
    pub(crate) debounce: Duration,
    pub(crate) stream: bool,
    pub(crate) checkpoints: bool,
    pub(crate) parallel: usize,
    pub(crate) plan_sizes: PlanSizes,
    pub(crate) long_scan: Duration,
}

impl Tuning {
    fn timing(&self) -> Timing {
        Timing {
            rescan_every: self.rescan_every,
            debounce: self.debounce,
        }
    }
}

/// A finished work item: the result of each of its transfers.
struct Done {
    folder: FolderId,
    results: Vec<TransferResult>,
}

pub(crate) struct Dispatcher {
    engine: Arc<Engine>,
    tuning: Tuning,
    commands: mpsc::UnboundedReceiver<Command>,
    hints: mpsc::UnboundedReceiver<(FolderId, Hint)>,
    hint_sender: mpsc::UnboundedSender<(FolderId, Hint)>,
    feed: mpsc::UnboundedReceiver<()>,
    feed_sender: mpsc::UnboundedSender<()>,
    stream: Option<tokio::task::JoinHandle<()>>,
    folders: BTreeMap<FolderId, Folder>,
    transfers: JoinSet<Done>,
    structure: JoinSet<Executed>,
    lanes: Lanes,
    /// Transfers that have succeeded since the start.
    transferred: Amount,
    /// The transfers of the last time that memory was given back.
    transferred_at_rest: u64,
    /// A whole folder was scanned since then.
    has_scanned: bool,
    locked: LockedKeys,
    /// Folders or settings were changed in the index.
    reload: bool,
    poll_due: bool,
    /// The poll that runs: one at the most.
    polls: JoinSet<Polled>,
    /// A poll has ended since the start.
    has_polled: bool,
    /// A poll has ended, and no folder was planned since: the next poll waits for that.
    news_unplanned: bool,
    /// Pages of the feed are missing: no plan may be made of the state in between.
    feed_incomplete: bool,
    /// The pause after a failure that concerns all folders.
    retry: Option<Pause>,
    /// The last tries in a row that failed because the service refuses this device's login. One alone is often
    /// about a token that is renewed.
    refused_logins: u32,
    /// The pause after the service has refused all steps for now, such as when it is overloaded.
    steps_pause: Option<Pause>,
    next_poll: Instant,
    next_emptying: Instant,
    /// The time at which first bytes of files are looked at, for the gate before overwriting.
    next_heads: Instant,
    /// The time at which the service is asked what it has lost.
    next_healing: Instant,
    /// The task that sends it again.
    healing: JoinSet<()>,
    unhealable: Unhealable,
    /// The time at which this device's view is compared with those of others, and the earliest one after a change.
    next_comparison: Instant,
    not_compared_before: Instant,
    /// The task that compares them, and when it began.
    comparing: JoinSet<Option<Compared>>,
    comparing_since: Instant,
    own_checkpoint: OwnCheckpoint,
    waiters: IdleWaiters,
    /// The number of times that watchers were asked for what they owe.
    flushes: u64,
    poll_waiters: PollWaiters,
}

impl Dispatcher {
    pub(crate) fn new(
        engine: Arc<Engine>,
        commands: mpsc::UnboundedReceiver<Command>,
        tuning: Tuning,
    ) -> Result<Self, EngineError> {
        let (hint_sender, hints) = mpsc::unbounded_channel();
        let (feed_sender, feed) = mpsc::unbounded_channel();
        let mut dispatcher = Self {
            engine,
            tuning,
            commands,
            hints,
            hint_sender,
            feed,
            feed_sender,
            stream: None,
            folders: BTreeMap::new(),
            transfers: JoinSet::new(),
            structure: JoinSet::new(),
            lanes: Lanes::default(),
            transferred: Amount::default(),
            transferred_at_rest: 0,
            has_scanned: false,
            locked: LockedKeys::new(),
            reload: false,
            poll_due: true,
            polls: JoinSet::new(),
            has_polled: false,
            news_unplanned: false,
            feed_incomplete: false,
            retry: None,
            refused_logins: 0,
            steps_pause: None,
            next_poll: Instant::now() + POLL,
            next_emptying: Instant::now(),
            next_heads: Instant::now(),
            next_healing: Instant::now() + FIRST_HEALING,
            healing: JoinSet::new(),
            unhealable: Unhealable::default(),
            next_comparison: Instant::now() + FIRST_COMPARISON,
            not_compared_before: Instant::now(),
            comparing: JoinSet::new(),
            comparing_since: Instant::now(),
            own_checkpoint: OwnCheckpoint::default(),
            waiters: IdleWaiters::default(),
            flushes: 0,
            poll_waiters: PollWaiters::default(),
        };
        dispatcher.load_folders()?;
        dispatcher.update_status();
        Ok(dispatcher)
    }

    pub(crate) async fn run(mut self) {
        while !self.engine.stop.is_set() {
            let again = {
                let engine = Arc::clone(&self.engine);
                let stopped = engine.stop.wait();
                tokio::pin!(stopped);
                tokio::select! {
                    biased;
                    () = &mut stopped => break,
                    again = self.tick() => again,
                }
            };
            self.update_status();
            if again {
                // Others run between two ticks.
                tokio::task::yield_now().await;
                continue;
            }
            self.notify_idle();
            self.rest().await;
            self.wait().await;
        }
        self.polls.shutdown().await;
        self.transfers.shutdown().await;
        self.structure.shutdown().await;
        self.healing.shutdown().await;
        self.comparing.shutdown().await;
        self.waiters.drop_all();
        self.poll_waiters.drop_all();
    }

    fn ctx(&self, id: FolderId) -> Option<Ctx> {
        let folder = self.folders.get(&id)?;
        Some(Ctx {
            engine: Arc::clone(&self.engine),
            folder: Arc::clone(&folder.row),
            rules: Arc::clone(folder.rules.rules()),
            pause: folder.pause.subscribe(),
            ended: None,
        })
    }
}

impl Drop for Dispatcher {
    /// Ends the stream's task also where the dispatcher is aborted: it would keep the engine until the next event.
    fn drop(&mut self) {
        if let Some(stream) = &self.stream {
            stream.abort();
        }
    }
}
