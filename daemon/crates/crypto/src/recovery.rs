//! The recovery key: made by the client, shown once, and sufficient to open the account key without the
//! passphrase. The server keeps the account key as this key wraps it, and a value that verifies the key.

use crate::account::{AccountKeys, authenticate, check_opens, unlock_with_account_key};
use crate::aead;
use crate::bundle::KeyBundle;
use crate::derive::AuthValue;
use crate::error::{CryptoError, Result};
use crate::random::{self, Random};
use crate::secret::{AccountKey, Key};
use cairn_log::AssociatedData;
use cairn_model::{AccountId, SpaceId};
use std::fmt;
use zeroize::Zeroizing;

/// The alphabet of Crockford's Base32: no I, L, O or U, so that nothing is misread.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// 160 random bits: beyond any search, even of many keys at once.
const SECRET: usize = 20;
/// 40 bits that catch a mistyped character.
const CHECK: usize = 5;
const GROUP: usize = 5;

/// A recovery key: eight groups of five characters for a person to keep.
#[derive(Clone)]
pub struct RecoveryKey(Zeroizing<[u8; SECRET]>);

impl RecoveryKey {
    pub(crate) fn generate(rng: &mut dyn Random) -> Self {
        Self(Zeroizing::new(random::array(rng)))
    }

    /// Returns the key as it is shown, once: `ABCDE-FGHJK-…`.
    #[must_use]
    pub fn reveal(&self) -> Zeroizing<String> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(SECRET + CHECK));
        bytes.extend_from_slice(&*self.0);
        bytes.extend_from_slice(&checksum(&self.0));
        let mut text = Zeroizing::new(String::with_capacity(48));
        let mut written = 0;
        for bytes in bytes.chunks(5) {
            let bits = bytes
                .iter()
                .fold(0_u64, |bits, b| bits << 8 | u64::from(*b));
            for shift in (0..8).rev() {
                if written > 0 && written % GROUP == 0 {
                    text.push('-');
                }
                text.push(char::from(ALPHABET[(bits >> (shift * 5) & 31) as usize]));
                written += 1;
            }
        }
        text
    }

    /// Reads a key as a person typed it: case, spaces and dashes don't matter, O reads as 0, I and L as 1.
    ///
    /// # Errors
    /// [`CryptoError::InvalidInput`] if it was mistyped.
    pub fn parse(text: &str) -> std::result::Result<Self, CryptoError> {
        const MISTYPED: CryptoError = CryptoError::InvalidInput(
            "this is not a recovery key; check it for a mistyped or missing character",
        );
        let mut digits = Zeroizing::new(Vec::with_capacity(40));
        for c in text.chars().filter(|c| !c.is_whitespace() && *c != '-') {
            digits.push(digit(c).ok_or(MISTYPED)?);
        }
        if digits.len() * 5 != (SECRET + CHECK) * 8 {
            return Err(MISTYPED);
        }
        let mut bytes = Zeroizing::new([0_u8; SECRET + CHECK]);
        for (group, out) in digits.chunks(8).zip(bytes.chunks_mut(5)) {
            let bits = group
                .iter()
                .fold(0_u64, |bits, d| bits << 5 | u64::from(*d));
            out.copy_from_slice(&bits.to_be_bytes()[3..]);
        }
        let (secret, check) = bytes.split_first_chunk::<SECRET>().ok_or(MISTYPED)?;
        if check != checksum(secret) {
            return Err(MISTYPED);
        }
        Ok(Self(Zeroizing::new(*secret)))
    }

    /// Returns the verifier that the server accepts in place of the passphrase's.
    #[must_use]
    pub fn auth(&self) -> AuthValue {
        AuthValue::from_key(
            &self
                .root()
                .derive(&AssociatedData::new("cairn/recovery-auth/1")),
        )
    }

    /// The key that seals the account key in format 2.
    pub(crate) fn key(&self, account: AccountId) -> Result<Key> {
        let purpose = AssociatedData::new("cairn/2/recovery-key").id(&account);
        Key::from_short(&*self.0, &purpose)
    }

    fn wrap_key(&self) -> Key {
        self.root()
            .derive(&AssociatedData::new("cairn/recovery-kek/1"))
    }

    fn root(&self) -> Key {
        let root = Zeroizing::new(blake3::derive_key("cairn/recovery-root/1", &*self.0));
        Key::from_bytes(&*root).expect("a BLAKE3 output of zeros can't be found")
    }
}

