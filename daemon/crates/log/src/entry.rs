//! Server entries: changes that were made through the service's keyless interface, and that no device has
//! signed. Each restates all values of its node that are not vouched for by a device's signature, so only the
//! newest one matters.
//!
//! "E2" · op u8 · node 16 · prev 16 · flags v · parent 16 · name v+x · source node 16 and short hash 16
//! (flag 16) · SHA-256 32 and size v (flag 32) · actor 16 · clock u48.
//!
//! In layouts a number is a length in bytes, v a LEB128 number, and v+x bytes after their length, a v.

use crate::bytes::{Reader, Writer};
use crate::error::{LogError, Result, require};
use crate::statement::{Flags, flags, node_id, optional_node};
use cairn_model::{AccountId, NodeId};

/// The first bytes of an entry and of its leaf.
pub(crate) const MAGIC: [u8; 2] = *b"E2";
const FOLDER: u64 = 1;
const TRASHED: u64 = 4;
const SOURCE: u64 = 16;
const OPAQUE: u64 = 32;
const PURGED: u64 = 64;
const KNOWN: u64 = FOLDER | TRASHED | SOURCE | OPAQUE | PURGED;

/// The act that an entry records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryOp {
    Folder,
    Place,
    Trash,
    Untrash,
    Revert,
    Copy,
    Purge,
    Content,
    /// Unvouched values that a newer statement did not change, repeated after it.
    Restated,
}

/// The content that an entry proposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The source of an earlier statement.
    Statement { node: NodeId, statement: [u8; 16] },
    /// Bytes that no device has sealed.
    Opaque { sha256: [u8; 32], size: u64 },
}

/// The state of a node that no device has signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerEntry {
    pub op: EntryOp,
    pub node: NodeId,
    /// The short hash of the statement that it stands on; zeros if the node has none.
    pub prev: [u8; 16],
    pub is_folder: bool,
    pub is_trashed: bool,
    pub is_purged: bool,
    pub parent: Option<NodeId>,
    pub name: Vec<u8>,
    pub source: Option<Source>,
    /// The account on whose behalf it was done, as the server claims.
    pub actor: AccountId,
    pub clock_ms: u64,
}

impl EntryOp {
    const ALL: [Self; 9] = [
        Self::Folder,
        Self::Place,
        Self::Trash,
        Self::Untrash,
        Self::Revert,
        Self::Copy,
        Self::Purge,
        Self::Content,
        Self::Restated,
    ];

    fn code(self) -> u8 {
        let place = Self::ALL.iter().position(|op| *op == self);
        1 + place.map_or(0, |place| place as u8)
    }
}

impl ServerEntry {
    /// Returns the bytes of the entry.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bits = 0;
        for (bit, is_set) in [
            (FOLDER, self.is_folder),
            (TRASHED, self.is_trashed),
            (PURGED, self.is_purged),
            (
                SOURCE,
                matches!(self.source, Some(Source::Statement { .. })),
            ),
            (OPAQUE, matches!(self.source, Some(Source::Opaque { .. }))),
        ] {
            bits |= if is_set { bit } else { 0 };
        }
        let mut out = Writer::new();
        out.raw(&MAGIC)
            .u8(self.op.code())
            .raw(self.node.as_bytes())
            .raw(&self.prev)
            .v(bits)
            .raw(self.parent.as_ref().map_or(&[0; 16], |id| id.as_bytes()))
            .vx(&self.name);
        match &self.source {
            None => {}
            Some(Source::Statement { node, statement }) => {
                out.raw(node.as_bytes()).raw(statement);
            }
            Some(Source::Opaque { sha256, size }) => {
                out.raw(sha256).v(*size);
            }
        }
        out.raw(self.actor.as_bytes()).u48(self.clock_ms).finish()
    }

    /// Reads an entry.
    ///
    /// # Errors
    /// [`LogError::UnsupportedFormat`] for an operation or flag that this version doesn't know;
    /// [`LogError::NotGenuine`] for anything else that no server writes.
    pub fn decode(bytes: &[u8]) -> std::result::Result<Self, LogError> {
        let mut reader = Reader::new(bytes);
        require(reader.array()? == MAGIC)?;
        let op = entry_op(reader.u8()?)?;
        let node = node_id(&mut reader)?;
        let prev = reader.array()?;
        let bits = flags(reader.v()?, KNOWN)?;
        let has = |bit: u64| bits.has(Flags(bit));
        let parent = optional_node(&mut reader)?;
        let name = reader.vx(usize::MAX)?.to_vec();
        let source = match (has(SOURCE), has(OPAQUE)) {
            (false, false) => None,
            (true, false) => Some(Source::Statement {
                node: node_id(&mut reader)?,
                statement: reader.array()?,
            }),
            (false, true) => Some(Source::Opaque {
                sha256: reader.array()?,
                size: reader.v()?,
            }),
            (true, true) => return Err(LogError::NotGenuine),
        };
        let actor = reader.account()?;
        let clock_ms = reader.u48()?;
        reader.end()?;
        let entry = Self {
            op,
            node,
            prev,
            is_folder: has(FOLDER),
            is_trashed: has(TRASHED),
            is_purged: has(PURGED),
            parent,
            name,
            source,
            actor,
            clock_ms,
        };
        entry.check()?;
        Ok(entry)
    }

    fn check(&self) -> Result<()> {
        let op_holds = match self.op {
            EntryOp::Folder => self.is_folder,
            EntryOp::Trash => self.is_trashed,
            EntryOp::Untrash => !self.is_trashed,
            EntryOp::Revert | EntryOp::Copy => {
                matches!(self.source, Some(Source::Statement { .. }))
            }
            EntryOp::Content => matches!(self.source, Some(Source::Opaque { .. })),
            EntryOp::Purge => self.is_purged,
            EntryOp::Place | EntryOp::Restated => true,
        };
        let has_content = self.source.is_some();
        require(
            op_holds
                && !(self.is_folder && has_content)
                && self.parent != Some(self.node)
                && !self.node.0.is_nil(),
        )
    }
}

