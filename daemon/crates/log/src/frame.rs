//! Pages of a log, and snapshots of the state that it makes, as the server sends them.

use crate::bytes::{Reader, Writer};
use crate::commit::{Commit, CommitLeaf, MAX_COMMIT};
use crate::digest::{Element, StateDigest};
use crate::element::ElementName;
use crate::entry::{self, ServerEntry};
use crate::error::{LogError, Result};
use crate::statement::Statement;
use crate::tree::hash_leaf;
use crate::{hash, short_form};
use std::collections::BTreeMap;

/// The longest page that is read, in bytes.
const MAX_PAGE: usize = 8 << 20;

/// One leaf of the log, with its body or without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    Commit(Vec<u8>),
    CommitLeaf(Vec<u8>),
    Entry(Vec<u8>),
    EntryLeaf(Vec<u8>),
}

/// A response of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPage {
    pub history: [u8; 16],
    /// The size and root of the whole log when the page was made.
    pub size: u64,
    pub root: [u8; 32],
    pub restored_at_ms: u64,
    /// The size that the service went back to; 0 if it never did.
    pub restored_to: u64,
    pub frames: Vec<Frame>,
}

impl Frame {
    /// Returns the hash of the leaf in the tree.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] for a body that doesn't decode.
    pub fn leaf(&self) -> std::result::Result<[u8; 32], LogError> {
        Ok(match self {
            Self::Commit(bytes) => hash_leaf(&Commit::decode(bytes)?.leaf().encode()),
            Self::CommitLeaf(leaf) => {
                CommitLeaf::decode(leaf)?;
                hash_leaf(leaf)
            }
            Self::Entry(bytes) => hash_leaf(&entry::entry_leaf(bytes)),
            Self::EntryLeaf(leaf) => {
                let holds = leaf.len() == 34 && leaf.starts_with(&entry::MAGIC);
                if !holds {
                    return Err(LogError::NotGenuine);
                }
                hash_leaf(leaf)
            }
        })
    }

    fn parts(&self) -> (u8, &[u8]) {
        match self {
            Self::Commit(bytes) => (1, bytes),
            Self::CommitLeaf(bytes) => (2, bytes),
            Self::Entry(bytes) => (3, bytes),
            Self::EntryLeaf(bytes) => (4, bytes),
        }
    }

    fn decode(bytes: &[u8]) -> Result<Self> {
        let (&kind, body) = bytes.split_first().ok_or(LogError::NotGenuine)?;
        let body = body.to_vec();
        Ok(match kind {
            1 => Self::Commit(body),
            2 => Self::CommitLeaf(body),
            3 => Self::Entry(body),
            4 => Self::EntryLeaf(body),
            other => return Err(LogError::UnsupportedFormat(u32::from(other))),
        })
    }
}

impl LogPage {
    /// Returns the bytes of the page.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.raw(&self.history)
            .v(self.size)
            .raw(&self.root)
            .u48(self.restored_at_ms)
            .v(self.restored_to);
        for frame in &self.frames {
            let (kind, body) = frame.parts();
            out.vx(&[&[kind], body].concat());
        }
        out.finish()
    }

    /// Reads a page of at most 8 MiB.
    ///
    /// # Errors
    /// [`LogError::UnsupportedFormat`] for a frame that this version doesn't know;
    /// [`LogError::NotGenuine`] for anything else that no server writes.
    pub fn decode(bytes: &[u8]) -> std::result::Result<Self, LogError> {
        if bytes.len() > MAX_PAGE {
            return Err(LogError::NotGenuine);
        }
        let mut reader = Reader::new(bytes);
        let mut page = Self {
            history: reader.array()?,
            size: reader.v()?,
            root: reader.array()?,
            restored_at_ms: reader.u48()?,
            restored_to: reader.v()?,
            frames: Vec::new(),
        };
        while !reader.rest().is_empty() {
            page.frames.push(Frame::decode(reader.vx(MAX_COMMIT + 1)?)?);
        }
        Ok(page)
    }
}

