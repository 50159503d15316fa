//! The gate before mass overwriting: where the contents of many files turn into bytes that can't be told from
//! random ones, as ransomware makes them, sending these over the service's versions waits for a person.
//!
//! Each file that a plan would send over another version, or in place of one that it deletes, is judged by its
//! first bytes (its head) and by what those of the version in sync were. Builds, other branches and unpacked
//! archives overwrite many files, too, but with contents that have a structure.

#[cfg(test)]
mod real_trees;
#[cfg(test)]
mod tests;

use super::head::head_of_file;
use crate::engine::Engine;
use crate::error::EngineError;
use cairn_index::{Db, FolderRow, Head, IndexError, LocalRow, LocalStat};
use cairn_model::{DeletionGate, Kind, LocalId, NodeId};
use cairn_plan::{Plan, Step};
use cairn_platform::Disk;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The number of files from which a person is asked in any folder.
const MANY: u64 = 20;
/// The number in a small folder, if they are the gate's share of its files.
const SEVERAL: u64 = 5;
/// Files that were sent longer ago don't count.
const MEMORY: Duration = Duration::from_secs(3600);
/// Files whose first bytes are read in one go.
const HEADS_TOGETHER: usize = 2_000;

/// The overwriting of a folder's files as it comes.
#[derive(Debug, Default)]
pub(crate) struct OverwriteFlow {
    /// The heads (kinds of the first bytes) of the files of the last plan, and the stats with which they were read.
    heads: BTreeMap<LocalId, (LocalStat, Head)>,
    /// Nodes whose contents turned into noise and were let through, by the first time.
    passed: BTreeMap<NodeId, Instant>,
}

/// A file that would take the place of the service's version.
struct Overwrite {
    node: NodeId,
    local: LocalId,
    stat: LocalStat,
    path: PathBuf,
    /// The head of the version in sync; `None`: not looked at yet.
    before: Option<Head>,
}

/// The files of a plan whose contents look, or may look, encrypted.
#[derive(Default)]
struct Classified {
    /// Nodes whose contents had a structure, and have none any more.
    turned: BTreeSet<NodeId>,
    /// Nodes that may be among those: what they are, or were, is not known.
    unknown: BTreeSet<NodeId>,
}

impl OverwriteFlow {
    /// Forgets what was let through: a person has decided.
    pub(crate) fn forget(&mut self) {
        self.passed.clear();
    }

    /// Returns the number of files that have turned into noise lately, those of this plan among them.
    fn count(&mut self, turned: &BTreeSet<NodeId>, now: Instant) -> u64 {
        self.passed.retain(|_, at| *at + MEMORY > now);
        let earlier = self.passed.keys().filter(|node| !turned.contains(node));
        earlier.chain(turned).map(|_| 1).sum()
    }

    /// Reads the first bytes of files, unless they are known from the plan before.
    async fn refresh_heads(&mut self, engine: &Arc<Engine>, files: &[Overwrite]) {
        let known = std::mem::take(&mut self.heads);
        let mut unread = Vec::new();
        for file in files {
            match known.get(&file.local) {
                Some((stat, head)) if *stat == file.stat => {
                    self.heads.insert(file.local, (*stat, *head));
                }
                Some(_) | None => unread.push((file.local, file.stat, file.path.clone())),
            }
        }
        // All of them, however many: a file that nobody looked at would pass.
        for some in unread.chunks(HEADS_TOGETHER) {
            let (disk, some) = (Arc::clone(&engine.ports.disk), some.to_vec());
            let read = move || read_heads(&*disk, some);
            self.heads.extend(engine.ports.run_blocking(read).await);
        }
    }

    fn classify(&self, files: &[Overwrite]) -> Classified {
        let mut classified = Classified::default();
        for file in files {
            let now = self.heads.get(&file.local).map(|(_, head)| *head);
            match (file.before, now) {
                (Some(Head::Structured), Some(Head::Noise)) => classified.turned.insert(file.node),
                (None, Some(Head::Noise)) | (Some(Head::Structured) | None, None) => {
                    classified.unknown.insert(file.node)
                }
                (_, Some(Head::Short | Head::Structured))
                | (Some(Head::Short | Head::Noise), Some(Head::Noise) | None) => continue,
            };
        }
        classified
    }
}

/// A file that is to be looked at, with the stat that it has to have.
type Unread = (LocalId, LocalStat, PathBuf);

/// Returns the heads of the files that can be read and are as they were scanned.
fn read_heads(disk: &dyn Disk, unread: Vec<Unread>) -> Vec<(LocalId, (LocalStat, Head))> {
    let heads = unread.into_iter().filter_map(|(local, stat, path)| {
        match head_of_file(disk, &path, &stat) {
            Ok(head) => head.map(|head| (local, (stat, head))),
            Err(error) => {
                tracing::debug!(%error, "the first bytes of a file can't be read");
                None
            }
        }
    });
    heads.collect()
}

