//! Conversion between database rows and the types of the API: ids as blobs of 16 bytes, nodes (files and folders) with
//! their current revision (version of the content), packed lists of chunks.

use super::{Source, Space};
use crate::db::{self, Row};
use crate::error::{Error, Result};
use cairn_model::{
    AccountId, Category, ChunkId, DeviceId, Kind, NameFormat, NodeId, RevisionId, SpaceId, TeamId,
    UploadId,
};
use cairn_wire::nodes::{ContentSource, Node, NodeState};
use cairn_wire::transfer::SealedChunk;
use cairn_wire::{Sealed, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

/// An id that is stored as the 16 bytes of its UUID.
pub(super) trait Id: Sized {
    fn of(bytes: [u8; 16]) -> Self;
}

macro_rules! ids {
    ($($name:ident),*) => {
        $(impl Id for $name {
            fn of(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }
        })*
    };
}

ids!(
    AccountId, DeviceId, NodeId, RevisionId, SpaceId, TeamId, UploadId
);

impl Id for Uuid {
    fn of(bytes: [u8; 16]) -> Self {
        Self::from_bytes(bytes)
    }
}

pub(super) fn id<T: Id>(row: &Row<'_>, column: usize) -> db::Result<T> {
    row.get(column).map(T::of)
}

pub(super) fn optional_id<T: Id>(row: &Row<'_>, column: usize) -> db::Result<Option<T>> {
    Ok(row.get::<Option<[u8; 16]>>(column)?.map(T::of))
}

/// Returns the node and revision whose content this is a copy of, from two columns, both of them null for none.
pub(super) fn content_source(row: &Row<'_>, column: usize) -> db::Result<Option<ContentSource>> {
    let node: Option<NodeId> = optional_id(row, column)?;
    let revision: Option<RevisionId> = optional_id(row, column + 1)?;
    let ids = node.zip(revision);
    Ok(ids.map(|(node_id, revision_id)| ContentSource {
        node_id,
        revision_id,
    }))
}

/// A fresh random id.
pub(super) fn fresh_id(source: &Source) -> Uuid {
    uuid::Builder::from_random_bytes(source.bytes()).into_uuid()
}

/// A column that holds a value of an enum by its name on the wire.
pub(super) fn word<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> db::Result<T> {
    let text: String = row.get(column)?;
    read_word(&text).map_err(|e| db::Error::column(column, e))
}

/// The same for one that may be NULL.
pub(super) fn optional_word<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
) -> db::Result<Option<T>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| read_word(&text).map_err(|e| db::Error::column(column, e)))
        .transpose()
}

fn read_word<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_value(serde_json::Value::String(text.to_owned()))
}

/// The name on the wire of an enum's value.
pub(super) fn name_of<T: Serialize>(value: &T) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|name| name.as_str().map(str::to_owned))
        .unwrap_or_default()
}

/// Returns the stored form of a parent: an empty blob at the top of the space.
pub(super) fn parent_blob(parent: Option<&NodeId>) -> &[u8] {
    parent.map_or(&[], |id| id.as_bytes())
}

pub(super) fn parent_id(row: &Row<'_>, column: usize) -> db::Result<Option<NodeId>> {
    let blob: Vec<u8> = row.get(column)?;
    Ok(<[u8; 16]>::try_from(blob.as_slice()).ok().map(NodeId::of))
}

/// The states of a node's row. A deleted one is all that is left of it, so that its id stays taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Active,
    Trashed,
    Deleted,
}

impl State {
    fn of(number: i64) -> Self {
        match number {
            0 => Self::Active,
            1 => Self::Trashed,
            _ => Self::Deleted,
        }
    }
}

/// A node's row, with what never travels.
#[derive(Clone, Debug)]
pub(super) struct NodeRow {
    pub(super) row: i64,
    pub(super) space: i64,
    pub(super) state: State,
    pub(super) trash_root: Option<NodeId>,
    pub(super) created_seq: i64,
    pub(super) node: Node,
}

/// The columns that [`node_row`] reads, in its order.
pub(super) const NODE_COLUMNS: &str = "n.row, n.space, n.state, n.trash_root, n.created_seq, n.id, n.parent, n.kind, n.name, \
     n.size, n.revision, n.version, n.seq, n.created_at, n.updated_at, n.modified_at, n.executable, n.favorite, \
     n.description, n.labels, n.tags, n.seal, n.device, r.source_node, r.source_revision, s.id";