fn entry_op(code: u8) -> Result<EntryOp> {
    let known = usize::from(code)
        .checked_sub(1)
        .and_then(|place| EntryOp::ALL.get(place));
    known
        .copied()
        .ok_or(LogError::UnsupportedFormat(u32::from(code)))
}

/// Returns the leaf of an entry: its hash alone, so that names can be erased later.
#[must_use]
pub(crate) fn entry_leaf(entry: &[u8]) -> Vec<u8> {
    [&MAGIC[..], &super::hash(entry)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use uuid::Uuid;

    fn entry() -> ServerEntry {
        ServerEntry {
            op: EntryOp::Content,
            node: NodeId::from_random_bytes([1; 16]),
            prev: [2; 16],
            is_folder: false,
            is_trashed: false,
            is_purged: false,
            parent: Some(NodeId::from_random_bytes([3; 16])),
            name: b"a.txt".to_vec(),
            source: Some(Source::Opaque {
                sha256: [4; 32],
                size: 500,
            }),
            actor: AccountId::from_random_bytes([5; 16]),
            clock_ms: 1_700_000_000_000,
        }
    }

    type Change = fn(&mut ServerEntry);

    #[test]
    fn entries_come_back_and_contradictions_are_refused() {
        assert_eq!(ServerEntry::decode(&entry().encode()), Ok(entry()));
        let changes: [(&str, Change); 8] = [
            ("content without any", |e| e.source = None),
            ("a folder with content", |e| e.is_folder = true),
            ("trash that isn't", |e| e.op = EntryOp::Trash),
            ("untrash that is trashed", |e| {
                e.op = EntryOp::Untrash;
                e.is_trashed = true;
            }),
            ("purge that isn't", |e| e.op = EntryOp::Purge),
            ("a revert to opaque bytes", |e| e.op = EntryOp::Revert),
            ("a node in itself", |e| e.parent = Some(e.node)),
            ("no node", |e| e.node = NodeId(Uuid::nil())),
        ];
        for (name, change) in changes {
            let mut bad = entry();
            change(&mut bad);
            assert_eq!(
                ServerEntry::decode(&bad.encode()),
                Err(LogError::NotGenuine),
                "{name}"
            );
        }
    }

    #[test]
    fn what_is_unknown_asks_for_an_update() {
        let mut bytes = entry().encode();
        bytes[2] = 10;
        assert_eq!(
            ServerEntry::decode(&bytes),
            Err(LogError::UnsupportedFormat(10))
        );
        let mut bytes = entry().encode();
        bytes[35] = 2;
        assert_eq!(
            ServerEntry::decode(&bytes),
            Err(LogError::UnsupportedFormat(2))
        );
    }

    proptest! {
        #[test]
        fn what_is_read_is_written_the_same(
            at in any::<prop::sample::Index>(), value: u8, cut in any::<prop::sample::Index>(),
        ) {
            let mut bytes = entry().encode();
            prop_assert!(ServerEntry::decode(&bytes[..cut.index(bytes.len())]).is_err());
            let at = at.index(bytes.len());
            bytes[at] = value;
            if let Ok(entry) = ServerEntry::decode(&bytes) {
                prop_assert_eq!(entry.encode(), bytes);
            }
        }
    }
}
