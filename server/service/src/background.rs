//! Background work: deletes what has expired or nothing refers to, and does what is due. Each task reports its runs to
//! the metrics, and a failure to the log.

use crate::compaction;
use crate::error::Result;
use crate::identity::throttle::WINDOW_MS;
use crate::scrub;
use crate::state::ServerState;
use cairn_store::Result as StoreResult;
use std::time::{SystemTime, UNIX_EPOCH};

/// Objects (stored blobs) younger than this may belong to a request whose transaction is not committed yet.
const MIN_OBJECT_AGE_MS: i64 = 3_600_000;

/// Mails are kept for so many days, for whoever asks what became of one.
const MAIL_DAYS: u32 = 30;

/// A kind of background work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Counts that servers share, and their leases.
    Counts,
    /// Responses kept for repeated requests.
    IdempotencyKeys,
    /// Finished deliveries of webhooks.
    Deliveries,
    /// Mails that were sent, kept or given up.
    Mails,
    /// Codes, refresh tokens and logins that have expired.
    Logins,
    /// Uploads that nobody completed in time.
    Uploads,
    /// Subscriptions and payouts that are due.
    Payments,
    /// Accounts whose deletion is due.
    Accounts,
    /// Files that a rule of their owner puts into the trash.
    RetentionRules,
    /// Old revisions (file versions) beyond what the configuration keeps.
    Revisions,
    /// Share links that have expired long ago.
    Shares,
    /// Notifications that were read long ago.
    Notifications,
    /// Former places of files and folders, beyond what is kept of a space.
    Past,
    /// Files and folders that have been in the trash for the time that the configuration gives.
    Trash,
    /// Chunks (encrypted pieces of files) that no file version uses and no upload has announced, and objects of signed
    /// logs that no commit has named in time.
    Chunks,
    /// Chunks that are missing or have other bytes than were stored.
    Scrub,
    /// Objects (stored blobs of chunks) that nothing refers to.
    Objects,
    /// Objects that are mostly unreferenced.
    Compaction,
}

impl Task {
    /// All tasks, in the order in which they run.
    pub(crate) const ALL: [Self; 18] = [
        Self::Counts,
        Self::IdempotencyKeys,
        Self::Deliveries,
        Self::Mails,
        Self::Logins,
        Self::Uploads,
        Self::Payments,
        Self::Accounts,
        Self::RetentionRules,
        Self::Shares,
        Self::Revisions,
        Self::Notifications,
        Self::Past,
        Self::Trash,
        Self::Chunks,
        Self::Scrub,
        Self::Objects,
        Self::Compaction,
    ];
    /// Returns true for one that runs every few minutes. Objects are swept and compacted by plans of their own:
    /// both read all that is stored.
    fn is_frequent(self) -> bool {
        !matches!(self, Self::Objects | Self::Compaction)
    }

    /// Returns the name of the task in metrics and the log.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Counts => "counts",
            Self::IdempotencyKeys => "idempotency_keys",
            Self::Deliveries => "deliveries",
            Self::Mails => "mails",
            Self::Logins => "logins",
            Self::Uploads => "uploads",
            Self::Payments => "payments",
            Self::Accounts => "accounts",
            Self::RetentionRules => "retention_rules",
            Self::Revisions => "revisions",
            Self::Shares => "shares",
            Self::Notifications => "notifications",
            Self::Past => "past",
            Self::Trash => "trash",
            Self::Chunks => "chunks",
            Self::Scrub => "scrub",
            Self::Objects => "objects",
            Self::Compaction => "compaction",
        }
    }
}

/// Runs the frequent tasks, each whatever becomes of the others.
///
/// # Errors
/// The first error of a task.
pub(crate) async fn run_due(state: &ServerState) -> Result<()> {
    let mut outcome = Ok(());
    for task in Task::ALL.into_iter().filter(|task| task.is_frequent()) {
        let ran = run(state, task).await;
        outcome = outcome.and(ran.map(drop));
    }
    outcome
}

/// Runs a task and reports how it went; returns the number of things that it removed.
///
/// # Errors
/// A database or an object store that fails.
pub(crate) async fn run(state: &ServerState, task: Task) -> Result<u64> {
    report(state, task, perform(state, task).await)
}

