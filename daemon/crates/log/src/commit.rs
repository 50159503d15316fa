//! Commits: statements (changes of nodes, members or keys) that a device signs together, and what stays of them when
//! the statements' bodies are pruned.
//!
//! header: "C2" · history 16 · device u32 · own v (a number that rises with each commit of the device) · seen v
//! and root 32 (the size and root of the log that it continues) · clock u48 · count v. A commit is header ·
//! signature 64 · statements, v+x each; its leaf is header · signature · root over the statements.
//!
//! In layouts a number is a length in bytes, v a LEB128 number, and v+x bytes after their length, a v.

use crate::associated_data::AssociatedData;
use crate::bytes::{Reader, Writer};
use crate::error::{LogError, Result, require};
use crate::signature::verify;
use crate::tree::root_of;
use cairn_model::SpaceId;

/// The most statements of a commit.
pub const MAX_STATEMENTS: usize = 256;
/// The longest commit, in bytes.
pub const MAX_COMMIT: usize = 1 << 20;
const MAGIC: [u8; 2] = *b"C2";

/// The signed head of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitHeader {
    /// The id of the history that it continues.
    pub history: [u8; 16],
    /// The number of the signing device.
    pub device: u32,
    /// Rises with each signature of the device; gaps mean nothing.
    pub own: u64,
    /// The size of the tree that the device had verified.
    pub seen: u64,
    /// The root of that tree.
    pub root: [u8; 32],
    pub clock_ms: u64,
    pub count: u64,
}

/// A commit, decoded; its statements still as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    pub header: CommitHeader,
    pub signature: [u8; 64],
    pub statements: Vec<Vec<u8>>,
}

/// The leaf of a commit: all that the tree needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitLeaf {
    pub header: CommitHeader,
    pub signature: [u8; 64],
    /// The root over the statements.
    pub statements: [u8; 32],
}

impl CommitHeader {
    fn write(&self, out: &mut Writer) {
        out.raw(&MAGIC)
            .raw(&self.history)
            .u32(self.device)
            .v(self.own)
            .v(self.seen)
            .raw(&self.root)
            .u48(self.clock_ms)
            .v(self.count);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        require(reader.array()? == MAGIC)?;
        let header = Self {
            history: reader.array()?,
            device: reader.u32()?,
            own: reader.v()?,
            seen: reader.v()?,
            root: reader.array()?,
            clock_ms: reader.u48()?,
            count: reader.v()?,
        };
        require((1..=MAX_STATEMENTS as u64).contains(&header.count) && header.device != 0)?;
        Ok(header)
    }

    fn to_sign(&self, space: SpaceId, statements: &[u8; 32]) -> AssociatedData {
        let mut header = Writer::new();
        self.write(&mut header);
        AssociatedData::new("cairn/2/commit")
            .id(&space)
            .bytes(&header.finish())
            .bytes(statements)
    }
}

impl Commit {
    /// Returns the bytes of the commit.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        self.header.write(&mut out);
        out.raw(&self.signature);
        for statement in &self.statements {
            out.vx(statement);
        }
        out.finish()
    }

    /// Reads a commit; its statements stay bytes.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] for anything that no writer makes.
    pub fn decode(bytes: &[u8]) -> std::result::Result<Self, LogError> {
        require(bytes.len() <= MAX_COMMIT)?;
        let mut reader = Reader::new(bytes);
        let header = CommitHeader::read(&mut reader)?;
        let signature = reader.array()?;
        let mut statements = Vec::new();
        for _ in 0..header.count {
            statements.push(reader.vx(MAX_COMMIT)?.to_vec());
        }
        reader.end()?;
        Ok(Self {
            header,
            signature,
            statements,
        })
    }

    /// Makes a commit that has yet to be signed; the header's count is set.
    ///
    /// # Errors
    /// [`LogError::InvalidInput`] for a commit that no reader takes: too long, or empty.
    pub fn unsigned(
        mut header: CommitHeader,
        statements: Vec<Vec<u8>>,
    ) -> std::result::Result<Self, LogError> {
        header.count = statements.len() as u64;
        let commit = Self {
            header,
            signature: [0; 64],
            statements,
        };
        Self::decode(&commit.encode()).map_err(|_| {
            LogError::InvalidInput("a commit has 1 to 256 statements and at most 1 MiB")
        })
    }

    /// Returns the bytes that the device signs.
    #[must_use]
    pub fn to_sign(&self, space: SpaceId) -> AssociatedData {
        self.header.to_sign(space, &root_of(&self.statements))
    }

    /// Returns the leaf of the commit.
    #[must_use]
    pub fn leaf(&self) -> CommitLeaf {
        CommitLeaf {
            header: self.header.clone(),
            signature: self.signature,
            statements: root_of(&self.statements),
        }
    }

    /// Checks the signature with the key of the header's device.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] if it isn't that device's for this space.
    pub fn verify(&self, space: SpaceId, key: &[u8; 32]) -> std::result::Result<(), LogError> {
        self.leaf().verify(space, key)
    }
}

impl CommitLeaf {
    /// Returns the bytes of the leaf.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        self.header.write(&mut out);
        out.raw(&self.signature).raw(&self.statements).finish()
    }

    /// Reads a leaf.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] for anything that no writer makes.
    pub fn decode(bytes: &[u8]) -> std::result::Result<Self, LogError> {
        let mut reader = Reader::new(bytes);
        let header = CommitHeader::read(&mut reader)?;
        let (signature, statements) = (reader.array()?, reader.array()?);
        reader.end()?;
        Ok(Self {
            header,
            signature,
            statements,
        })
    }

    /// Checks the signature with the key of the header's device.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] if it isn't that device's for this space.
    pub fn verify(&self, space: SpaceId, key: &[u8; 32]) -> std::result::Result<(), LogError> {
        let signed = self.header.to_sign(space, &self.statements);
        verify(key, &signed, &self.signature)
    }
}

#[cfg(test)]
mod tests;
