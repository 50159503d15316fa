//! Statements about a node (a file or folder): each one, signed with its commit, restates all that devices vouch for
//! about the node, so only the newest one matters.
//!
//! kind u8 · node 16 · seq v · prev 16 · flags v · parent 16 · name v+x · epoch v · for files: object 32,
//! size v and mtime zz (open spaces), key node 16 and epoch v (flag 64), attributes' object 32, key node
//! 16, epoch v and length v (flag 256) · box v+x (what only key holders read).
//!
//! In layouts a number is a length in bytes, v a LEB128 number, zz a zigzag one, and v+x bytes after their
//! length, a v.

mod codec;

use crate::bytes::Reader;
use crate::control::Control;
use crate::error::{LogError, Result};
use crate::ids::{NodeKeyRef, ObjectId};
use cairn_model::{NodeId, RevisionId};
use std::fmt;
use unicode_normalization::is_nfc;
use uuid::Uuid;

/// The longest target of a symbolic link, in bytes.
const MAX_TARGET: u64 = 4096;
/// The longest encoding of extended attributes, in bytes.
pub const MAX_ATTRIBUTES: usize = 64 * 1024;
/// The longest box, in bytes: two names of 255 bytes and the numbers are below it.
pub const MAX_BOX: usize = 1024;

/// A statement of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    Node(NodeStatement),
    Control(Control),
}

/// The change that a statement about a node makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeOp {
    Create,
    /// Bytes, executable bit, time of change, attributes.
    Content,
    Place,
    Trash,
    Untrash,
    Purge,
    /// Takes over values that no device had signed.
    Accept,
}

/// Facts about a node, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub(crate) u64);

/// A node, as a device has signed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeStatement {
    pub op: NodeOp,
    pub node: NodeId,
    /// Counts the statements about the node, from 1 on.
    pub seq: u64,
    /// The short hash of the statement before; zeros if there is none.
    pub prev: [u8; 16],
    pub flags: Flags,
    /// `None` for what lies at the top.
    pub parent: Option<NodeId>,
    /// Empty in private spaces. Any bytes: a name that can't be used blocks the node, not the log.
    pub name: Vec<u8>,
    pub epoch: u64,
    /// `None` for folders.
    pub file: Option<FilePart>,
    pub sealed_box: Vec<u8>,
}

/// The content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePart {
    /// The one chunk, or the manifest.
    pub object: ObjectId,
    /// `None` in private spaces, where the box has them.
    pub facts: Option<FileFacts>,
    /// The key of the content, if it isn't the node's own of the statement's epoch.
    pub key: Option<NodeKeyRef>,
    pub attributes: Option<AttributesRef>,
}

/// Facts about a file of an open space, which the server may know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFacts {
    pub size: u64,
    pub mtime_ms: i64,
}

/// The object of a file's extended attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributesRef {
    pub object: ObjectId,
    pub key: NodeKeyRef,
    /// The length of the record, in bytes.
    pub length: u64,
}

impl Flags {
    pub const FOLDER: Self = Self(1);
    pub const EXECUTABLE: Self = Self(2);
    pub const TRASHED: Self = Self(4);
    pub const PRIVATE: Self = Self(8);
    /// A person agreed to a deletion; it lifts the deletion gate (the question before a mass deletion) of their own
    /// devices.
    pub const CONFIRMED: Self = Self(16);
    pub const MANIFEST: Self = Self(32);
    pub(crate) const OTHER_KEY: Self = Self(64);
    pub const SYMLINK: Self = Self(128);
    pub(crate) const ATTRIBUTES: Self = Self(256);
    const KNOWN: u64 = 511;

    /// Returns `true` if all of these are set.
    #[must_use]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the flags with these set, too.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the flags without these.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl NodeOp {
    fn code(self) -> u8 {
        match self {
            Self::Create => 1,
            Self::Content => 2,
            Self::Place => 3,
            Self::Trash => 4,
            Self::Untrash => 5,
            Self::Purge => 6,
            Self::Accept => 9,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            1 => Self::Create,
            2 => Self::Content,
            3 => Self::Place,
            4 => Self::Trash,
            5 => Self::Untrash,
            6 => Self::Purge,
            9 => Self::Accept,
            _ => return None,
        })
    }
}

impl Statement {
    /// Returns the bytes of the statement.
    ///
    /// # Errors
    /// [`LogError::InvalidInput`] if it contradicts itself.
    pub fn encode(&self) -> std::result::Result<Vec<u8>, LogError> {
        match self {
            Self::Node(statement) => statement.encode(),
            Self::Control(control) => control.encode(),
        }
    }

    /// Reads a statement.
    ///
    /// # Errors
    /// [`LogError::UnsupportedFormat`] for a kind or flag that this version doesn't know: the reader
    /// has to be updated. [`LogError::NotGenuine`] for anything else that no writer makes.
    pub fn decode(bytes: &[u8]) -> std::result::Result<Self, LogError> {
        let kind = *bytes.first().ok_or(LogError::NotGenuine)?;
        match NodeOp::from_code(kind) {
            Some(_) => NodeStatement::decode(bytes).map(Self::Node),
            None => Control::decode(bytes).map(Self::Control),
        }
    }
}

impl NodeStatement {
    /// Returns the key that the content is sealed under.
    #[must_use]
    pub fn content_key(&self) -> NodeKeyRef {
        let own = NodeKeyRef {
            node: self.node,
            epoch: self.epoch,
        };
        self.file.and_then(|file| file.key).unwrap_or(own)
    }
}

pub(super) fn flags(bits: u64, known: u64) -> Result<Flags> {
    match u32::try_from(bits & !known) {
        Ok(0) => Ok(Flags(bits)),
        Ok(unknown) => Err(LogError::UnsupportedFormat(unknown)),
        Err(_) => Err(LogError::UnsupportedFormat(u32::MAX)),
    }
}

pub(super) fn node_id(reader: &mut Reader<'_>) -> Result<NodeId> {
    reader.array().map(|id| NodeId(Uuid::from_bytes(id)))
}

/// Reads an id of which zeros mean none.
pub(super) fn optional_node(reader: &mut Reader<'_>) -> Result<Option<NodeId>> {
    node_id(reader).map(|id| Some(id).filter(|id| !id.0.is_nil()))
}

/// Returns `true` if a name can be a file's: UTF-8, NFC, 1 to 255 bytes, without NUL and `/`, and
/// neither `.` nor `..`.
#[must_use]
pub fn is_usable_name(name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok_and(|name| {
        (1..=255).contains(&name.len())
            && !name.contains(['\0', '/'])
            && name != "."
            && name != ".."
            && is_nfc(name)
    })
}

/// Returns the id of the revision that a statement makes, from the statement's bytes.
#[must_use]
pub fn revision_id(statement: &[u8]) -> RevisionId {
    RevisionId(uuid::Builder::from_custom_bytes(super::short_hash(statement)).into_uuid())
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Flags({})", self.0)
    }
}

#[cfg(test)]
mod tests;
