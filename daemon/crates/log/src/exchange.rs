//! The request that sends a commit (the changes that a device signs together) to the server, the response to it, and
//! Merkle proofs of the log.
//!
//! Request: commit v+x · count v · ids of objects 32 each. Response: outcome u8 (0: taken, else the reason's
//! code) · position v, if it was taken · a page of the entries since the size that the commit had seen. Proof:
//! size v · leaf v+x (empty in a proof of consistency) · count u8 · hashes 32 each.
//!
//! In layouts a number is a length in bytes, v a LEB128 number, and v+x bytes after their length, a v.

use crate::bytes::{Reader, Writer};
use crate::commit::{MAX_COMMIT, MAX_STATEMENTS};
use crate::error::{LogError, require};
use crate::frame::LogPage;
use crate::ids::ObjectId;
use crate::rules::Refusal;

/// The longest leaf of a log: of a commit, whose numbers have at most nine bytes.
const MAX_LEAF: usize = 256;

/// The most objects that a commit brings besides those that it names.
const MAX_OBJECTS: usize = 1 << 17;

/// Objects that are sealed within a manifest: its parts and chunks, which the server can't see. They stay as long as
/// it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestObjects {
    pub manifest: ObjectId,
    pub objects: Vec<ObjectId>,
}

/// A commit on its way to the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRequest {
    pub commit: Vec<u8>,
    /// The objects within each manifest that the statements name and that no statement of the space's present state
    /// named before; those of other manifests may be repeated.
    pub manifests: Vec<ManifestObjects>,
}

/// The response to a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitResponse {
    Accepted { position: u64, page: LogPage },
    Refused { refusal: Refusal, page: LogPage },
}

/// A proof about the log at a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    pub size: u64,
    /// The bytes of the leaf; `None` if the proof is one of consistency.
    pub leaf: Option<Vec<u8>>,
    pub path: Vec<[u8; 32]>,
}

impl CommitRequest {
    /// The longest request, in bytes.
    pub const MAX: usize = MAX_COMMIT + 32 * MAX_OBJECTS + MAX_STATEMENTS * (32 + 9) + 16;

    /// Returns the bytes of the request.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.vx(&self.commit).v(self.manifests.len() as u64);
        for one in &self.manifests {
            out.raw(&one.manifest.0).v(one.objects.len() as u64);
            for object in &one.objects {
                out.raw(&object.0);
            }
        }
        out.finish()
    }

    /// Reads a request; its commit stays bytes.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] for bytes that no writer makes.
    pub fn decode(bytes: &[u8]) -> std::result::Result<Self, LogError> {
        let mut reader = Reader::new(bytes);
        let commit = reader.vx(MAX_COMMIT)?.to_vec();
        let count = reader.count(33)?;
        require(count <= MAX_STATEMENTS)?;
        let mut room = MAX_OBJECTS;
        let mut manifests = Vec::with_capacity(count);
        for _ in 0..count {
            let manifest = ObjectId(reader.array()?);
            let count = reader.count(32)?;
            room = room.checked_sub(count).ok_or(LogError::NotGenuine)?;
            let objects = (0..count).map(|_| reader.array().map(ObjectId));
            let objects = objects.collect::<std::result::Result<_, _>>()?;
            manifests.push(ManifestObjects { manifest, objects });
        }
        reader.end()?;
        Ok(Self { commit, manifests })
    }
}

impl CommitResponse {
    /// Returns the bytes of the response.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        let page = match self {
            Self::Accepted { position, page } => {
                out.u8(0).v(*position);
                page
            }
            Self::Refused { refusal, page } => {
                out.u8(refusal.code());
                page
            }
        };
        out.raw(&page.encode()).finish()
    }

    /// Reads a response.
    ///
    /// # Errors
    /// [`LogError::UnsupportedFormat`] for a reason that this version doesn't know;
    /// [`LogError::NotGenuine`] for anything else that no server writes.
    pub fn decode(bytes: &[u8]) -> std::result::Result<Self, LogError> {
        let mut reader = Reader::new(bytes);
        let outcome = reader.u8()?;
        if outcome == 0 {
            let position = reader.v()?;
            let page = LogPage::decode(reader.rest())?;
            return Ok(Self::Accepted { position, page });
        }
        let unknown = LogError::UnsupportedFormat(u32::from(outcome));
        let refusal = Refusal::of_code(outcome).ok_or(unknown)?;
        let page = LogPage::decode(reader.rest())?;
        Ok(Self::Refused { refusal, page })
    }
}

