//! One file behind a link: its content key, and enough of its manifest to fetch and check it, because
//! the manifest itself is sealed under a key that no link contains.
//!
//! Inside the seal, all numbers big-endian: format u32 · revision 16 · size u64 · modified i64 ·
//! hash 32 · content key 32 · path length u32 · path · count u32 · count × (chunk id 32, length u32).

use super::LinkKey;
use crate::aead;
use crate::chunker::MAX_CHUNK;
use crate::content::ContentKey;
use crate::error::CryptoError;
use crate::random::Random;
use cairn_log::AssociatedData;
use cairn_model::{ChunkId, ChunkRef, ContentHash, NodeId, RevisionId};
use uuid::Uuid;
use zeroize::Zeroizing;

const FORMAT: u32 = 1;
const FIXED: usize = 4 + 16 + 8 + 8 + 32 + 32 + 4 + 4;
const PER_CHUNK: usize = 32 + 4;

/// One file behind a link.
#[derive(Clone, Debug)]
pub struct LinkFile {
    pub revision: RevisionId,
    /// The path below the shared folder, names between slashes; for a shared file its name.
    pub path: String,
    pub size: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub modified_ms: i64,
    /// BLAKE3 of the whole plaintext.
    pub hash: ContentHash,
    pub key: ContentKey,
    pub chunks: Vec<ChunkRef>,
}

impl LinkKey {
    /// Seals a file for everybody who has the link.
    ///
    /// # Errors
    /// [`CryptoError::InvalidInput`] for a file with too many chunks.
    pub fn seal_file(
        &self,
        share: Uuid,
        node: NodeId,
        file: &LinkFile,
        rng: &mut dyn Random,
    ) -> Result<Vec<u8>, CryptoError> {
        Ok(aead::seal(
            &self.0,
            &associated_data(share, node),
            &encode(file)?,
            rng,
        ))
    }

    /// Opens the file of the requested link and node.
    ///
    /// # Errors
    /// [`CryptoError::Opaque`] with another secret or password, for another link or node, or if it
    /// contradicts itself.
    pub fn open_file(
        &self,
        share: Uuid,
        node: NodeId,
        sealed: &[u8],
    ) -> Result<LinkFile, CryptoError> {
        let plain = aead::open(&self.0, &associated_data(share, node), sealed)?;
        decode(&plain).ok_or(CryptoError::Opaque)?
    }
}

fn associated_data(share: Uuid, node: NodeId) -> AssociatedData {
    AssociatedData::new("cairn/link-file/1")
        .bytes(share.as_bytes())
        .id(&node)
}

fn encode(file: &LinkFile) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
    const TOO_LONG: CryptoError =
        CryptoError::InvalidInput("the file has too many chunks for a link");
    let path = u32::try_from(file.path.len()).map_err(|_| TOO_LONG)?;
    let count = u32::try_from(file.chunks.len()).map_err(|_| TOO_LONG)?;
    let length = FIXED + file.path.len() + file.chunks.len() * PER_CHUNK;
    let mut out = Zeroizing::new(Vec::with_capacity(length));
    out.extend_from_slice(&FORMAT.to_be_bytes());
    out.extend_from_slice(file.revision.as_bytes());
    out.extend_from_slice(&file.size.to_be_bytes());
    out.extend_from_slice(&file.modified_ms.to_be_bytes());
    out.extend_from_slice(&file.hash.0);
    out.extend_from_slice(file.key.root());
    out.extend_from_slice(&path.to_be_bytes());
    out.extend_from_slice(file.path.as_bytes());
    out.extend_from_slice(&count.to_be_bytes());
    for chunk in &file.chunks {
        out.extend_from_slice(&chunk.id.0);
        out.extend_from_slice(&chunk.len.to_be_bytes());
    }
    Ok(out)
}

