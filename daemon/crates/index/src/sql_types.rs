//! Conversions between columns and types: every value read back is checked, never trusted.

use crate::error::IndexError;
use cairn_model::{ContentHash, Kind, LocalId, Name, NodeId};
use rusqlite::Row;

/// The zero id: as a parent, the top of the space.
pub(crate) const TOP: [u8; 16] = [0; 16];

pub(crate) fn kind_to(kind: Kind) -> i64 {
    match kind {
        Kind::File => 0,
        Kind::Folder => 1,
    }
}

pub(crate) fn kind_from(value: i64) -> Result<Kind, IndexError> {
    match value {
        0 => Ok(Kind::File),
        1 => Ok(Kind::Folder),
        _ => Err(IndexError::Corrupt("kind")),
    }
}

pub(crate) fn name_from(text: String) -> Result<Name, IndexError> {
    Name::new(text).map_err(|_| IndexError::Corrupt("name"))
}

/// Returns the bytes of a 16-byte id.
pub(crate) fn id_from(bytes: &[u8]) -> Result<[u8; 16], IndexError> {
    bytes.try_into().map_err(|_| IndexError::Corrupt("id"))
}

pub(crate) fn node_from(bytes: &[u8]) -> Result<NodeId, IndexError> {
    Ok(NodeId(uuid::Uuid::from_bytes(id_from(bytes)?)))
}

/// Returns the node whose id is in a column of a row.
pub(crate) fn node_at(row: &Row<'_>, column: usize) -> Result<NodeId, IndexError> {
    let id: Vec<u8> = row.get(column)?;
    node_from(&id)
}

pub(crate) fn parent_node_from(bytes: &[u8]) -> Result<Option<NodeId>, IndexError> {
    if bytes == TOP {
        Ok(None)
    } else {
        node_from(bytes).map(Some)
    }
}

pub(crate) fn parent_node_to(parent: Option<NodeId>) -> [u8; 16] {
    parent.map_or(TOP, |id| *id.as_bytes())
}

pub(crate) fn parent_local_from(id: i64) -> Option<LocalId> {
    (id != 0).then_some(LocalId(id))
}

pub(crate) fn parent_local_to(parent: Option<LocalId>) -> i64 {
    parent.map_or(0, |id| id.0)
}

pub(crate) fn hash_from(bytes: Option<Vec<u8>>) -> Result<Option<ContentHash>, IndexError> {
    bytes
        .map(|b| {
            b.try_into()
                .map(ContentHash)
                .map_err(|_| IndexError::Corrupt("hash"))
        })
        .transpose()
}

pub(crate) fn to_unsigned(value: i64) -> Result<u64, IndexError> {
    u64::try_from(value).map_err(|_| IndexError::Corrupt("negative number"))
}

/// Sizes and counts fit 63 bits on every file system there is.
pub(crate) fn to_signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Device and inode numbers use all 64 bits; SQLite keeps them as the same bits, signed.
pub(crate) fn bits_to(value: u64) -> i64 {
    i64::from_ne_bytes(value.to_ne_bytes())
}

pub(crate) fn bits_from(value: i64) -> u64 {
    u64::from_ne_bytes(value.to_ne_bytes())
}

/// Collects rows through a fallible reader.
pub(crate) fn collect<T>(
    rows: &mut rusqlite::Rows<'_>,
    read: impl Fn(&Row<'_>) -> Result<T, IndexError>,
) -> Result<Vec<T>, IndexError> {
    let mut out = Vec::new();
    while let Some(row) = rows.next()? {
        out.push(read(row)?);
    }
    Ok(out)
}

/// Returns the first row, if there is one.
pub(crate) fn first_row<T>(
    rows: &mut rusqlite::Rows<'_>,
    read: impl Fn(&Row<'_>) -> Result<T, IndexError>,
) -> Result<Option<T>, IndexError> {
    rows.next()?.map(read).transpose()
}
