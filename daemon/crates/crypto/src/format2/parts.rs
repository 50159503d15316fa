//! Long lists of chunks: a writer chooses between one manifest and several parts with a top that lists them; a reader
//! joins them again. Equal parts have equal objects: an edit in a long file seals one part and the top anew.

use crate::error::{CryptoError, Result};
use crate::format2::keys::NodeKey;
use crate::format2::manifest::{ChunkRow, Manifest, PartRow, ROWS_PER_PART, TopManifest};
use crate::format2::object::SealedObject;
use cairn_log::{NodeKeyRef, ObjectId};

/// The objects that describe one file: what its statement names, and the parts if it has any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedManifest {
    /// The object of the statement.
    pub named: SealedObject,
    pub parts: Vec<SealedObject>,
}

/// The object of a statement or a record, opened: all chunks of a file, or the parts that have them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenedManifest {
    Whole(Manifest),
    Parts(TopManifest),
}

/// Opens the manifest that a statement or a record names. A whole one has the length `size`.
///
/// # Errors
/// [`CryptoError::NotAuthentic`] if it was altered, is another one, or has another length.
pub fn open_manifest(
    key: &NodeKey,
    id: &ObjectId,
    sealed: &[u8],
    size: u64,
) -> std::result::Result<OpenedManifest, CryptoError> {
    // Which one it is stands inside of the seal; those with parts are rare.
    let Ok(whole) = Manifest::open(key, id, sealed, false) else {
        return TopManifest::open(key, id, sealed).map(OpenedManifest::Parts);
    };
    if whole.rows.len() < 2 || whole.size() != size {
        return Err(CryptoError::NotAuthentic);
    }
    Ok(OpenedManifest::Whole(whole))
}

/// Seals the manifest of a file of two chunks or more, in parts if it is long.
///
/// `cut` is the place of the key that the file was cut with; every part keeps only the keys that its
/// rows name.
///
/// # Errors
/// [`CryptoError::InvalidInput`] for rows that no manifest can have.
pub fn plan_manifest(
    key: &NodeKey,
    manifest: &Manifest,
) -> std::result::Result<PlannedManifest, CryptoError> {
    if manifest.rows.len() < 2 {
        return Err(CryptoError::InvalidInput(
            "a file of one chunk has no manifest",
        ));
    }
    if manifest.rows.len() <= ROWS_PER_PART {
        let (named, parts) = (manifest.seal(key, false)?, Vec::new());
        return Ok(PlannedManifest { named, parts });
    }
    let mut parts = Vec::new();
    let mut rows = Vec::new();
    for chunk in manifest.rows.chunks(ROWS_PER_PART) {
        let part = part(manifest, chunk)?;
        let length = part.encode()?.len() as u64;
        let object = part.seal(key, true)?;
        rows.push(PartRow {
            key: 0,
            id: object.id,
            length,
        });
        parts.push(object);
    }
    let top = TopManifest {
        keys: vec![key.at()],
        parts: rows,
    };
    let named = top.seal(key)?;
    Ok(PlannedManifest { named, parts })
}

fn part(manifest: &Manifest, rows: &[ChunkRow]) -> Result<Manifest> {
    let wrong = || CryptoError::InvalidInput("a row names a key that the manifest doesn't have");
    let mut keys: Vec<NodeKeyRef> = Vec::new();
    let mut place = |old: u8| {
        let key = manifest.keys.get(usize::from(old)).ok_or_else(wrong)?;
        let found = keys.iter().position(|known| known == key);
        Ok(found.unwrap_or_else(|| {
            keys.push(*key);
            keys.len() - 1
        }) as u8)
    };
    let cut = place(manifest.cut)?;
    let rows = rows
        .iter()
        .map(|row| place(row.key).map(|key| ChunkRow { key, ..*row }))
        .collect::<Result<Vec<_>>>()?;
    Ok(Manifest { keys, cut, rows })
}

/// Joins the opened parts of a long manifest, in order. The whole has the length `size` that a
/// statement says.
///
/// # Errors
/// [`CryptoError::NotAuthentic`] if they aren't the parts of one file that a writer makes.
pub fn join_parts(
    top: &TopManifest,
    parts: &[Manifest],
    size: u64,
) -> std::result::Result<Manifest, CryptoError> {
    let (last, full) = parts.split_last().ok_or(CryptoError::NotAuthentic)?;
    let lengths_hold = top.parts.len() == parts.len()
        && full.iter().all(|part| part.rows.len() == ROWS_PER_PART)
        && last.rows.len() <= ROWS_PER_PART;
    if !lengths_hold {
        return Err(CryptoError::NotAuthentic);
    }
    let mut joined = Manifest {
        keys: Vec::new(),
        cut: 0,
        rows: Vec::with_capacity(full.len() * ROWS_PER_PART + last.rows.len()),
    };
    let mut cut = None;
    for (part, row) in parts.iter().zip(&top.parts) {
        let own_cut = part.keys[usize::from(part.cut)];
        let is_own = part.encode()?.len() as u64 == row.length;
        if *cut.get_or_insert(own_cut) != own_cut || !is_own {
            return Err(CryptoError::NotAuthentic);
        }
        let mut places = Vec::with_capacity(part.keys.len());
        for key in &part.keys {
            places.push(place(&mut joined.keys, *key)?);
        }
        joined.cut = places[usize::from(part.cut)];
        joined.rows.extend(part.rows.iter().map(|row| ChunkRow {
            key: places[usize::from(row.key)],
            ..*row
        }));
    }
    if joined.size() != size {
        return Err(CryptoError::NotAuthentic);
    }
    Ok(joined)
}

