//! The names of files and folders in a private space, in which the server has no names.
//!
//! A sealed name: tag 16 · AES-256-SIV (RFC 5297) of length v · name · zeros to a multiple of 32, with the tag as
//! associated data. The tag follows from the folder and the name in its composed form (NFC), so two names that are one
//! in a folder begin alike, and the server can refuse the second; in two folders they differ. A name opens with the key
//! and nothing else: one that the server copied into another folder opens there, too. The place of a node is in its
//! node seal.

use crate::error::CryptoError;
use crate::space::SpaceKeys;
use aes_siv::KeyInit as _;
use aes_siv::siv::Aes256Siv;
use cairn_log::AssociatedData;
use cairn_log::bytes::{Reader, Writer};
use cairn_model::NodeId;
use cairn_model::name::{MAX_NAME_BYTES, compose};
use zeroize::Zeroizing;

const TAG: usize = 16;
/// Names are padded to a multiple of this, in bytes.
const BLOCK: usize = 32;

impl SpaceKeys {
    /// Seals the name of a node in a folder (`None`: the top of the space).
    ///
    /// # Errors
    /// [`CryptoError::InvalidInput`] for a name that is empty or longer than 255 bytes.
    pub fn seal_name(&self, parent: Option<NodeId>, name: &str) -> Result<Vec<u8>, CryptoError> {
        if name.is_empty() || name.len() > MAX_NAME_BYTES {
            return Err(CryptoError::InvalidInput(
                "a name is empty or longer than 255 bytes",
            ));
        }
        let mut plain = Writer::new();
        plain.vx(name.as_bytes());
        let mut plain = Zeroizing::new(plain.finish());
        let padded = plain.len().next_multiple_of(BLOCK);
        plain.resize(padded, 0);
        let tag = self.name_tag(parent, name);
        let sealed = self
            .name_cipher()
            .encrypt([tag.as_slice()], &plain)
            .map_err(|_| CryptoError::InvalidInput("the name is too long"))?;
        Ok([tag.as_slice(), &sealed].concat())
    }

    /// Opens a sealed name of any epoch.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] for anything that no holder of the space's keys has sealed.
    pub fn open_name(&self, sealed: &[u8]) -> Result<String, CryptoError> {
        let (tag, sealed) = sealed
            .split_first_chunk::<TAG>()
            .ok_or(CryptoError::NotAuthentic)?;
        // A name doesn't say in which epoch it was sealed, and there are few.
        let opened = self.epochs().find_map(|keys| {
            let plain = keys.name_cipher().decrypt([tag.as_slice()], sealed);
            plain.ok().map(Zeroizing::new)
        });
        let plain = opened.ok_or(CryptoError::NotAuthentic)?;
        let mut reader = Reader::new(&plain);
        let name = reader
            .vx(MAX_NAME_BYTES)
            .map_err(|_| CryptoError::NotAuthentic)?;
        let zeros = reader.rest();
        let is_padded = plain.len().is_multiple_of(BLOCK) && zeros.len() < BLOCK;
        if name.is_empty() || !is_padded || zeros.iter().any(|&byte| byte != 0) {
            return Err(CryptoError::NotAuthentic);
        }
        String::from_utf8(name.to_vec()).map_err(|_| CryptoError::NotAuthentic)
    }

    fn name_tag(&self, parent: Option<NodeId>, name: &str) -> [u8; TAG] {
        let purpose = AssociatedData::new("cairn/name-tag/1")
            .optional(parent.as_ref().map(|id| &id.as_bytes()[..]))
            .bytes(compose(name).as_bytes());
        let key = self.names.derive(&purpose);
        let mut tag = [0; TAG];
        tag.copy_from_slice(&key.bytes()[..TAG]);
        tag
    }

    fn name_cipher(&self) -> Aes256Siv {
        let mut key = Zeroizing::new([0; 64]);
        let half = |label| *self.names.derive(&AssociatedData::new(label)).bytes();
        key[..32].copy_from_slice(&half("cairn/name-mac/1"));
        key[32..].copy_from_slice(&half("cairn/name-enc/1"));
        Aes256Siv::new((&*key).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::SpaceId;

    fn keys(epoch: u32, byte: u8) -> SpaceKeys {
        let space = SpaceId::private_from_random_bytes([9; 16]);
        SpaceKeys::from_raw(space, epoch, &[byte; 32]).unwrap()
    }

    fn node(n: u8) -> Option<NodeId> {
        Some(NodeId::from_random_bytes([n; 16]))
    }

    #[test]
    fn a_name_is_opened_as_it_was_sealed() {
        let keys = keys(1, 5);
        for name in ["a", "Diary.txt", "Übung (2).tar.gz", &"x".repeat(255)] {
            for parent in [None, node(1)] {
                let sealed = keys.seal_name(parent, name).unwrap();
                assert_eq!(keys.open_name(&sealed).unwrap(), name);
            }
        }
        for bad in [String::new(), "x".repeat(256)] {
            keys.seal_name(None, &bad).unwrap_err();
        }
    }

    #[test]
    fn equal_names_are_equal_in_one_folder_alone() {
        let keys = keys(1, 5);
        let seal = |parent, name| keys.seal_name(parent, name).unwrap();
        assert_eq!(seal(node(1), "a"), seal(node(1), "a"));
        let first = seal(node(1), "README.md");
        for (other, what) in [
            (seal(node(2), "README.md"), "another folder"),
            (seal(None, "README.md"), "the top"),
            (seal(node(1), "README.mD"), "another name"),
        ] {
            assert_ne!(first[..TAG], other[..TAG], "{what}");
            assert_ne!(first[TAG..], other[TAG..], "{what}");
        }
        let (composed, decomposed) = (seal(None, "\u{e9}"), seal(None, "e\u{301}"));
        assert_eq!(composed[..TAG], decomposed[..TAG]);
        assert_eq!(keys.open_name(&decomposed).unwrap(), "e\u{301}");
    }

    #[test]
    fn lengths_show_in_steps_of_32_bytes() {
        let keys = keys(1, 5);
        let length = |name: usize| keys.seal_name(None, &"x".repeat(name)).unwrap().len();
        assert_eq!((length(1), length(31)), (64, 64));
        assert_eq!((length(32), length(255)), (96, 320));
    }

    #[test]
    fn what_nobody_sealed_does_not_open() {
        let keys = keys(1, 5);
        let sealed = keys.seal_name(node(1), "a").unwrap();
        for at in 0..sealed.len() {
            let mut altered = sealed.clone();
            altered[at] ^= 1;
            keys.open_name(&altered).unwrap_err();
        }
        for length in 0..sealed.len() {
            keys.open_name(&sealed[..length]).unwrap_err();
        }
        let stranger = SpaceKeys::from_raw(SpaceId::from_random_bytes([1; 16]), 1, &[5; 32]);
        stranger.unwrap().open_name(&sealed).unwrap_err();
    }

    #[test]
    fn a_name_of_an_earlier_epoch_opens_under_the_later_keys() {
        let earlier = keys(1, 5);
        let sealed = earlier.seal_name(node(1), "a").unwrap();
        let later = keys(2, 6).with_older(vec![earlier]);
        assert_eq!(later.open_name(&sealed).unwrap(), "a");
        keys(2, 6).open_name(&sealed).unwrap_err();
    }
}
