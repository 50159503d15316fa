//! Problems by path, and the steps that wait for another try after a failure.

mod full_service;
mod groups;
mod parked;
mod path;
mod scanned;

use crate::key::Key;
use cairn_model::{FolderId, NodeId, Problem};
use full_service::NoRoom;
use parked::Parked;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) use parked::{Alias, Failure, RetryHint};
pub(crate) use path::PathProblem;

/// A part of a folder that has at most one problem.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum FolderPart {
    /// The root on the disk.
    Root,
    Watcher,
    /// The folder on the service.
    Remote,
    /// The history of the service.
    History,
    /// The view that another device has of it.
    Views,
}

/// All problems of all folders.
#[derive(Default)]
pub(crate) struct Health {
    /// A number of this device's own: pauses differ from those of others.
    seed: u64,
    parked: BTreeMap<(FolderId, Key), Parked>,
    /// The problems that scans of each folder have found, by path.
    scanned: BTreeMap<FolderId, BTreeMap<String, Problem>>,
    /// States that the service sent and that were refused.
    refused: BTreeMap<(NodeId, FolderId), Problem>,
    /// Nodes in whose place here something lies that neither gives way nor is sent.
    blocked_places: BTreeMap<(FolderId, NodeId), Problem>,
    folders: BTreeMap<(FolderId, FolderPart), Problem>,
    /// Bytes that a folder's disk had free when something didn't fit last.
    free: BTreeMap<FolderId, u64>,
    /// The service had no room for the last upload.
    no_room: Option<NoRoom>,
}

impl Health {
    /// Returns the health of an engine without problems; `seed` is random.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }

    /// Forgets all problems of a folder that was removed.
    pub(crate) fn forget(&mut self, folder: FolderId) {
        self.parked.retain(|(of, _), _| *of != folder);
        self.refused.retain(|(_, of), _| *of != folder);
        self.blocked_places.retain(|(of, _), _| *of != folder);
        self.scanned.remove(&folder);
        self.folders.retain(|(of, _), _| *of != folder);
        self.free.remove(&folder);
    }

    /// Records that the service's state of a node was refused.
    pub(crate) fn refuse(&mut self, folder: FolderId, node: NodeId, problem: Problem) {
        self.refused.insert((node, folder), problem);
    }

    /// Forgets the refusal of a node: the service has sent another state of it.
    pub(crate) fn accept(&mut self, node: NodeId) {
        self.refused.retain(|(refused, _), _| *refused != node);
    }

    /// Returns the nodes of which a state was refused.
    pub(crate) fn refused_nodes(&self) -> BTreeSet<NodeId> {
        self.refused.keys().map(|(node, _)| *node).collect()
    }

    /// Returns the nodes of a folder in whose place here something else lies, with the paths of their problems.
    pub(crate) fn blocked_places(&self, folder: FolderId) -> BTreeMap<NodeId, String> {
        let places = self.blocked_places.iter();
        places
            .filter(|((of, _), _)| *of == folder)
            .map(|((_, node), problem)| (*node, problem.path.clone()))
            .collect()
    }

    /// Returns whether something else lies in the place of any node of a folder.
    pub(super) fn has_blocked_places(&self, folder: FolderId) -> bool {
        self.blocked_places.keys().any(|(of, _)| *of == folder)
    }

    /// Replaces the blocked places of a folder.
    pub(crate) fn record_blocked_places(
        &mut self,
        folder: FolderId,
        nodes: BTreeMap<NodeId, Problem>,
    ) {
        self.blocked_places.retain(|(of, _), _| *of != folder);
        let nodes = nodes.into_iter();
        self.blocked_places
            .extend(nodes.map(|(node, problem)| ((folder, node), problem)));
    }

    /// Sets or clears the problem of a part of a folder.
    pub(crate) fn set_folder_problem(
        &mut self,
        folder: FolderId,
        part: FolderPart,
        problem: Option<Problem>,
    ) {
        match problem {
            Some(problem) => {
                self.folders.insert((folder, part), problem);
            }
            None => {
                self.folders.remove(&(folder, part));
            }
        }
    }
}
