//! Records in memory: a reader's, and those of tests.

use super::{Item, KnownDevice, Leaf, Mark, NodeRecord, Records};
use crate::element::ElementName;
use crate::entry::{EntryOp, ServerEntry};
use crate::rules::Refusal;
use crate::statement::{NodeOp, Statement};
use crate::tree::EMPTY_ROOT;
use cairn_model::{AccountId, NodeId};
use std::collections::BTreeMap;

/// Roots that are remembered; older ones need a consistency proof.
const ROOTS: usize = 4096;

type Result<T> = std::result::Result<T, Refusal>;
/// The folder and name of a node.
type FolderAndName = (Option<NodeId>, Vec<u8>);

/// The records of a space, all in memory: the newest of everything, and no older bodies.
#[derive(Clone, Debug)]
pub struct InMemory {
    pub(crate) nodes: BTreeMap<NodeId, NodeRecord>,
    pub(crate) chains: BTreeMap<ElementName, [u8; 32]>,
    places: BTreeMap<FolderAndName, NodeId>,
    devices: BTreeMap<u32, KnownDevice>,
    pub(crate) roots: BTreeMap<u64, [u8; 32]>,
    marks: BTreeMap<u64, Mark>,
}

impl Default for InMemory {
    fn default() -> Self {
        Self {
            nodes: BTreeMap::new(),
            chains: BTreeMap::new(),
            places: BTreeMap::new(),
            devices: BTreeMap::new(),
            roots: BTreeMap::from([(0, EMPTY_ROOT)]),
            marks: BTreeMap::new(),
        }
    }
}

impl InMemory {
    pub(crate) fn remember_root(&mut self, size: u64, root: [u8; 32]) {
        self.roots.insert(size, root);
    }
}

impl Records for InMemory {
    type Error = Refusal;

    fn node(&self, node: NodeId) -> Result<NodeRecord> {
        Ok(self.nodes.get(&node).cloned().unwrap_or_default())
    }

    fn chain(&self, chain: &ElementName) -> Result<Option<[u8; 32]>> {
        Ok(self.chains.get(chain).copied())
    }

    fn place(&self, parent: Option<NodeId>, name: &[u8]) -> Result<Option<NodeId>> {
        Ok(self.places.get(&(parent, name.to_vec())).copied())
    }

    fn device(&self, number: u32) -> Result<Option<KnownDevice>> {
        Ok(self.devices.get(&number).cloned())
    }

    fn root_at(&self, size: u64) -> Result<Option<[u8; 32]>> {
        Ok(self.roots.get(&size).copied())
    }

    fn mark(&self, size: u64) -> Result<Option<Mark>> {
        Ok(self.marks.get(&size).copied())
    }

    fn put_statement(&mut self, item: &Item<'_>, statement: &Statement) -> Result<()> {
        match statement {
            Statement::Control(_) => {
                self.chains.insert(item.element, item.hash);
            }
            Statement::Node(node) => {
                let is_purged = node.op == NodeOp::Purge;
                let record = NodeRecord {
                    signed: (!is_purged).then(|| (node.clone(), item.hash)),
                    entry: None,
                    is_purged,
                };
                self.nodes.insert(node.node, record);
            }
        }
        Ok(())
    }

    fn put_entry(&mut self, item: &Item<'_>, entry: &ServerEntry) -> Result<()> {
        let node = self.nodes.entry(entry.node).or_default();
        node.is_purged = entry.op == EntryOp::Purge && node.signed.is_none();
        node.entry = (!node.is_purged).then(|| (entry.clone(), item.hash));
        Ok(())
    }

    fn set_place(
        &mut self,
        parent: Option<NodeId>,
        name: &[u8],
        node: Option<NodeId>,
    ) -> Result<()> {
        let place = (parent, name.to_vec());
        match node {
            Some(node) => self.places.insert(place, node),
            None => self.places.remove(&place),
        };
        Ok(())
    }

    fn set_device(&mut self, number: u32, device: &KnownDevice) -> Result<()> {
        self.devices.insert(number, device.clone());
        Ok(())
    }

    fn unlist_devices(&mut self, account: AccountId) -> Result<()> {
        for device in self.devices.values_mut() {
            device.is_listed &= device.account != account;
        }
        Ok(())
    }

    fn push_leaf(&mut self, leaf: &Leaf<'_>) -> Result<()> {
        self.roots.insert(leaf.position + 1, leaf.root);
        if self.roots.len() > ROOTS {
            self.roots.pop_first();
        }
        Ok(())
    }

    fn set_mark(&mut self, size: u64, mark: Mark) -> Result<()> {
        self.marks.insert(size, mark);
        Ok(())
    }
}
