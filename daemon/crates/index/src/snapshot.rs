//! The planner's input: the dirty nodes with everything that a decision about them depends on. The tree module
//! of the crate `plan` specifies what such a snapshot contains: for each node its pair, its parents, and the
//! nodes that have or want its name.

mod below;

use crate::error::IndexError;
use crate::folders::FolderRow;
use crate::local::LocalRow;
use crate::open::Db;
use crate::remote::RemoteRow;
use crate::synced::SyncedRow;
use crate::worklist::Worklist;
use cairn_model::{FolderId, Kind, LocalId, Name, NodeId, original_name};
use std::collections::{BTreeMap, BTreeSet};

/// Rows of the three trees of one folder. Remote rows are only those inside the pair.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Snapshot {
    pub local: BTreeMap<LocalId, LocalRow>,
    pub remote: BTreeMap<NodeId, RemoteRow>,
    pub synced: BTreeMap<NodeId, SyncedRow>,
}

/// From this many dirty nodes on, if they are one in [`ONE_IN`] of all or more, reading the whole trees is quicker than
/// looking at each one with its relatives.
const MANY: u64 = 2_000;
const ONE_IN: u64 = 2;

impl Db<'_> {
    /// Returns the nodes of a worklist with all that a decision about them depends on.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn snapshot(
        &self,
        folder: &FolderRow,
        worklist: &Worklist,
    ) -> Result<Snapshot, IndexError> {
        let Some(base) = folder.remote_node else {
            return Ok(Snapshot::default());
        };
        if worklist.is_whole && self.are_most(folder.id, worklist.len() as u64)? {
            return self.full_snapshot(folder, base);
        }
        let mut collector = Collector {
            db: self,
            folder,
            base,
            inside: BTreeMap::new(),
            seen_local: BTreeSet::new(),
            seen_node: BTreeSet::new(),
            queue: Vec::new(),
            out: Snapshot::default(),
        };
        collector
            .queue
            .extend(worklist.keys.local.iter().copied().map(Key::Local));
        collector
            .queue
            .extend(worklist.keys.node.iter().copied().map(Key::Node));
        collector.run()?;
        Ok(collector.out)
    }

    /// Returns the three trees of a folder; nothing of one whose folder on the service is not known yet.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn whole_snapshot(&self, folder: &FolderRow) -> Result<Snapshot, IndexError> {
        match folder.remote_node {
            Some(base) => self.full_snapshot(folder, base),
            None => Ok(Snapshot::default()),
        }
    }

    /// Returns whether so many dirty nodes are a large part of a folder.
    fn are_most(&self, folder: FolderId, dirty: u64) -> Result<bool, IndexError> {
        if dirty < MANY {
            return Ok(false);
        }
        // Of deleted files only the merge bases are left on one side.
        let (here, _) = self.local_totals(folder)?;
        let both = self.unconfirmed_files(folder)?;
        Ok(dirty.saturating_mul(ONE_IN) >= here.max(both))
    }

    fn full_snapshot(
        &self,
        folder: &FolderRow,
        base: Option<NodeId>,
    ) -> Result<Snapshot, IndexError> {
        let remote: BTreeMap<NodeId, RemoteRow> = self
            .all_remotes()?
            .into_iter()
            .map(|row| (row.node, row))
            .collect();
        let mut inside: BTreeMap<NodeId, bool> = BTreeMap::new();
        for start in remote.keys() {
            let mut chain = Vec::new();
            let mut at = Some(*start);
            let result = loop {
                if at == base {
                    break true;
                }
                let Some(id) = at else { break false };
                if let Some(known) = inside.get(&id) {
                    break *known;
                }
                chain.push(id);
                match remote.get(&id) {
                    Some(row) if chain.len() <= remote.len() => at = row.parent,
                    Some(_) | None => break false,
                }
            };
            inside.extend(chain.into_iter().map(|id| (id, result)));
        }
        Ok(Snapshot {
            local: self
                .all_locals(folder.id)?
                .into_iter()
                .map(|row| (row.id, row))
                .collect(),
            remote: remote
                .into_iter()
                .filter(|(id, _)| Some(*id) != base && inside.get(id) == Some(&true))
                .collect(),
            synced: self
                .all_synced(folder.id)?
                .into_iter()
                .map(|row| (row.node, row))
                .collect(),
        })
    }
}

enum Key {
    Local(LocalId),
    Node(NodeId),
}

struct Collector<'a, 'b> {
    db: &'a Db<'b>,
    folder: &'a FolderRow,
    base: Option<NodeId>,
    inside: BTreeMap<NodeId, bool>,
    seen_local: BTreeSet<LocalId>,
    seen_node: BTreeSet<NodeId>,
    queue: Vec<Key>,
    out: Snapshot,
}

impl Collector<'_, '_> {
    fn run(&mut self) -> Result<(), IndexError> {
        while let Some(key) = self.queue.pop() {
            match key {
                Key::Local(id) if self.seen_local.insert(id) => self.collect_local(id)?,
                Key::Node(id) if self.seen_node.insert(id) => self.node(id)?,
                Key::Local(_) | Key::Node(_) => {}
            }
        }
        Ok(())
    }

