//! The comparison of both sides of a pair with their merge base, under a mode.

#[cfg(test)]
mod tests;

use super::super::walk::Walk;
use cairn_index::{FolderRow, LocalRow, RemoteRow, Skipped, Snapshot, SyncedRow};
use cairn_model::{Kind, LocalId, Name, NodeId, RelPath, SyncMode};
use cairn_space::FileCount;
use std::collections::BTreeMap;

/// More folders above a file are taken for a circle.
const MAX_DEPTH: usize = 10_000;

/// The changes that a mode makes to a pair.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Changes {
    pub(super) upload: FileCount,
    pub(super) download: FileCount,
    pub(super) delete_local: FileCount,
    pub(super) delete_remote: FileCount,
    pub(super) move_local: FileCount,
    pub(super) move_remote: FileCount,
    /// Files whose executable bit alone changes.
    pub(super) executable_local: FileCount,
    pub(super) executable_remote: FileCount,
    pub(super) conflicts: FileCount,
    /// Differing files about which the mode does nothing.
    pub(super) unchanged: FileCount,
    pub(super) equal: FileCount,
}

impl Changes {
    fn count_of(&mut self, effect: Effect) -> &mut FileCount {
        match effect {
            Effect::Upload => &mut self.upload,
            Effect::Download => &mut self.download,
            Effect::DeleteLocal => &mut self.delete_local,
            Effect::DeleteRemote => &mut self.delete_remote,
            Effect::MoveLocal => &mut self.move_local,
            Effect::MoveRemote => &mut self.move_remote,
            Effect::ExecutableLocal => &mut self.executable_local,
            Effect::ExecutableRemote => &mut self.executable_remote,
            Effect::Conflict => &mut self.conflicts,
            Effect::None => &mut self.unchanged,
            Effect::Equal => &mut self.equal,
        }
    }
}

/// The effect of a mode on one file, or the move of one file or folder.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Effect {
    Upload,
    Download,
    DeleteLocal,
    DeleteRemote,
    MoveLocal,
    MoveRemote,
    ExecutableLocal,
    ExecutableRemote,
    Conflict,
    None,
    Equal,
}

impl Effect {
    /// Returns this effect if the mode has it.
    fn if_in(self, mode: SyncMode) -> Self {
        let (sends, receives) = (mode != SyncMode::Download, mode != SyncMode::Upload);
        let is_done = match self {
            Self::Upload | Self::DeleteRemote | Self::MoveRemote | Self::ExecutableRemote => sends,
            Self::Download | Self::DeleteLocal | Self::MoveLocal | Self::ExecutableLocal => {
                receives
            }
            Self::Conflict => sends && receives,
            Self::None | Self::Equal => true,
        };
        if is_done { self } else { Self::None }
    }
}

/// Compares both sides of a pair with their merge base.
pub(super) fn changes(
    row: &FolderRow,
    trees: &Snapshot,
    mode: SyncMode,
    walk: &mut Walk,
) -> Changes {
    let mut comparison = Comparison {
        base: row.remote_node.flatten(),
        trees,
        mode,
        walk,
        found: Vec::new(),
    };
    let node_of: BTreeMap<LocalId, NodeId> = (trees.synced.values())
        .map(|synced| (synced.local, synced.node))
        .collect();
    for synced in trees.synced.values() {
        comparison.compare_synced(synced, &node_of);
    }
    comparison.compare_unsynced(&node_of);
    let mut found = comparison.found;
    // The first of them are named.
    found.sort();
    let mut changes = Changes::default();
    for (path, bytes, effect) in found {
        changes.count_of(effect).add(&path, bytes);
    }
    changes
}

struct Comparison<'a> {
    /// The folder on the service; `None`: the top of the space.
    base: Option<NodeId>,
    trees: &'a Snapshot,
    mode: SyncMode,
    walk: &'a mut Walk,
    found: Vec<(RelPath, u64, Effect)>,
}