/// Decodes the inside of a seal; `None` if bytes are missing or left over.
fn decode(plain: &[u8]) -> Option<Result<LinkFile, CryptoError>> {
    let mut rest = plain;
    let format = u32::from_be_bytes(array(&mut rest)?);
    if format != FORMAT {
        return Some(Err(CryptoError::UnsupportedFormat(format)));
    }
    let revision = RevisionId(Uuid::from_bytes(array(&mut rest)?));
    let size = u64::from_be_bytes(array(&mut rest)?);
    let modified_ms = i64::from_be_bytes(array(&mut rest)?);
    let hash = ContentHash(array(&mut rest)?);
    let key = Zeroizing::new(array::<32>(&mut rest)?);
    let length = u32::from_be_bytes(array(&mut rest)?) as usize;
    let (path, after) = rest.split_at_checked(length)?;
    rest = after;
    let path = std::str::from_utf8(path).ok()?.to_owned();
    let count = u32::from_be_bytes(array(&mut rest)?) as usize;
    // The count is used only if exactly that many chunks follow, so it can't cause a large allocation.
    if rest.len() != count.checked_mul(PER_CHUNK)? {
        return None;
    }
    let mut chunks = Vec::with_capacity(count);
    let mut total = 0_u64;
    for _ in 0..count {
        let id = ChunkId(array(&mut rest)?);
        let len = u32::from_be_bytes(array(&mut rest)?);
        if len == 0 || len as usize > MAX_CHUNK {
            return None;
        }
        total += u64::from(len);
        chunks.push(ChunkRef { id, len });
    }
    let key = match ContentKey::from_root(&*key) {
        Ok(key) => key,
        Err(error) => return Some(Err(error)),
    };
    (total == size).then_some(Ok(LinkFile {
        revision,
        path,
        size,
        modified_ms,
        hash,
        key,
        chunks,
    }))
}

fn array<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(*head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::LinkSecret;
    use crate::random::SystemRandom;

    fn file() -> LinkFile {
        let key = ContentKey::generate(&mut SystemRandom);
        let chunks = vec![ChunkRef {
            id: key.chunk_id(b"text"),
            len: 4,
        }];
        LinkFile {
            revision: RevisionId::from_random_bytes([3; 16]),
            path: "docs/a.txt".into(),
            size: 4,
            modified_ms: -1,
            hash: crate::content_hash(b"text"),
            key,
            chunks,
        }
    }

    #[test]
    fn a_file_opens_with_its_link_and_for_its_node_alone() {
        let rng = &mut SystemRandom;
        let (secret, other) = (LinkSecret::generate(rng), LinkSecret::generate(rng));
        let (share, node) = (
            Uuid::from_bytes([1; 16]),
            NodeId::from_random_bytes([2; 16]),
        );
        let file = file();
        let sealed = secret.key().seal_file(share, node, &file, rng).unwrap();
        let opened = secret.key().open_file(share, node, &sealed).unwrap();
        assert_eq!(
            (&opened.path, opened.size, &opened.chunks, opened.revision),
            (&file.path, 4, &file.chunks, file.revision)
        );
        assert_eq!(opened.key.chunk_id(b"x"), file.key.chunk_id(b"x"));
        for refused in [
            other.key().open_file(share, node, &sealed),
            secret.key().open_file(Uuid::nil(), node, &sealed),
            secret
                .key()
                .open_file(share, NodeId::from_random_bytes([9; 16]), &sealed),
            secret.key().open_file(share, node, &sealed[..40]),
        ] {
            assert_eq!(refused.unwrap_err(), CryptoError::Opaque);
        }
    }

    #[test]
    fn a_file_that_contradicts_itself_is_refused() {
        let whole = encode(&file()).unwrap();
        assert!(matches!(decode(&whole), Some(Ok(_))));
        assert!(decode(&whole[..whole.len() - 1]).is_none());
        assert!(decode(&[&whole[..], &[0]].concat()).is_none());
        let wrong_size = LinkFile { size: 5, ..file() };
        assert!(decode(&encode(&wrong_size).unwrap()).is_none());
        let mut newer = whole.to_vec();
        newer[3] = 2;
        assert!(matches!(
            decode(&newer),
            Some(Err(CryptoError::UnsupportedFormat(2)))
        ));
        let mut no_key = whole.to_vec();
        no_key[68..100].fill(0);
        assert!(matches!(decode(&no_key), Some(Err(CryptoError::Opaque))));
    }
}