/// The tables that [`NODE_COLUMNS`] speaks of. Of the revisions only those that are copies have something to say, and
/// an index of these alone is small: each node would else cost a look at a place of its own in the largest table.
pub(super) const NODE_TABLES: &str = "nodes n JOIN spaces s ON s.row = n.space \
     LEFT JOIN revisions r ON r.id = n.revision AND r.source_node IS NOT NULL";

pub(super) fn node_row(row: &Row<'_>) -> db::Result<NodeRow> {
    let state = State::of(row.get(2)?);
    let kind = if row.get::<i64>(7)? == 1 {
        Kind::Folder
    } else {
        Kind::File
    };
    let name: String = row.get(8)?;
    let (mime_type, category) = media(kind, &name);
    let space_id = id(row, 25)?;
    let node = Node {
        id: id(row, 5)?,
        space_id,
        parent_id: parent_id(row, 6)?,
        kind,
        name,
        name_format: name_format(space_id),
        size: row.get(9)?,
        mime_type,
        category,
        state: if state == State::Active {
            NodeState::Active
        } else {
            NodeState::Trashed
        },
        revision_id: optional_id(row, 10)?,
        content_source: content_source(row, 23)?,
        version: row.get(11)?,
        created_at: Timestamp(row.get(13)?),
        updated_at: Timestamp(row.get(14)?),
        modified_at: row.get::<Option<i64>>(15)?.map(Timestamp),
        executable: row.get(16)?,
        description: row.get(18)?,
        labels: json(row, 19)?,
        tags: json(row, 20)?,
        favorite: row.get(17)?,
        seal: row.get::<Option<Vec<u8>>>(21)?.map(Sealed),
        seq: row.get(12)?,
        device_id: optional_id(row, 22)?,
    };
    Ok(NodeRow {
        row: row.get(0)?,
        space: row.get(1)?,
        state,
        trash_root: optional_id(row, 3)?,
        created_seq: row.get(4)?,
        node,
    })
}

pub(super) fn json<T: DeserializeOwned + Default>(row: &Row<'_>, column: usize) -> db::Result<T> {
    let text: Option<String> = row.get(column)?;
    text.map_or_else(
        || Ok(T::default()),
        |text| serde_json::from_str(&text).map_err(|e| db::Error::column(column, e)),
    )
}

impl NodeRow {
    pub(super) fn is_in(&self, space: Space) -> bool {
        self.space == space.row && self.state != State::Deleted
    }
}

/// Returns the form in which a space's names are stored.
pub(super) fn name_format(space: SpaceId) -> NameFormat {
    if space.is_private() {
        NameFormat::Sealed
    } else {
        NameFormat::Plain
    }
}

/// The media type that the name suggests, and the category that a person would file it under.
pub(super) fn media(kind: Kind, name: &str) -> (Option<String>, Option<Category>) {
    if kind == Kind::Folder {
        return (None, None);
    }
    let Some(mime) = mime_guess::from_path(name).first_raw() else {
        return (None, Some(Category::Other));
    };
    let category = match mime.split('/').next().unwrap_or_default() {
        "image" => Category::Image,
        "video" => Category::Video,
        "audio" => Category::Audio,
        "text" => Category::Document,
        _ if ["zip", "tar", "gzip", "7z", "rar", "bzip", "xz", "zstd"]
            .iter()
            .any(|a| mime.contains(a)) =>
        {
            Category::Archive
        }
        _ if [
            "pdf",
            "word",
            "document",
            "sheet",
            "excel",
            "presentation",
            "powerpoint",
            "rtf",
            "epub",
        ]
        .iter()
        .any(|d| mime.contains(d)) =>
        {
            Category::Document
        }
        _ => Category::Other,
    };
    (Some(mime.to_owned()), Some(category))
}

/// The length of one chunk in a packed list.
const PACKED: usize = 40;

/// Packs distinct chunks, in order of their first appearance.
pub(super) fn pack_chunks(chunks: &[SealedChunk]) -> Vec<u8> {
    let mut seen = std::collections::HashSet::with_capacity(chunks.len());
    let mut out = Vec::with_capacity(chunks.len() * PACKED);
    for chunk in chunks {
        if seen.insert(chunk.id) {
            out.extend_from_slice(&chunk.id.0);
            out.extend_from_slice(&chunk.size.to_be_bytes());
        }
    }
    out
}

