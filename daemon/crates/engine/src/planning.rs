//! Plans of one folder: the trees of the index and a policy go to the planner, which asks for the facts that it
//! lacks until it has them all.

mod aliases;
mod departed;
mod facts;
mod trees;
mod unsealed_bits;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::key::{Key, LockedKeys};
use crate::observe::rules::Rules;
use crate::record;
use crate::restored;
use crate::selection;
use aliases::Aliases;
use cairn_index::{Db, Dirty, FolderRow, IndexError, PlanSizes, Round, Worklist};
use cairn_model::{FolderId, NodeId, RESTORED, RelPath};
use cairn_plan::{Plan, Policy, Trees, reconcile};
use facts::supply;
use std::collections::BTreeSet;
use std::sync::Arc;
use time::{OffsetDateTime, UtcOffset};
use trees::trees;

/// Facts are asked for in rounds; each brings all that a plan needs, so two or three suffice.
const ROUNDS: u32 = 20;

/// A plan with the folder as it was when it was made.
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    /// Local files and nodes about which a fact can't be found out now: they wait.
    pub(crate) unknown: BTreeSet<Key>,
    /// The dirty keys that the plan is about.
    pub(crate) worklist: Worklist,
}

/// The part of what is dirty that a plan is about.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The round so far.
    pub(crate) round: Round,
    pub(crate) sizes: PlanSizes,
    /// Goes on with what is left of the round, beside what is new.
    pub(crate) with_left: bool,
    /// Keys that failed and are to be tried again.
    pub(crate) retried: Dirty,
    /// Keys that running transfers use: nothing waits for their nodes to come back.
    pub(crate) locked: LockedKeys,
}

impl Part {
    fn worklist(
        &self,
        db: &Db<'_>,
        folder: FolderId,
        aliases: &Aliases,
    ) -> Result<Worklist, IndexError> {
        let mut list = db.worklist(folder, self.round, self.sizes, self.with_left)?;
        if !list.is_whole {
            list.add(db.still_dirty(folder, &self.retried)?);
            let in_the_way = aliases::keys(db, aliases)?;
            list.add(db.still_dirty(folder, &in_the_way)?);
        }
        Ok(list)
    }
}

/// The parts of a plan that wait for a person.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct BlockedChanges {
    pub(crate) local_deletions: bool,
    pub(crate) remote_deletions: bool,
    /// Nodes whose version on the service is neither overwritten nor deleted.
    pub(crate) overwrites: BTreeSet<NodeId>,
}

/// Makes a plan for everything that is dirty in a folder, or where that is much for a part.
///
/// # Errors
/// Returns the error of the index, or of the network when a manifest is needed.
pub(crate) async fn plan_folder(
    engine: &Arc<Engine>,
    folder: &FolderRow,
    rules: &Rules,
    blocked: BlockedChanges,
    part: &Part,
) -> Result<Planned, EngineError> {
    let policy = policy(engine, folder, blocked)?;
    let mut unknown = BTreeSet::new();
    for _ in 0..ROUNDS {
        let (read, returned) = engine.index.write(|db| {
            // Whichever response or page has shown a place of ours: no plan takes it for somebody else's.
            record::end_known_places(db, folder.id, engine.api.device())?;
            let returned = engine.tried_restores.keep_missing(db, folder.id)?;
            let read = read_trees(engine, db, folder, rules, part, &unknown)?;
            Ok((read, returned))
        })?;
        engine.tried_restores.end(folder.id, &returned);
        let mut plan = reconcile(&read.trees, &policy);
        if plan.needs.is_empty() {
            let index = &engine.index;
            index.read(|db| unsealed_bits::send_with_content(engine, db, folder, &mut plan))?;
            departed::mark_undone(engine, folder.id, &read.below, (&plan, &unknown))?;
            return Ok(Planned {
                plan,
                unknown,
                worklist: read.worklist,
            });
        }
        supply(engine, folder, &plan.needs, &mut unknown).await?;
    }
    Err(EngineError::ReplanExhausted)
}

/// The trees of a plan, and the keys that it is about.
struct ReadTrees {
    trees: Trees,
    worklist: Worklist,
    /// The keys that the plan only needs to know: all in folders that have left.
    below: Dirty,
}

/// Reads the trees of a plan, and the keys that it is about.
fn read_trees(
    engine: &Engine,
    db: &Db<'_>,
    folder: &FolderRow,
    rules: &Rules,
    part: &Part,
    unknown: &BTreeSet<Key>,
) -> Result<ReadTrees, IndexError> {
    let aliases = aliases::find(engine, db, folder)?;
    let mut list = part.worklist(db, folder.id, &aliases)?;
    let mut snapshot = db.snapshot(folder, &list)?;
    if selection::unlink_ignored(db, folder, rules, &snapshot)? {
        list = part.worklist(db, folder.id, &aliases)?;
        snapshot = db.snapshot(folder, &list)?;
    }
    let mut read = trees(engine, db, folder, rules, snapshot, unknown)?;
    let below = departed::all_below(db, folder.id, &read)?;
    if list.add(below.clone()) {
        let snapshot = db.snapshot(folder, &list)?;
        read = trees(engine, db, folder, rules, snapshot, unknown)?;
    }
    let is_free = |node: &NodeId| !part.locked.contains(&Key::Node(*node));
    read.trashed.retain(is_free);
    read.aliases = aliases;
    Ok(ReadTrees {
        trees: read,
        worklist: list,
        below,
    })
}

fn policy(
    engine: &Engine,
    folder: &FolderRow,
    blocked: BlockedChanges,
) -> Result<Policy, IndexError> {
    let restored = engine
        .index
        .read(|db| restored::history_id(db, folder.id))?;
    let (device, stamp) = match restored {
        Some(history) => (RESTORED.to_owned(), history),
        None => (engine.device_name.clone(), stamp(engine)),
    };
    Ok(Policy {
        mode: folder.settings.mode,
        device,
        stamp,
        block_local_deletions: blocked.local_deletions,
        block_remote_deletions: blocked.remote_deletions,
        held: blocked.overwrites,
    })
}

/// Returns the present in local time, as `YYYY-MM-DD HHMMSS`.
pub(crate) fn stamp(engine: &Engine) -> String {
    let now = OffsetDateTime::from_unix_timestamp(engine.ports.clock.now_ms().div_euclid(1000))
        .unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let offset =
        UtcOffset::from_whole_seconds(engine.ports.clock.offset_s()).unwrap_or(UtcOffset::UTC);
    let at = now.to_offset(offset);
    let (hour, minute, second) = at.to_hms();
    format!(
        "{:04}-{:02}-{:02} {hour:02}{minute:02}{second:02}",
        at.year(),
        u8::from(at.month()),
        at.day()
    )
}

/// Returns a node's path in the folder, for people.
pub(crate) fn remote_path(engine: &Engine, folder: &FolderRow, node: NodeId) -> String {
    let path: Option<RelPath> = engine
        .index
        .read(|db| db.remote_path_in(folder, node))
        .ok()
        .flatten();
    path.map_or_else(|| node.to_string(), |p| p.to_string())
}
