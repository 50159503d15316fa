//! The two values that are derived from a passphrase: one that opens the account key and never leaves
//! the client, and one that the server may know. Here by PBKDF2 (RFC 8018; then HKDF, RFC 5869), for the passwords of
//! links, as browsers have no other such function, and for accounts from before Argon2id.

use crate::error::{CryptoError, Result};
use crate::secret::Key;
use cairn_log::AssociatedData;
use pbkdf2::pbkdf2_hmac;
use sha2::Sha256;
use std::fmt;
use unicode_normalization::UnicodeNormalization as _;
use zeroize::Zeroizing;

/// The name of PBKDF2 on the wire.
pub const PBKDF2: &str = "pbkdf2-hmac-sha256";
/// Fewer are refused, whatever the server says (OWASP's floor for PBKDF2-HMAC-SHA256, 2023).
pub const MIN_ITERATIONS: u32 = 600_000;
/// More are refused: a hostile server could otherwise keep the client busy for hours.
pub const MAX_ITERATIONS: u32 = 10_000_000;
/// The iterations for a new password of a link: under a second on a laptop of 2018.
pub const DEFAULT_ITERATIONS: u32 = 1_000_000;

/// The parameters for deriving the root key from a passphrase, or from a link's password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KdfParams {
    pub iterations: u32,
    pub salt: [u8; 32],
}

/// The values that are derived from a passphrase.
pub struct RootKeys {
    pub(crate) kek: Key,
    /// The value that proves knowledge of the passphrase to the server.
    pub auth: AuthValue,
}

/// A proof of knowledge for the server, 32 bytes, from which no key can be computed.
#[derive(Clone, PartialEq, Eq)]
pub struct AuthValue(pub(crate) Zeroizing<[u8; 32]>);

impl KdfParams {
    /// Checks parameters from the wire; `salt` has 32 bytes.
    ///
    /// # Errors
    /// [`CryptoError::BadKdf`], [`CryptoError::WeakKdf`] or [`CryptoError::CostlyKdf`].
    pub fn parse(iterations: u32, salt: &[u8]) -> std::result::Result<Self, CryptoError> {
        let salt = salt
            .try_into()
            .map_err(|_| CryptoError::BadKdf("the salt doesn't have 32 bytes"))?;
        let params = Self { iterations, salt };
        params.check()?;
        Ok(params)
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.iterations < MIN_ITERATIONS {
            return Err(CryptoError::WeakKdf(self.iterations));
        }
        if self.iterations > MAX_ITERATIONS {
            return Err(CryptoError::CostlyKdf(self.iterations));
        }
        if self.salt == [0; 32] {
            return Err(CryptoError::BadKdf("the salt is all zero"));
        }
        Ok(())
    }
}

/// Derives the keys of a passphrase. Takes about a second at the default number of iterations, and ten at the
/// highest.
///
/// The passphrase is normalised (NFKC), so that it doesn't matter how a keyboard composes its letters.
///
/// # Errors
/// [`CryptoError::WeakKdf`], [`CryptoError::CostlyKdf`] or [`CryptoError::BadKdf`] for parameters out of
/// bounds, [`CryptoError::InvalidInput`] for an empty passphrase; all before anything is derived.
pub fn derive_root(
    passphrase: &str,
    params: &KdfParams,
) -> std::result::Result<RootKeys, CryptoError> {
    params.check()?;
    if passphrase.is_empty() {
        return Err(CryptoError::InvalidInput("the passphrase is empty"));
    }
    let normal: Zeroizing<String> = Zeroizing::new(passphrase.nfkc().collect());
    let mut root = Zeroizing::new([0; 32]);
    pbkdf2_hmac::<Sha256>(
        normal.as_bytes(),
        &params.salt,
        params.iterations,
        &mut *root,
    );
    let root = Key::from_bytes(&*root)?;
    let auth = root.derive(&AssociatedData::new("cairn/passphrase-auth/1"));
    Ok(RootKeys {
        kek: root.derive(&AssociatedData::new("cairn/passphrase-kek/1")),
        auth: AuthValue::from_key(&auth),
    })
}

impl AuthValue {
    pub(crate) fn from_key(key: &Key) -> Self {
        Self(Zeroizing::new(*key.bytes()))
    }

    /// Returns 64 hexadecimal digits, as on the wire.
    #[must_use]
    pub fn to_hex(&self) -> String {
        hex::encode(*self.0)
    }
}

impl fmt::Debug for AuthValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuthValue(…)")
    }
}

impl fmt::Debug for RootKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RootKeys(…)")
    }
}