/// Checks the overwriting of a plan. Returns the nodes that wait for a person; a plan with any has to be made
/// again with those held.
///
/// # Errors
/// Returns the error of the index.
pub(crate) async fn check(
    engine: &Arc<Engine>,
    folder: &FolderRow,
    flow: &mut OverwriteFlow,
    plan: &Plan,
) -> Result<BTreeSet<NodeId>, EngineError> {
    let gate = folder.settings.gate;
    withdraw_restored(engine, folder)?;
    let (files, waiting) = engine.index.read(|db| {
        let waiting = db.waiting_overwrites(folder.id)?;
        let mut files = Vec::new();
        if gate.is_some() {
            files = overwrites(db, folder, plan)?;
            files.extend(replacements(db, folder, plan)?);
        }
        Ok((files, waiting))
    })?;
    flow.refresh_heads(engine, &files).await;
    let classified = flow.classify(&files);
    let now = Instant::now();
    let count = flow.count(&classified.turned, now);
    let is_many = match gate {
        Some(gate) if !classified.turned.is_empty() => {
            engine.index.read(|db| is_many(db, folder, count, gate))?
        }
        Some(_) | None => false,
    };
    // Once asked, it stays asked as long as anything is left of it: encrypting a few back and forth must not slip
    // the rest through.
    let held: BTreeSet<NodeId> = match !waiting.is_empty() || is_many {
        true => classified
            .turned
            .union(&classified.unknown)
            .copied()
            .collect(),
        false => BTreeSet::new(),
    };
    if held != waiting {
        let write = |db: &Db<'_>| db.put_waiting_overwrites(folder.id, &held);
        engine.index.write(write)?;
    }
    if held.is_empty() {
        for node in classified.turned {
            flow.passed.entry(node).or_insert(now);
        }
    } else if waiting.is_empty() {
        tracing::warn!(
            files = held.len(),
            folder = %folder.root,
            "many files have turned into what looks encrypted; nothing is overwritten with them before a person agrees"
        );
    }
    Ok(held)
}

/// Ends the agreements about files that were restored instead of sent: what turns later is asked about anew.
fn withdraw_restored(engine: &Engine, folder: &FolderRow) -> Result<(), IndexError> {
    let restored = engine.index.read(|db| db.restored_overwrites(folder.id))?;
    if restored.is_empty() {
        return Ok(());
    }
    engine.index.write(|db| {
        for node in restored {
            db.withdraw_overwrite(folder.id, node)?;
        }
        Ok(())
    })
}

fn is_many(
    db: &Db<'_>,
    folder: &FolderRow,
    files: u64,
    gate: DeletionGate,
) -> Result<bool, IndexError> {
    if !(SEVERAL..MANY).contains(&files) {
        return Ok(files >= MANY);
    }
    let total = db.unconfirmed_files(folder.id)?;
    Ok(files.saturating_mul(100) > total.saturating_mul(u64::from(gate.percent)))
}

/// Returns the files that a plan would send over versions of the service, but for those that a person has agreed
/// to, and those that tell nothing.
fn overwrites(db: &Db<'_>, folder: &FolderRow, plan: &Plan) -> Result<Vec<Overwrite>, IndexError> {
    let mut out = Vec::new();
    for step in &plan.steps {
        if let Step::Upload {
            local,
            over: Some(node),
            ..
        } = step
            && let Some(row) = db.local_row(*local)?
        {
            out.extend(overwrite(db, folder, *node, &row)?);
        }
    }
    Ok(out)
}

/// Returns the files that a plan would delete on the service and that have another one beside them with their name
/// and one more ending: that is how a file looks that was encrypted into a new one.
fn replacements(
    db: &Db<'_>,
    folder: &FolderRow,
    plan: &Plan,
) -> Result<Vec<Overwrite>, IndexError> {
    let mut siblings: BTreeMap<Option<LocalId>, Vec<LocalRow>> = BTreeMap::new();
    let mut out = Vec::new();
    for deletion in &plan.remote_deletions {
        let Some(base) = db.synced_row(folder.id, deletion.node)? else {
            continue;
        };
        let parent = match base.parent {
            parent if parent == folder.remote_node.flatten() => None,
            Some(parent) => match db.synced_row(folder.id, parent)? {
                Some(parent) => Some(parent.local),
                None => continue,
            },
            None => continue,
        };
        let siblings = match siblings.entry(parent) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(db.children(folder.id, parent)?),
        };
        let begin = format!("{}.", base.name);
        // They are in the order of their names.
        let from = siblings.partition_point(|row| row.name.as_str() < begin.as_str());
        let longer = siblings[from..].iter();
        let mut longer = longer.take_while(|row| row.name.as_str().starts_with(&begin));
        if let Some(row) = longer.find(|row| row.kind == Kind::File) {
            out.extend(overwrite(db, folder, deletion.node, row)?);
        }
    }
    Ok(out)
}

/// Returns what is judged of a node and the file that would take its place; `None` if that tells nothing, or a
/// person has agreed to it.
fn overwrite(
    db: &Db<'_>,
    folder: &FolderRow,
    node: NodeId,
    row: &LocalRow,
) -> Result<Option<Overwrite>, IndexError> {
    let Some(facts) = db.overwrite_facts(folder.id, node)? else {
        return Ok(None);
    };
    if facts.confirmed || matches!(facts.head, Some(Head::Short | Head::Noise)) {
        return Ok(None);
    }
    let path = db.local_path(row.id)?;
    Ok(path.map(|path| Overwrite {
        node,
        local: row.id,
        stat: row.stat,
        path: path.to_path(Path::new(&folder.root)),
        before: facts.head,
    }))
}
