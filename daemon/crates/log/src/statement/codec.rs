//! Statements about nodes as bytes, and what makes one contradict itself.

use super::{
    AttributesRef, FileFacts, FilePart, Flags, MAX_ATTRIBUTES, MAX_BOX, MAX_TARGET, NodeOp,
    NodeStatement, flags, node_id, optional_node,
};
use crate::bytes::{Reader, Writer};
use crate::error::{LogError, Result};
use crate::ids::{NodeKeyRef, ObjectId};

impl NodeStatement {
    pub(super) fn encode(&self) -> Result<Vec<u8>> {
        self.check()
            .map_err(|_| LogError::InvalidInput("the statement contradicts itself"))?;
        let mut out = Writer::new();
        out.u8(self.op.code())
            .raw(self.node.as_bytes())
            .v(self.seq)
            .raw(&self.prev)
            .v(self.all_flags().0)
            .raw(self.parent.as_ref().map_or(&[0; 16], |id| id.as_bytes()))
            .vx(&self.name)
            .v(self.epoch);
        if let Some(file) = &self.file {
            out.raw(&file.object.0);
            if let Some(facts) = file.facts {
                out.v(facts.size).zz(facts.mtime_ms);
            }
            if let Some(key) = file.key {
                out.raw(key.node.as_bytes()).v(key.epoch);
            }
            if let Some(attributes) = file.attributes {
                out.raw(&attributes.object.0)
                    .raw(attributes.key.node.as_bytes())
                    .v(attributes.key.epoch)
                    .v(attributes.length);
            }
        }
        Ok(out.vx(&self.sealed_box).finish())
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes);
        let op = NodeOp::from_code(reader.u8()?).ok_or(LogError::NotGenuine)?;
        let node = node_id(&mut reader)?;
        let seq = reader.v()?;
        let prev = reader.array()?;
        let flags = flags(reader.v()?, Flags::KNOWN)?;
        let parent = optional_node(&mut reader)?;
        let name = reader.vx(usize::MAX)?.to_vec();
        let epoch = reader.v()?;
        let file = if flags.has(Flags::FOLDER) {
            None
        } else {
            Some(read_file(&mut reader, flags)?)
        };
        let sealed_box = reader.vx(MAX_BOX)?.to_vec();
        reader.end()?;
        let statement = Self {
            op,
            node,
            seq,
            prev,
            flags: flags.without(Flags::OTHER_KEY).without(Flags::ATTRIBUTES),
            parent,
            name,
            epoch,
            file,
            sealed_box,
        };
        statement.check()?;
        if statement.all_flags() != flags {
            return Err(LogError::NotGenuine);
        }
        Ok(statement)
    }

    /// The flags with those that the fields imply.
    fn all_flags(&self) -> Flags {
        let mut flags = self.flags;
        if let Some(file) = &self.file {
            if file.key.is_some() {
                flags = flags.with(Flags::OTHER_KEY);
            }
            if file.attributes.is_some() {
                flags = flags.with(Flags::ATTRIBUTES);
            }
        }
        flags
    }

    fn check(&self) -> Result<()> {
        let flag = |flag| self.flags.has(flag);
        let is_private = flag(Flags::PRIVATE);
        let shape_holds = match &self.file {
            None => {
                let of_files = [Flags::EXECUTABLE, Flags::MANIFEST, Flags::SYMLINK];
                flag(Flags::FOLDER) && !of_files.into_iter().any(flag)
            }
            Some(file) => {
                !flag(Flags::FOLDER)
                    && file.facts.is_none() == is_private
                    && self.key_holds(file)
                    && self.link_holds(file)
            }
        };
        let state_holds = match self.op {
            NodeOp::Create | NodeOp::Untrash => !flag(Flags::TRASHED),
            NodeOp::Trash => flag(Flags::TRASHED),
            NodeOp::Content | NodeOp::Place | NodeOp::Purge | NodeOp::Accept => true,
        };
        let has_box = !self.sealed_box.is_empty();
        let box_holds = has_box == (is_private || self.file.is_some());
        let holds = shape_holds
            && state_holds
            && box_holds
            && self.name.is_empty() == is_private
            && (!flag(Flags::CONFIRMED) || self.op == NodeOp::Trash)
            && self.seq > 0
            && self.epoch > 0
            && self.parent != Some(self.node)
            && !self.node.0.is_nil();
        if holds {
            Ok(())
        } else {
            Err(LogError::NotGenuine)
        }
    }

    /// The node's own key of this epoch has one form: none is named.
    fn key_holds(&self, file: &FilePart) -> bool {
        let is_other = |key: NodeKeyRef| (key.node, key.epoch) != (self.node, self.epoch);
        let is_past = |key: NodeKeyRef| key.epoch > 0 && key.epoch <= self.epoch;
        file.key.is_none_or(|key| is_other(key) && is_past(key))
            && file.attributes.is_none_or(|attributes| {
                is_past(attributes.key) && attributes.length <= MAX_ATTRIBUTES as u64
            })
    }

    fn link_holds(&self, file: &FilePart) -> bool {
        !self.flags.has(Flags::SYMLINK)
            || (!self.flags.has(Flags::EXECUTABLE)
                && !self.flags.has(Flags::MANIFEST)
                && file
                    .facts
                    .is_none_or(|facts| (1..=MAX_TARGET).contains(&facts.size)))
    }
}

fn read_file(reader: &mut Reader<'_>, flags: Flags) -> Result<FilePart> {
    let object = ObjectId(reader.array()?);
    let facts = if flags.has(Flags::PRIVATE) {
        None
    } else {
        let (size, mtime_ms) = (reader.v()?, reader.zz()?);
        Some(FileFacts { size, mtime_ms })
    };
    let key = match flags.has(Flags::OTHER_KEY) {
        true => Some(key_ref(reader)?),
        false => None,
    };
    let attributes = match flags.has(Flags::ATTRIBUTES) {
        true => Some(AttributesRef {
            object: ObjectId(reader.array()?),
            key: key_ref(reader)?,
            length: reader.v()?,
        }),
        false => None,
    };
    Ok(FilePart {
        object,
        facts,
        key,
        attributes,
    })
}

fn key_ref(reader: &mut Reader<'_>) -> Result<NodeKeyRef> {
    let (node, epoch) = (node_id(reader)?, reader.v()?);
    Ok(NodeKeyRef { node, epoch })
}
