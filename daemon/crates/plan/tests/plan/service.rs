//! A service in memory: the remote tree, and every way in which a real one refuses.

use cairn_model::{ContentHash, Kind, Name, NodeId, RevisionId};
use cairn_plan::{Blocked, RemoteNode, SyncedNode};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

#[derive(Clone, Default, Debug)]
pub(crate) struct Service {
    pub(crate) nodes: BTreeMap<NodeId, RemoteNode>,
    pub(crate) bytes: BTreeMap<RevisionId, String>,
    pub(crate) trash: Vec<String>,
    /// Nodes in the trash, each with the one that was deleted.
    pub(crate) trashed: BTreeMap<NodeId, (RemoteNode, NodeId)>,
    /// Refuses to take anything out of the trash.
    pub(crate) is_trash_shut: bool,
    pub(crate) moves: u32,
    pub(crate) deletions: u32,
    next: u128,
}

/// Stands for a real digest: equal bytes give equal hashes, others don't.
pub(crate) fn hash(bytes: &str) -> ContentHash {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    let mut out = [0; 32];
    for round in 0..4_u8 {
        for byte in bytes.bytes().chain([round]) {
            state = (state ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        out[usize::from(round) * 8..][..8].copy_from_slice(&state.to_be_bytes());
    }
    ContentHash(out)
}

impl Service {
    fn next_id(&mut self) -> Uuid {
        self.next += 1;
        // Spread out, so that the order of ids says nothing about their age.
        Uuid::from_u128(
            self.next
                .wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835),
        )
    }

    /// The only node of that name.
    pub(crate) fn node_named(&self, name: &str) -> NodeId {
        let mut found = self.nodes.values().filter(|n| n.name.as_str() == name);
        found.next().unwrap().id
    }

    pub(crate) fn create(
        &mut self,
        parent: Option<NodeId>,
        name: &Name,
        bytes: Option<(&str, bool)>,
    ) -> Result<NodeId, String> {
        self.check_place(parent, name, None)?;
        let id = NodeId(self.next_id());
        let node = RemoteNode {
            id,
            parent,
            name: name.clone(),
            kind: if bytes.is_some() {
                Kind::File
            } else {
                Kind::Folder
            },
            revision: None,
            hash: None,
            size: 0,
            executable: false,
            is_executable_sealed: true,
            blocked: Blocked::No,
        };
        self.nodes.insert(id, node);
        if let Some((bytes, executable)) = bytes {
            self.write(id, bytes, executable)?;
        }
        Ok(id)
    }

    pub(crate) fn write(
        &mut self,
        id: NodeId,
        bytes: &str,
        executable: bool,
    ) -> Result<(), String> {
        let revision = RevisionId(self.next_id());
        let node = self
            .nodes
            .get_mut(&id)
            .ok_or("write to a node that is gone")?;
        if node.kind != Kind::File {
            return Err("write to a folder".into());
        }
        node.revision = Some(revision);
        node.size = bytes.len() as u64;
        node.executable = executable;
        self.bytes.insert(revision, bytes.to_owned());
        Ok(())
    }

    pub(crate) fn content(&self, id: NodeId) -> Option<&str> {
        let revision = self.nodes.get(&id)?.revision?;
        self.bytes.get(&revision).map(String::as_str)
    }

    pub(crate) fn relocate(
        &mut self,
        id: NodeId,
        parent: Option<NodeId>,
        name: &Name,
    ) -> Result<(), String> {
        if !self.nodes.contains_key(&id) {
            return Err("move of a node that is gone".into());
        }
        self.check_place(parent, name, Some(id))?;
        let mut at = parent;
        while let Some(folder) = at {
            if folder == id {
                return Err(format!("{name:?} would move into itself"));
            }
            at = self.nodes[&folder].parent;
        }
        let node = self.nodes.get_mut(&id).ok_or("gone")?;
        node.parent = parent;
        node.name = name.clone();
        self.moves += 1;
        Ok(())
    }

    /// Moves a node to the trash, with everything below; returns what went.
    pub(crate) fn delete(&mut self, id: NodeId) -> Result<BTreeSet<NodeId>, String> {
        if !self.nodes.contains_key(&id) {
            return Err("deletion of a node that is gone".into());
        }
        let mut gone = BTreeSet::from([id]);
        loop {
            let below = self
                .nodes
                .values()
                .filter(|n| n.parent.is_some_and(|p| gone.contains(&p)));
            let more: Vec<NodeId> = below.map(|n| n.id).filter(|n| !gone.contains(n)).collect();
            if more.is_empty() {
                break;
            }
            gone.extend(more);
        }
        for id in &gone {
            if let Some(bytes) = self.content(*id) {
                self.trash.push(bytes.to_owned());
            }
        }
        for node in &gone {
            if let Some(node) = self.nodes.remove(node) {
                self.trashed.insert(node.id, (node, id));
            }
        }
        self.deletions += 1;
        Ok(gone)
    }

    /// Takes a node out of the trash, with everything that went there with it.
    pub(crate) fn restore(&mut self, id: NodeId) -> Result<(), String> {
        let (top, _) = self
            .trashed
            .get(&id)
            .filter(|(_, root)| *root == id && !self.is_trash_shut)
            .ok_or("not in the trash for itself")?;
        self.check_place(top.parent, &top.name, None)?;
        let trashed = std::mem::take(&mut self.trashed);
        for (node, (row, root)) in trashed {
            match root == id {
                true => self.nodes.insert(node, row).map(drop),
                false => self.trashed.insert(node, (row, root)).map(drop),
            };
        }
        Ok(())
    }

    /// Returns whether a node can be taken out of the trash as it was when it was synced.
    pub(crate) fn can_restore(&self, base: &SyncedNode) -> bool {
        !self.is_trash_shut
            && self.trashed.get(&base.node).is_some_and(|(node, root)| {
                *root == base.node
                    && (node.parent, &node.name) == (base.parent, &base.name)
                    && node.revision == base.revision
            })
    }

    fn check_place(
        &self,
        parent: Option<NodeId>,
        name: &Name,
        own: Option<NodeId>,
    ) -> Result<(), String> {
        if let Some(parent) = parent {
            let folder = self
                .nodes
                .get(&parent)
                .ok_or_else(|| format!("no remote folder for {name:?}"))?;
            if folder.kind != Kind::Folder {
                return Err(format!("the remote parent of {name:?} is a file"));
            }
        }
        let taken =
            |n: &&RemoteNode| n.parent == parent && n.name.key() == name.key() && Some(n.id) != own;
        match self.nodes.values().find(taken) {
            Some(_) => Err(format!("the remote name {name:?} is taken")),
            None => Ok(()),
        }
    }
}