fn place(keys: &mut Vec<NodeKeyRef>, key: NodeKeyRef) -> Result<u8> {
    let found = keys.iter().position(|known| *known == key);
    let place = found.unwrap_or_else(|| {
        keys.push(key);
        keys.len() - 1
    });
    u8::try_from(place)
        .ok()
        .filter(|place| *place < 255)
        .ok_or(CryptoError::NotAuthentic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format2::SpaceSecret;
    use cairn_model::{NodeId, SpaceId};

    fn key() -> NodeKey {
        let space = SpaceId::from_random_bytes([1; 16]);
        let secret = SpaceSecret::from_bytes(space, 2, &[7; 32]).unwrap();
        secret.keys().node(NodeId::from_random_bytes([1; 16]))
    }

    fn long_manifest(rows: usize) -> Manifest {
        let other = NodeKeyRef {
            epoch: 1,
            ..key().at()
        };
        let rows = (0..rows).map(|i| ChunkRow {
            key: u8::from(i < 20_000),
            id: ObjectId(*blake3::hash(&i.to_be_bytes()).as_bytes()),
            length: 1 + i as u64 % 1000,
            hash: [2; 32],
        });
        Manifest {
            keys: vec![key().at(), other],
            cut: 0,
            rows: rows.collect(),
        }
    }

    fn open_parts(planned: &PlannedManifest) -> (TopManifest, Vec<Manifest>) {
        let key = key();
        let named = &planned.named;
        let top = TopManifest::open(&key, &named.id, &named.bytes).unwrap();
        let part = |part: &SealedObject| Manifest::open(&key, &part.id, &part.bytes, true).unwrap();
        (top, planned.parts.iter().map(part).collect())
    }

    #[test]
    fn a_long_manifest_comes_back_from_its_parts() {
        let manifest = long_manifest(2 * ROWS_PER_PART + 5);
        let (top, parts) = open_parts(&plan_manifest(&key(), &manifest).unwrap());
        assert_eq!(parts.len(), 3);
        let joined = join_parts(&top, &parts, manifest.size()).unwrap();
        assert_eq!(joined.rows.len(), manifest.rows.len());
        for (a, b) in joined.rows.iter().zip(&manifest.rows) {
            let keys = (
                joined.keys[usize::from(a.key)],
                manifest.keys[usize::from(b.key)],
            );
            assert_eq!((a.id, a.length, keys.0), (b.id, b.length, keys.1));
        }
        assert!(join_parts(&top, &parts, manifest.size() + 1).is_err());
        assert!(join_parts(&top, &parts[..2], parts[0].size() + parts[1].size()).is_err());
        let swapped = [parts[2].clone(), parts[1].clone(), parts[0].clone()];
        assert!(join_parts(&top, &swapped, manifest.size()).is_err());
    }

    #[test]
    fn an_edit_seals_one_part_and_the_top() {
        let mut manifest = long_manifest(3 * ROWS_PER_PART);
        let before = plan_manifest(&key(), &manifest).unwrap();
        manifest.rows[ROWS_PER_PART + 7].hash = [9; 32];
        let after = plan_manifest(&key(), &manifest).unwrap();
        let same: Vec<bool> = before
            .parts
            .iter()
            .zip(&after.parts)
            .map(|(a, b)| a == b)
            .collect();
        assert_eq!(same, [true, false, true]);
        assert_ne!(before.named, after.named);
    }

    #[test]
    fn sixteen_thousand_chunks_need_no_parts() {
        let planned = plan_manifest(&key(), &long_manifest(ROWS_PER_PART)).unwrap();
        assert!(planned.parts.is_empty());
        let named = &planned.named;
        let size = long_manifest(ROWS_PER_PART).size();
        let open = |size| open_manifest(&key(), &named.id, &named.bytes, size);
        assert_eq!(
            open(size).unwrap(),
            OpenedManifest::Whole(long_manifest(ROWS_PER_PART))
        );
        assert!(open(size + 1).is_err());
        assert!(plan_manifest(&key(), &long_manifest(1)).is_err());
    }
}
