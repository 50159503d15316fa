//! The node seal: proof that a client with the key gave a node (file or folder on the server) its name, parent and
//! content.
//!
//! The blob: format u8 · sequence u64 · manifest hash 32 (zero if there is none) · MAC 32
//! (HMAC-SHA256). The sequence counts a node's sealed changes, so that an older state is recognised.

use crate::aead::strip_format;
use crate::error::CryptoError;
use crate::space::SpaceKeys;
use cairn_log::AssociatedData;
use cairn_model::{Kind, NodeId};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Begins the hash in the seal of a node that was deleted after a person had been asked and had agreed. The
/// other half is the beginning of the manifest's hash: what comes out of the trash is compared with it.
const CONFIRMED: [u8; 16] = *b"cairn/confirmed/";

const FORMAT: u8 = 1;
const LENGTH: usize = 1 + 8 + 32 + 32;

/// The facts about a node that a seal authenticates, besides its space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeFacts<'a> {
    pub node: NodeId,
    /// `None` at the top of the space.
    pub parent: Option<NodeId>,
    pub name: &'a str,
    pub kind: Kind,
    pub executable: bool,
    /// In the trash.
    pub deleted: bool,
}

/// The values that a seal contains in clear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealInfo {
    /// 1 for a node's first seal, then one more for each.
    pub seq: u64,
    /// [`crate::manifest_hash`] of the current revision; `None` for a folder.
    pub manifest_hash: Option<[u8; 32]>,
}

impl SealInfo {
    /// Returns the values for the seal of a deletion to which a person has agreed: other devices of the account
    /// need not ask again.
    #[must_use]
    pub fn mark_confirmed(self) -> Self {
        let hash = self.manifest_hash.unwrap_or_default();
        let mut marked = [0; 32];
        marked[..16].copy_from_slice(&CONFIRMED);
        marked[16..].copy_from_slice(&hash[..16]);
        Self {
            manifest_hash: Some(marked),
            ..self
        }
    }

    /// Returns true for a deletion to which a person has agreed.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.manifest_hash
            .is_some_and(|hash| hash.starts_with(&CONFIRMED))
    }

    /// Returns true if the node had this content when it was sealed (`None`: a folder), also before a
    /// deletion to which a person has agreed.
    #[must_use]
    pub fn is_of(&self, manifest_hash: Option<[u8; 32]>) -> bool {
        let same = Self {
            manifest_hash,
            ..*self
        };
        *self == same || *self == same.mark_confirmed()
    }
}

/// Makes and checks node seals.
#[derive(Clone, Copy, Debug)]
pub struct NodeSeal;

impl NodeSeal {
    /// Makes the seal of a node.
    #[must_use]
    pub fn make(keys: &SpaceKeys, facts: &NodeFacts<'_>, info: SealInfo) -> Vec<u8> {
        let mut out = Vec::with_capacity(LENGTH);
        out.push(FORMAT);
        out.extend_from_slice(&info.seq.to_be_bytes());
        out.extend_from_slice(&info.manifest_hash.unwrap_or_default());
        out.extend_from_slice(&mac(keys, facts, info).finalize().into_bytes());
        out
    }

    /// Checks that a seal belongs to these facts and returns what it contains in clear.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] if the seal or any of the facts is not as it was sealed.
    pub fn check(
        keys: &SpaceKeys,
        facts: &NodeFacts<'_>,
        seal: &[u8],
    ) -> Result<SealInfo, CryptoError> {
        Self::check_with(keys.epochs(), facts, seal)
    }

    /// Checks like [`NodeSeal::check`], for a seal of the current epoch only.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] also for a seal of an earlier epoch.
    pub fn check_current(
        keys: &SpaceKeys,
        facts: &NodeFacts<'_>,
        seal: &[u8],
    ) -> Result<SealInfo, CryptoError> {
        Self::check_with(std::iter::once(keys), facts, seal)
    }

    fn check_with<'a>(
        mut keys: impl Iterator<Item = &'a SpaceKeys>,
        facts: &NodeFacts<'_>,
        seal: &[u8],
    ) -> Result<SealInfo, CryptoError> {
        let rest = strip_format(seal, FORMAT)?;
        let (seq, rest) = rest
            .split_first_chunk::<8>()
            .ok_or(CryptoError::NotAuthentic)?;
        let (hash, code) = rest
            .split_first_chunk::<32>()
            .ok_or(CryptoError::NotAuthentic)?;
        let info = SealInfo {
            seq: u64::from_be_bytes(*seq),
            manifest_hash: (*hash != [0; 32]).then_some(*hash),
        };
        // A seal doesn't say in which epoch it was made, and there are few.
        keys.any(|keys| mac(keys, facts, info).verify_slice(code).is_ok())
            .then_some(info)
            .ok_or(CryptoError::NotAuthentic)
    }
}

fn mac(keys: &SpaceKeys, facts: &NodeFacts<'_>, info: SealInfo) -> Hmac<Sha256> {
    let input = AssociatedData::new("cairn/node-seal/1")
        .id(&keys.space())
        .number(u64::from(keys.epoch()))
        .id(&facts.node)
        .number(info.seq)
        .optional(facts.parent.as_ref().map(|id| &id.as_bytes()[..]))
        .bytes(facts.name.as_bytes())
        .bytes(facts.kind.as_str().as_bytes())
        .flag(facts.executable)
        .optional(info.manifest_hash.as_ref().map(|hash| &hash[..]))
        .flag(facts.deleted);
    let mut mac =
        Hmac::<Sha256>::new_from_slice(keys.mac.bytes()).expect("HMAC takes keys of any length");
    mac.update(input.as_bytes());
    mac
}
