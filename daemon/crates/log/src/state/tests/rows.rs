//! Records as a database keeps them: rows of bytes that are only appended, subtrees in place of roots, and
//! nothing that isn't read again each time.

use crate::digest::{Element, StateDigest};
use crate::element::ElementName;
use crate::frame::element;
use crate::records::{Item, KnownDevice, Leaf, Mark, NodeRecord, Records};
use crate::rules::Refusal;
use crate::statement::{NodeOp, Statement};
use crate::{EntryOp, ServerEntry, root_at};
use cairn_model::{AccountId, NodeId};
use std::collections::BTreeMap;

type Result<T> = std::result::Result<T, Refusal>;

#[derive(Clone, Debug)]
struct Row {
    element: ElementName,
    is_entry: bool,
    is_purge: bool,
    hash: [u8; 32],
    body: Vec<u8>,
}

/// A name that was given to a node, or freed.
#[derive(Clone, Debug)]
struct NameRow {
    parent: Option<NodeId>,
    name: Vec<u8>,
    node: Option<NodeId>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct RowRecords {
    rows: Vec<Row>,
    leaves: Vec<Vec<u8>>,
    subtrees: BTreeMap<(u8, u64), [u8; 32]>,
    names: Vec<NameRow>,
    devices: BTreeMap<u32, KnownDevice>,
    marks: BTreeMap<u64, Mark>,
}

impl RowRecords {
    fn push(&mut self, item: &Item<'_>, is_entry: bool, is_purge: bool) {
        self.rows.push(Row {
            element: item.element,
            is_entry,
            is_purge,
            hash: item.hash,
            body: item.body.to_vec(),
        });
    }

    /// The digest of what the rows say, computed from nothing.
    pub(super) fn digest(&self) -> StateDigest {
        let mut digest = StateDigest::default();
        let mut newest: BTreeMap<ElementName, Vec<&Row>> = BTreeMap::new();
        for row in &self.rows {
            let rows = newest.entry(row.element).or_default();
            if row.is_entry {
                rows.retain(|old| !old.is_entry);
            } else {
                rows.clear();
            }
            rows.push(row);
        }
        for rows in newest
            .values()
            .filter(|rows| !rows[rows.len() - 1].is_purge)
        {
            for row in rows {
                let (kind, counts) = if row.is_entry {
                    (Element::Server, true)
                } else {
                    let statement = Statement::decode(&row.body).unwrap();
                    (Element::Signed, element(&statement).1)
                };
                if counts {
                    digest.add(&row.element.id, kind, &row.hash);
                }
            }
        }
        digest
    }
}

impl Records for RowRecords {
    type Error = Refusal;

    fn node(&self, node: NodeId) -> Result<NodeRecord> {
        let mut record = NodeRecord::default();
        for row in self.rows.iter().rev() {
            if row.element != ElementName::node(node) {
                continue;
            }
            record.is_purged |= row.is_purge;
            if record.is_purged {
                break;
            }
            if !row.is_entry {
                if let Statement::Node(statement) = Statement::decode(&row.body)? {
                    record.signed = Some((statement, row.hash));
                }
                break;
            }
            if record.entry.is_none() {
                record.entry = Some((ServerEntry::decode(&row.body)?, row.hash));
            }
        }
        Ok(record)
    }

    fn chain(&self, chain: &ElementName) -> Result<Option<[u8; 32]>> {
        let newest = self.rows.iter().rev().find(|row| row.element == *chain);
        Ok(newest.map(|row| row.hash))
    }

    fn place(&self, parent: Option<NodeId>, name: &[u8]) -> Result<Option<NodeId>> {
        let newest = self.names.iter().rev();
        let mut newest = newest.filter(|row| row.parent == parent && row.name == name);
        Ok(newest.next().and_then(|row| row.node))
    }

    fn device(&self, number: u32) -> Result<Option<KnownDevice>> {
        Ok(self.devices.get(&number).cloned())
    }

    fn root_at(&self, size: u64) -> Result<Option<[u8; 32]>> {
        if size > self.leaves.len() as u64 {
            return Ok(None);
        }
        let mut read = |level, place| {
            self.subtrees
                .get(&(level, place))
                .copied()
                .ok_or(Refusal::Encoding)
        };
        root_at(size, &mut read).map(Some)
    }

    fn mark(&self, size: u64) -> Result<Option<Mark>> {
        Ok(self.marks.get(&size).copied())
    }

    fn put_statement(&mut self, item: &Item<'_>, statement: &Statement) -> Result<()> {
        let is_purge = matches!(statement, Statement::Node(node) if node.op == NodeOp::Purge);
        self.push(item, false, is_purge);
        Ok(())
    }

    fn put_entry(&mut self, item: &Item<'_>, entry: &ServerEntry) -> Result<()> {
        let is_unsigned = self.node(entry.node)?.signed.is_none();
        self.push(item, true, entry.op == EntryOp::Purge && is_unsigned);
        Ok(())
    }

    fn set_place(
        &mut self,
        parent: Option<NodeId>,
        name: &[u8],
        node: Option<NodeId>,
    ) -> Result<()> {
        self.names.push(NameRow {
            parent,
            name: name.to_vec(),
            node,
        });
        Ok(())
    }

    fn set_device(&mut self, number: u32, device: &KnownDevice) -> Result<()> {
        self.devices.insert(number, device.clone());
        Ok(())
    }

    fn unlist_devices(&mut self, account: AccountId) -> Result<()> {
        let own = self.devices.values_mut().filter(|d| d.account == account);
        own.for_each(|device| device.is_listed = false);
        Ok(())
    }

    fn push_leaf(&mut self, leaf: &Leaf<'_>) -> Result<()> {
        assert_eq!(leaf.position, self.leaves.len() as u64);
        self.leaves.push(leaf.bytes.to_vec());
        for (level, place, hash) in &leaf.subtrees {
            self.subtrees.insert((*level, *place), *hash);
        }
        Ok(())
    }

    fn set_mark(&mut self, size: u64, mark: Mark) -> Result<()> {
        self.marks.insert(size, mark);
        Ok(())
    }
}