    fn collect_local(&mut self, id: LocalId) -> Result<(), IndexError> {
        let Some(row) = self.db.local_row(id)? else {
            return Ok(());
        };
        let synced = self.db.synced_by_local(id)?;
        if let Some(synced) = &synced {
            self.queue.push(Key::Node(synced.node));
            // Gone on the service: whether it may go here depends on everything in it.
            if row.kind == Kind::Folder && !self.is_inside(synced.node)? {
                let below = self.db.children(self.folder.id, Some(id))?;
                self.queue
                    .extend(below.into_iter().map(|r| Key::Local(r.id)));
            }
        }
        let counterpart = match row.parent {
            None => Some(self.base),
            Some(parent) => {
                self.queue.push(Key::Local(parent));
                self.db
                    .synced_by_local(parent)?
                    .map(|synced| Some(synced.node))
            }
        };
        if let Some(parent) = counterpart {
            self.collect_named_nodes(parent, &row.name)?;
        }
        self.collect_named_locals(row.parent, &row.name)?;
        if let Some(name) = original_name(&row.name) {
            self.collect_named_locals(row.parent, &name)?;
            if let Some(parent) = counterpart {
                self.collect_named_nodes(parent, &name)?;
            }
            if let Some(synced) = synced {
                self.collect_place(synced.parent, &synced.name)?;
            }
        }
        self.out.local.insert(id, row);
        Ok(())
    }

    fn collect_named_locals(
        &mut self,
        parent: Option<LocalId>,
        name: &Name,
    ) -> Result<(), IndexError> {
        let named = self.db.children_by_key(self.folder.id, parent, name)?;
        self.queue
            .extend(named.into_iter().map(|r| Key::Local(r.id)));
        Ok(())
    }

    fn collect_named_nodes(
        &mut self,
        parent: Option<NodeId>,
        name: &Name,
    ) -> Result<(), IndexError> {
        let named = self.db.remote_children_by_key(parent, name)?;
        self.queue
            .extend(named.into_iter().map(|r| Key::Node(r.node)));
        Ok(())
    }

    /// Collects what has a place on either side, to which something under a temporary name may go back.
    fn collect_place(&mut self, parent: Option<NodeId>, name: &Name) -> Result<(), IndexError> {
        self.collect_named_nodes(parent, name)?;
        match self.local_counterpart(parent)? {
            Some(parent) => self.collect_named_locals(parent, name),
            None => Ok(()),
        }
    }

    /// Returns the folder on this disk for one of the service; outer `None`: there is none.
    fn local_counterpart(
        &self,
        parent: Option<NodeId>,
    ) -> Result<Option<Option<LocalId>>, IndexError> {
        if parent == self.base {
            return Ok(Some(None));
        }
        let Some(parent) = parent else {
            return Ok(None);
        };
        let synced = self.db.synced_row(self.folder.id, parent)?;
        Ok(synced.map(|synced| Some(synced.local)))
    }

    fn node(&mut self, id: NodeId) -> Result<(), IndexError> {
        if Some(id) == self.base {
            return Ok(());
        }
        let mut gone_here = false;
        if let Some(synced) = self.db.synced_row(self.folder.id, id)? {
            self.queue.push(Key::Local(synced.local));
            gone_here = synced.kind == Kind::Folder && self.db.local_row(synced.local)?.is_none();
            self.queue.extend(synced.parent.map(Key::Node));
            self.out.synced.insert(id, synced);
        }
        if !self.is_inside(id)? {
            return Ok(());
        }
        let Some(row) = self.db.remote_row(id)? else {
            return Ok(());
        };
        if gone_here {
            // Gone on this disk: whether it may go on the service depends on everything in it.
            let below = self.db.remote_children(Some(id))?;
            self.queue
                .extend(below.into_iter().map(|r| Key::Node(r.node)));
        }
        if row.parent != self.base {
            self.queue.extend(row.parent.map(Key::Node));
        }
        if let Some(parent) = self.local_counterpart(row.parent)? {
            self.collect_named_locals(parent, &row.name)?;
        }
        if let Some(name) = original_name(&row.name) {
            self.collect_place(row.parent, &name)?;
            if let Some(synced) = self.out.synced.get(&id).cloned() {
                self.collect_place(synced.parent, &synced.name)?;
            }
        }
        self.out.remote.insert(id, row);
        Ok(())
    }

    fn is_inside(&mut self, id: NodeId) -> Result<bool, IndexError> {
        let mut chain = Vec::new();
        let mut at = Some(id);
        let result = loop {
            if at == self.base {
                break true;
            }
            let Some(node) = at else { break false };
            if let Some(known) = self.inside.get(&node) {
                break *known;
            }
            chain.push(node);
            match self.db.remote_row(node)? {
                Some(row) if chain.len() < 10_000 => at = row.parent,
                Some(_) | None => break false,
            }
        };
        self.inside
            .extend(chain.into_iter().map(|node| (node, result)));
        Ok(result)
    }
}

#[cfg(test)]
mod tests;