/// One line of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotItem {
    Statement(Vec<u8>),
    Entry(Vec<u8>),
}

/// A page of a snapshot: next u8 (0: nothing follows), then id 16 and class u8 of the element that the next page
/// goes on behind, if it is 1 · items v+x each. The items of all pages, one after the other, are the snapshot; a page
/// may have none, if much was purged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotPage {
    /// The element that the next page goes on behind; `None` for the last page.
    pub next: Option<ElementName>,
    /// The items, as [`encode_snapshot`] makes them.
    pub items: Vec<u8>,
}

impl SnapshotPage {
    /// Returns the bytes of the page.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        match &self.next {
            Some(name) => out.u8(1).raw(&name.id).u8(name.class),
            None => out.u8(0),
        };
        out.raw(&self.items).finish()
    }

    /// Reads a page; its items stay bytes.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] for bytes that no server writes.
    pub fn decode(bytes: &[u8]) -> std::result::Result<Self, LogError> {
        let mut reader = Reader::new(bytes);
        let next = match reader.u8()? {
            0 => None,
            1 => Some(ElementName {
                id: reader.array()?,
                class: reader.u8()?,
            }),
            _ => return Err(LogError::NotGenuine),
        };
        let items = reader.rest().to_vec();
        Ok(Self { next, items })
    }
}

/// Returns the bytes of a snapshot.
#[must_use]
pub fn encode_snapshot(items: &[SnapshotItem]) -> Vec<u8> {
    let mut out = Writer::new();
    for item in items {
        match item {
            SnapshotItem::Statement(bytes) | SnapshotItem::Entry(bytes) => out.vx(bytes),
        };
    }
    out.finish()
}

/// Reads a snapshot and returns its items with the digest of the state that they make.
///
/// The digest still has to be checked against a checkpoint's. Items are sorted by id and class, a node's
/// entry behind its statement, and none is there twice: the digest alone counts copies modulo 2^16.
///
/// # Errors
/// [`LogError::NotGenuine`] for another order, an entry that stands on another statement, or anything that
/// doesn't decode; [`LogError::UnsupportedFormat`].
pub fn decode_snapshot(
    bytes: &[u8],
) -> std::result::Result<(Vec<SnapshotItem>, StateDigest), LogError> {
    let mut reader = Reader::new(bytes);
    let (mut items, mut digest) = (Vec::new(), StateDigest::default());
    let mut statements: BTreeMap<ElementName, [u8; 32]> = BTreeMap::new();
    let mut last: Option<(ElementName, bool)> = None;
    while !reader.rest().is_empty() {
        let item = reader.vx(MAX_COMMIT)?;
        let is_entry = item.starts_with(&entry::MAGIC);
        let (name, counts) = if is_entry {
            let entry = ServerEntry::decode(item)?;
            let name = ElementName::node(entry.node);
            let on = statements.get(&name).map_or([0; 16], short_form);
            if on != entry.prev {
                return Err(LogError::NotGenuine);
            }
            (name, true)
        } else {
            let (name, counts) = element(&Statement::decode(item)?);
            statements.insert(name, hash(item));
            (name, counts)
        };
        let place = Some((name, is_entry));
        if last >= place {
            return Err(LogError::NotGenuine);
        }
        last = place;
        if is_entry {
            digest.add(&name.id, Element::Server, &hash(item));
            items.push(SnapshotItem::Entry(item.to_vec()));
        } else {
            if counts {
                digest.add(&name.id, Element::Signed, &hash(item));
            }
            items.push(SnapshotItem::Statement(item.to_vec()));
        }
    }
    Ok((items, digest))
}

/// Returns the node or chain of a statement, and whether the digest counts it.
pub(super) fn element(statement: &Statement) -> (ElementName, bool) {
    use crate::control::ControlBody;
    let is_checkpoint = match statement {
        Statement::Node(_) => false,
        Statement::Control(control) => matches!(control.body, ControlBody::Checkpoint(_)),
    };
    (ElementName::of(statement), !is_checkpoint)
}