impl Comparison<'_> {
    fn add(&mut self, path: RelPath, bytes: u64, effect: Effect) {
        self.found.push((path, bytes, effect.if_in(self.mode)));
    }

    /// Compares what was equal on both sides once.
    fn compare_synced(&mut self, synced: &SyncedRow, node_of: &BTreeMap<LocalId, NodeId>) {
        let local = self.trees.local.get(&synced.local);
        let remote = self.trees.remote.get(&synced.node);
        let path = match (local, remote) {
            (Some(local), _) => self.local_path(local),
            (None, Some(remote)) => self.remote_path(remote),
            (None, None) => return,
        };
        let is_skipped = local.is_some_and(|local| local.skipped != Skipped::No);
        if is_skipped || self.walk.leaves_out(&path, synced.kind == Kind::Folder) {
            return;
        }
        if let Some((local, remote)) = local.zip(remote)
            && let Some(effect) = self.compare_places(synced, local, remote, node_of)
        {
            self.add(path.clone(), 0, effect);
        }
        if synced.kind == Kind::Folder {
            return;
        }
        let bytes = local.map_or(synced.size, |local| local.stat.size);
        self.add(path, bytes, effect_on_content(synced, local, remote));
    }

    /// Compares where something is on both sides with where it was.
    fn compare_places(
        &self,
        synced: &SyncedRow,
        local: &LocalRow,
        remote: &RemoteRow,
        node_of: &BTreeMap<LocalId, NodeId>,
    ) -> Option<Effect> {
        let above = match local.parent {
            None => Some(self.base),
            Some(parent) => node_of.get(&parent).copied().map(Some),
        };
        let (here, there) = ((above, &local.name), (Some(remote.parent), &remote.name));
        let before = (Some(synced.parent), &synced.name);
        if here == there || here == before && there == before {
            return None;
        }
        // Where both sides have moved it, the service's place counts.
        let effect = if there == before {
            Effect::MoveRemote
        } else {
            Effect::MoveLocal
        };
        Some(effect).filter(|effect| effect.if_in(self.mode) == *effect)
    }

    /// Compares what only one side had so far, or both apart from each other.
    fn compare_unsynced(&mut self, node_of: &BTreeMap<LocalId, NodeId>) {
        let trees = self.trees;
        let is_new =
            |row: &&RemoteRow| row.kind == Kind::File && !trees.synced.contains_key(&row.node);
        let mut there: BTreeMap<RelPath, &RemoteRow> = (trees.remote.values().filter(is_new))
            .map(|row| (self.remote_path(row), row))
            .collect();
        for local in trees.local.values() {
            let is_file = local.kind == Kind::File && local.skipped == Skipped::No;
            if !is_file || node_of.contains_key(&local.id) {
                continue;
            }
            let path = self.local_path(local);
            let effect = match there.remove(&path) {
                Some(remote) if has_same_content(local, remote) => Effect::Equal,
                Some(_) => Effect::Conflict,
                None => Effect::Upload,
            };
            if !self.walk.leaves_out(&path, false) {
                self.add(path, local.stat.size, effect);
            }
        }
        for (path, remote) in there {
            if !self.walk.leaves_out(&path, false) {
                self.add(path, remote.size, Effect::Download);
            }
        }
    }

    fn local_path(&self, row: &LocalRow) -> RelPath {
        path_of(&row.name, row.parent, |id| {
            let row = self.trees.local.get(&id)?;
            Some((&row.name, row.parent))
        })
    }

    fn remote_path(&self, row: &RemoteRow) -> RelPath {
        path_of(&row.name, row.parent, |id| {
            let row = self.trees.remote.get(&id)?;
            Some((&row.name, row.parent))
        })
    }
}

/// Returns the effect on a file that was equal on both sides once: a change wins over a deletion.
fn effect_on_content(
    synced: &SyncedRow,
    local: Option<&LocalRow>,
    remote: Option<&RemoteRow>,
) -> Effect {
    let changed_here = local.is_some_and(|local| local.hash != synced.hash);
    let changed_there = remote.is_some_and(|remote| remote.revision != synced.revision);
    let is_same = || {
        let both = local.zip(remote);
        both.is_some_and(|(local, remote)| has_same_content(local, remote))
    };
    match (local.is_some(), remote.is_some()) {
        (true, true) if changed_here && changed_there => {
            if is_same() {
                Effect::Equal
            } else {
                Effect::Conflict
            }
        }
        (true, _) if changed_here => Effect::Upload,
        (_, true) if changed_there => Effect::Download,
        (true, true) => effect_on_bit(synced, local, remote),
        (true, false) => Effect::DeleteLocal,
        (false, true) => Effect::DeleteRemote,
        (false, false) => Effect::None,
    }
}

/// Returns the effect on a file of which the content is equal on both sides: a transfer carries the bit with it.
fn effect_on_bit(
    synced: &SyncedRow,
    local: Option<&LocalRow>,
    remote: Option<&RemoteRow>,
) -> Effect {
    let here = local.is_some_and(|local| local.executable != synced.executable);
    let there = remote.is_some_and(|remote| remote.executable != synced.executable);
    match (here, there) {
        (true, false) => Effect::ExecutableRemote,
        (false, true) => Effect::ExecutableLocal,
        // There are but two values of it: both have the same one.
        (true, true) | (false, false) => Effect::Equal,
    }
}

fn has_same_content(local: &LocalRow, remote: &RemoteRow) -> bool {
    local.hash.is_some() && local.hash == remote.hash
}

/// Returns a path from a name and the folders above it, of which `look` gives the name and the next one above.
fn path_of<'a, K>(
    name: &'a Name,
    above: Option<K>,
    look: impl Fn(K) -> Option<(&'a Name, Option<K>)>,
) -> RelPath {
    let mut names = vec![name.clone()];
    let mut at = above;
    while let Some((name, above)) = at.and_then(&look)
        && names.len() < MAX_DEPTH
    {
        names.push(name.clone());
        at = above;
    }
    names.into_iter().rev().collect()
}