impl Proof {
    /// Returns the bytes of the proof.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.v(self.size)
            .vx(self.leaf.as_deref().unwrap_or_default())
            .u8(self.path.len() as u8);
        for hash in &self.path {
            out.raw(hash);
        }
        out.finish()
    }

    /// Reads a proof, which still has to be checked against roots.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] for bytes that no server writes.
    pub fn decode(bytes: &[u8]) -> std::result::Result<Self, LogError> {
        let mut reader = Reader::new(bytes);
        let size = reader.v()?;
        let leaf = reader.vx(MAX_LEAF)?;
        let count = reader.u8()?;
        // Each level has a hash, and a proof of consistency one more.
        require(count <= 64)?;
        let path = (0..count).map(|_| reader.array());
        let path = path.collect::<std::result::Result<_, _>>()?;
        reader.end()?;
        let leaf = Some(leaf.to_vec()).filter(|leaf| !leaf.is_empty());
        Ok(Self { size, leaf, path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn page() -> LogPage {
        LogPage {
            history: [1; 16],
            size: 300,
            root: [2; 32],
            restored_at_ms: 0,
            restored_to: 0,
            frames: Vec::new(),
        }
    }

    #[test]
    fn responses_come_back_with_every_reason() {
        let taken = CommitResponse::Accepted {
            position: 299,
            page: page(),
        };
        assert_eq!(CommitResponse::decode(&taken.encode()), Ok(taken));
        let reasons = (1..=u8::MAX).map_while(Refusal::of_code);
        let mut count = 0;
        for refusal in reasons {
            count += 1;
            assert_eq!(refusal.code(), count);
            let page = page();
            let refused = CommitResponse::Refused { refusal, page };
            assert_eq!(CommitResponse::decode(&refused.encode()), Ok(refused));
        }
        assert_eq!(Refusal::Depth.code(), count, "the last one is listed");
        let mut newer = taken_bytes();
        newer[0] = count + 1;
        let error = LogError::UnsupportedFormat(u32::from(count) + 1);
        assert_eq!(CommitResponse::decode(&newer), Err(error));
    }

    fn taken_bytes() -> Vec<u8> {
        let page = page();
        CommitResponse::Accepted { position: 0, page }.encode()
    }

    proptest! {
        #[test]
        fn proofs_come_back_and_cut_ones_are_errors(
            size in 0..1_u64 << 40, leaf in prop::collection::vec(any::<u8>(), 0..256),
            path in prop::collection::vec(any::<[u8; 32]>(), 0..64), cut in any::<prop::sample::Index>(),
        ) {
            let leaf = Some(leaf).filter(|leaf| !leaf.is_empty());
            let proof = Proof { size, leaf, path };
            let bytes = proof.encode();
            prop_assert_eq!(Proof::decode(&bytes), Ok(proof));
            prop_assert!(Proof::decode(&bytes[..cut.index(bytes.len())]).is_err());
        }

        #[test]
        fn requests_come_back_and_cut_ones_are_errors(
            commit in prop::collection::vec(any::<u8>(), 0..256),
            manifests in prop::collection::vec(
                (any::<[u8; 32]>(), prop::collection::vec(any::<[u8; 32]>(), 0..8)), 0..4,
            ),
            cut in any::<prop::sample::Index>(),
        ) {
            let manifests = manifests.into_iter().map(|(manifest, objects)| ManifestObjects {
                manifest: ObjectId(manifest),
                objects: objects.into_iter().map(ObjectId).collect(),
            });
            let request = CommitRequest { commit, manifests: manifests.collect() };
            let bytes = request.encode();
            prop_assert_eq!(CommitRequest::decode(&bytes), Ok(request));
            prop_assert!(CommitRequest::decode(&bytes[..cut.index(bytes.len())]).is_err());
        }
    }
}