impl fmt::Debug for RecoveryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecoveryKey(…)")
    }
}

/// Makes a recovery key and a bundle that it opens; one made before stops working.
///
/// # Errors
/// [`CryptoError`] if the bundle doesn't open with these keys.
pub fn make_recovery_key(
    bundle: &KeyBundle,
    unlocked: &AccountKeys,
    rng: &mut dyn Random,
) -> std::result::Result<(RecoveryKey, KeyBundle), CryptoError> {
    check_opens(bundle, unlocked)?;
    let key = RecoveryKey::generate(rng);
    let wrapped = aead::seal(
        &key.wrap_key(),
        &recovery_data(unlocked.account),
        unlocked.account_key.0.bytes(),
        rng,
    );
    let mut changed = KeyBundle {
        recovery: Some(wrapped),
        ..bundle.clone()
    };
    authenticate(&mut changed, unlocked, rng);
    Ok((key, changed))
}

/// Opens a bundle with the recovery key.
///
/// # Errors
/// [`CryptoError::InvalidInput`] if no recovery key was set up, else as
/// [`unlock_with_account_key`].
pub fn unlock_with_recovery(
    bundle: &KeyBundle,
    key: &RecoveryKey,
    account: AccountId,
    space: SpaceId,
) -> std::result::Result<AccountKeys, CryptoError> {
    bundle.check_shape()?;
    let wrapped = bundle.recovery.as_deref().ok_or(CryptoError::InvalidInput(
        "no recovery key was set up for this account",
    ))?;
    let account_key = open_wrap(key, account, wrapped)?;
    unlock_with_account_key(bundle, &account_key, account, space)
}

fn open_wrap(key: &RecoveryKey, account: AccountId, wrapped: &[u8]) -> Result<AccountKey> {
    AccountKey::from_bytes(&aead::open(
        &key.wrap_key(),
        &recovery_data(account),
        wrapped,
    )?)
}

fn recovery_data(account: AccountId) -> AssociatedData {
    AssociatedData::new("cairn/recovery-wrap/1").id(&account)
}

fn checksum(secret: &[u8; SECRET]) -> [u8; CHECK] {
    let digest = blake3::derive_key("cairn/recovery-check/1", secret);
    let mut out = [0; CHECK];
    out.copy_from_slice(&digest[..CHECK]);
    out
}

fn digit(c: char) -> Option<u8> {
    let c = match c.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        c => c,
    };
    ALPHABET
        .iter()
        .position(|a| char::from(*a) == c)
        .and_then(|at| u8::try_from(at).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting(u8);
    impl Random for Counting {
        fn fill(&mut self, out: &mut [u8]) {
            for byte in out {
                self.0 = self.0.wrapping_mul(31).wrapping_add(7);
                *byte = self.0;
            }
        }
    }

    #[test]
    fn a_shown_key_is_eight_groups_of_five_and_reads_back() {
        let key = RecoveryKey::generate(&mut Counting(1));
        let text = key.reveal();
        let groups: Vec<&str> = text.split('-').collect();
        assert_eq!(
            groups.iter().map(|g| g.len()).collect::<Vec<_>>(),
            vec![5; 8],
            "{}",
            *text
        );
        assert_eq!(*RecoveryKey::parse(&text).unwrap().0, *key.0);
        let sloppy = text
            .to_lowercase()
            .replace('-', " ")
            .replace('0', "o")
            .replace('1', "l");
        assert_eq!(*RecoveryKey::parse(&sloppy).unwrap().0, *key.0);
    }

    #[test]
    fn a_mistyped_key_is_recognised_before_anything_is_tried() {
        let text = RecoveryKey::generate(&mut Counting(9)).reveal();
        for at in 0..text.len() {
            let mut typed: Vec<char> = text.chars().collect();
            if typed[at] == '-' {
                continue;
            }
            typed[at] = if typed[at] == '7' { '8' } else { '7' };
            let typed: String = typed.into_iter().collect();
            assert_eq!(
                RecoveryKey::parse(&typed).unwrap_err().class().as_str(),
                "invalid_input",
                "{typed}"
            );
        }
        assert!(RecoveryKey::parse(&text[..text.len() - 1]).is_err());
        assert!(RecoveryKey::parse("").is_err());
    }
}
