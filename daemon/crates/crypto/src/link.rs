//! Share links: the secret after the `#` of an address, which is never sent to a server, makes the key of
//! the link, alone or together with a password. [Listings](crate::format2::Listing) are sealed under it.

mod owner;

pub use owner::OwnedLink;

use crate::derive::{AuthValue, KdfParams, derive_root};
use crate::error::CryptoError;
use crate::format2::LinkKey;
use crate::random::{self, Random};
use crate::secret::Key;
use cairn_log::AssociatedData;
use std::fmt;
use zeroize::Zeroizing;

/// The secret of a link: 32 bytes, 64 hexadecimal digits in the fragment.
#[derive(Clone)]
pub struct LinkSecret(Key);

/// The value by which the server checks the password of a link; it reveals nothing about the key.
pub type PasswordCheck = AuthValue;

impl LinkSecret {
    /// Makes a new random secret.
    #[must_use]
    pub fn generate(rng: &mut dyn Random) -> Self {
        Self(Key::generate(rng))
    }

    /// Returns the text for the fragment of the address, 64 hexadecimal digits.
    #[must_use]
    pub fn reveal(&self) -> Zeroizing<String> {
        Zeroizing::new(hex::encode(self.0.bytes()))
    }

    /// Reads the fragment of an address.
    ///
    /// # Errors
    /// [`CryptoError::InvalidInput`] if it isn't a secret.
    pub fn parse(fragment: &str) -> Result<Self, CryptoError> {
        const INCOMPLETE: CryptoError = CryptoError::InvalidInput(
            "the link is incomplete; copy all of it, with the part after the #",
        );
        let mut bytes = Zeroizing::new([0; 32]);
        hex::decode_to_slice(fragment, &mut *bytes).map_err(|_| INCOMPLETE)?;
        Key::from_bytes(&*bytes).map(Self).map_err(|_| INCOMPLETE)
    }

    /// The key of a link without a password.
    #[must_use]
    pub fn key(&self) -> LinkKey {
        LinkKey(self.0.derive(&AssociatedData::new("cairn/link-key/1")))
    }

    /// The key of a link with a password, and the value by which the server checks the password.
    ///
    /// # Errors
    /// Derivation parameters out of bounds, or an empty password.
    pub fn key_with_password(
        &self,
        password: &str,
        kdf: &KdfParams,
    ) -> Result<(LinkKey, PasswordCheck), CryptoError> {
        let root = derive_root(password, kdf)?;
        let share = root.kek.derive(&AssociatedData::new("cairn/link-share/1"));
        let key = self
            .0
            .derive(&AssociatedData::new("cairn/link-key-with-password/1").bytes(share.bytes()));
        Ok((LinkKey(key), root.auth))
    }

    /// Parameters for [`Self::key_with_password`], with a new salt.
    ///
    /// # Errors
    /// Iterations out of bounds.
    pub fn password_params(
        iterations: u32,
        rng: &mut dyn Random,
    ) -> Result<KdfParams, CryptoError> {
        KdfParams::parse(iterations, &random::array::<32>(rng))
    }
}

impl fmt::Debug for LinkSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkSecret(…)")
    }
}