pub(super) fn unpack_chunks(packed: &[u8]) -> Result<Vec<SealedChunk>> {
    packed
        .chunks(PACKED)
        .map(|one| {
            let (id, size) = one.split_at_checked(32)?;
            Some(SealedChunk {
                id: ChunkId(id.try_into().ok()?),
                size: u64::from_be_bytes(size.try_into().ok()?),
            })
        })
        .collect::<Option<_>>()
        .ok_or_else(damaged_error)
}

/// A chunk of a revision, and the node that it was stored for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeldChunk {
    pub(super) chunk: SealedChunk,
    pub(super) holder: NodeId,
}

/// The length of one chunk in the packed list of a revision.
pub(super) const HELD: usize = PACKED + 16;

/// Packs the distinct chunks of a revision.
pub(super) fn pack_held(chunks: &[HeldChunk]) -> Vec<u8> {
    let mut out = Vec::with_capacity(chunks.len() * HELD);
    for one in chunks {
        out.extend_from_slice(&one.chunk.id.0);
        out.extend_from_slice(&one.chunk.size.to_be_bytes());
        out.extend_from_slice(one.holder.as_bytes());
    }
    out
}

fn read_held(packed: &[u8]) -> Option<HeldChunk> {
    let (id, rest) = packed.split_first_chunk()?;
    let (size, holder) = rest.split_first_chunk()?;
    let chunk = SealedChunk {
        id: ChunkId(*id),
        size: u64::from_be_bytes(*size),
    };
    let holder = NodeId(Uuid::from_bytes(holder.try_into().ok()?));
    Some(HeldChunk { chunk, holder })
}

fn damaged_error() -> Error {
    Error::Internal("a packed chunk list is damaged".into())
}

pub(super) fn unpack_held(packed: &[u8]) -> Result<Vec<HeldChunk>> {
    packed
        .chunks(HELD)
        .map(read_held)
        .collect::<Option<_>>()
        .ok_or_else(damaged_error)
}

/// Finds one chunk in the packed list of a revision.
pub(super) fn find_held(packed: &[u8], id: ChunkId) -> Result<Option<HeldChunk>> {
    if !packed.len().is_multiple_of(HELD) {
        return Err(damaged_error());
    }
    let mut all = packed.chunks_exact(HELD);
    Ok(all.find(|one| one.starts_with(&id.0)).and_then(read_held))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revisions_chunks_come_back_with_their_holders() {
        let held = |n: u8| HeldChunk {
            chunk: SealedChunk {
                id: ChunkId([n; 32]),
                size: u64::from(n),
            },
            holder: NodeId::from_random_bytes([n; 16]),
        };
        let packed = pack_held(&[held(1), held(2)]);
        assert_eq!(unpack_held(&packed).unwrap(), [held(1), held(2)]);
        let found = |id| find_held(&packed, ChunkId(id)).unwrap();
        assert_eq!(found([2; 32]), Some(held(2)));
        assert_eq!(found([3; 32]), None);
        for cut in [1, 40, 55, 57, 100] {
            assert!(unpack_held(&packed[..cut]).is_err(), "{cut}");
            assert!(find_held(&packed[..cut], ChunkId([1; 32])).is_err());
        }
    }

    #[test]
    fn a_chunk_list_comes_back_without_repetitions() {
        let chunk = |n: u8| SealedChunk {
            id: ChunkId([n; 32]),
            size: u64::from(n) * 1000,
        };
        let packed = pack_chunks(&[chunk(1), chunk(2), chunk(1), chunk(3)]);
        assert_eq!(
            unpack_chunks(&packed).unwrap(),
            [chunk(1), chunk(2), chunk(3)]
        );
        assert!(unpack_chunks(&packed[..50]).is_err());
    }

    #[test]
    fn a_name_suggests_its_category() {
        let category = |name| media(Kind::File, name).1.unwrap();
        assert_eq!(category("a.jpg"), Category::Image);
        assert_eq!(category("a.pdf"), Category::Document);
        assert_eq!(category("a.tar.gz"), Category::Archive);
        assert_eq!(category("noextension"), Category::Other);
        assert_eq!(media(Kind::Folder, "a.jpg"), (None, None));
    }
}