/// Deletes the objects that nothing refers to and that are older than `before_ms`.
///
/// # Errors
/// A database or an object store that fails.
pub(crate) async fn sweep(state: &ServerState, before_ms: i64) -> Result<u64> {
    report(state, Task::Objects, sweep_objects(state, before_ms).await)
}

fn report(state: &ServerState, task: Task, removed: Result<u64>) -> Result<u64> {
    state
        .metrics
        .note_run(task, state.source.now_ms(), &removed);
    match &removed {
        Ok(0) => {}
        Ok(count) => tracing::info!(task = task.name(), count, "background work is done"),
        Err(error) => tracing::warn!(task = task.name(), %error, "background work failed"),
    }
    removed
}

/// Returns the machine's own time, with which objects are stamped.
pub(crate) fn machine_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(0))
}

async fn sweep_objects(state: &ServerState, before_ms: i64) -> Result<u64> {
    let known = state.store.object_names()?;
    Ok(state.objects.sweep(&known, before_ms).await? as u64)
}

/// Does what the configuration gives a number of days for, unless that is 0.
fn if_enabled(days: u32, work: impl FnOnce(u32) -> StoreResult<u64>) -> Result<u64> {
    if days == 0 {
        return Ok(0);
    }
    Ok(work(days)?)
}

/// Deletes the objects of logs that are no longer needed, some at a time. Returns how many went.
async fn collect_space_objects(state: &ServerState) -> Result<u64> {
    let mut count = 0;
    loop {
        let collected = state.store.collect_space_objects()?;
        state.objects.delete(&collected.files).await;
        count += collected.files.len() as u64;
        if collected.is_done {
            return Ok(count);
        }
    }
}

async fn perform(state: &ServerState, task: Task) -> Result<u64> {
    let (store, expiry) = (&state.store, state.options.expiry);
    match task {
        Task::Counts => {
            let failures_before = state.source.now_ms() - WINDOW_MS;
            Ok(store.forget_old_counts(failures_before)? + store.forget_old_leases()?)
        }
        Task::IdempotencyKeys => {
            state.kept.forget_old(state.source.now_ms());
            Ok(store.forget_old_responses()?)
        }
        Task::Deliveries => Ok(store.forget_old_deliveries()?),
        Task::Mails => Ok(store.forget_old_mails(MAIL_DAYS)?),
        Task::Logins => Ok(store.forget_old_logins()?),
        Task::Uploads => {
            let expired = store.expire_uploads()?;
            state.objects.delete(&expired.objects).await;
            Ok(expired.uploads)
        }
        Task::Payments => {
            store.run_due_payments(state.options.limits.storage)?;
            Ok(0)
        }
        Task::Accounts => {
            let purged = store.purge_accounts()?;
            state.objects.delete(&purged.objects).await;
            Ok(purged.nodes)
        }
        Task::RetentionRules => Ok(store.apply_retention()?),
        Task::Revisions => {
            let pruned = store.prune_revisions(state.options.revisions)?;
            state.objects.delete(&pruned.objects).await;
            Ok(pruned.revisions)
        }
        Task::Shares => if_enabled(expiry.share_days, |days| store.forget_expired_shares(days)),
        Task::Notifications => if_enabled(expiry.notification_days, |days| {
            store.forget_old_notifications(days)
        }),
        Task::Past => Ok(store.forget_old_past()?),
        Task::Trash => {
            if expiry.trash_days == 0 {
                return Ok(0);
            }
            let purged = store.expire_trash(expiry.trash_days)?;
            state.objects.delete(&purged.objects).await;
            Ok(purged.nodes)
        }
        Task::Chunks => {
            let collected = store.collect_chunks()?;
            state.objects.delete(&collected.objects).await;
            Ok(collected.chunks + collect_space_objects(state).await?)
        }
        Task::Scrub => match state.options.scrub_days {
            0 => Ok(0),
            days => {
                // Nothing is removed; what is found has a count of its own.
                scrub::go_on(state.stored_chunks(), days, state.source.now_ms()).await?;
                Ok(0)
            }
        },
        Task::Objects => sweep_objects(state, machine_ms() - MIN_OBJECT_AGE_MS).await,
        Task::Compaction => Ok(compaction::compact_large(state).await? as u64),
    }
}
