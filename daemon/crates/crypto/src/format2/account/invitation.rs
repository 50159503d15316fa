//! Invitations: a token that is handed over by another way than the server, and its acceptance.
//!
//! The token is seed 16 bytes · size of the team's log (a LEB128 number) · its root 32. A new member takes no log
//! without that root, so a server can't invent a team; and the acceptance is signed by the token and by the new
//! member's identity.

use crate::error::{CryptoError, Result};
use crate::format2::device_key::IdentityKey;
use crate::identity::SigningPair;
use crate::secret::Key;
use cairn_log::bytes::{Reader, Writer};
use cairn_log::{Acceptance, AcceptanceSignatures, AssociatedData};
use cairn_model::SpaceId;
use std::fmt;
use zeroize::Zeroizing;

/// The secret of an invitation, with the log that it belongs to.
#[derive(Clone, PartialEq, Eq)]
pub struct InvitationToken {
    seed: Zeroizing<[u8; 16]>,
    /// The size and root of the log when the token was made.
    pub size: u64,
    pub root: [u8; 32],
}

impl InvitationToken {
    /// Makes the token of a seed of 16 random bytes.
    #[must_use]
    pub fn new(seed: [u8; 16], size: u64, root: [u8; 32]) -> Self {
        let seed = Zeroizing::new(seed);
        Self { seed, size, root }
    }

    /// Returns the bytes that are handed over.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut out = Writer::new();
        out.raw(&*self.seed).v(self.size).raw(&self.root);
        Zeroizing::new(out.finish())
    }

    /// Reads what was handed over.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] for anything else.
    pub fn from_bytes(bytes: &[u8]) -> std::result::Result<Self, CryptoError> {
        let mut reader = Reader::new(bytes);
        let token = Self::new(reader.array()?, reader.v()?, reader.array()?);
        reader.end()?;
        Ok(token)
    }

    /// Returns the public key that the invitation's statement has.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] never happens for a token that was read.
    pub fn public(&self, space: SpaceId) -> std::result::Result<[u8; 32], CryptoError> {
        Ok(self.pair(space)?.public())
    }

    /// Signs the acceptance with the token and the identity of who joins.
    ///
    /// # Errors
    /// Fails like [`InvitationToken::public`].
    pub fn accept(
        &self,
        acceptance: &Acceptance,
        identity: &IdentityKey,
    ) -> std::result::Result<AcceptanceSignatures, CryptoError> {
        let signed = acceptance.to_sign();
        Ok(AcceptanceSignatures {
            token: self.pair(acceptance.space)?.sign(&signed),
            identity: identity.0.sign(&signed),
        })
    }

    fn pair(&self, space: SpaceId) -> Result<SigningPair> {
        let purpose = AssociatedData::new("cairn/2/token").id(&space);
        SigningPair::from_seed(Key::from_short(&*self.seed, &purpose)?.bytes())
    }
}

impl fmt::Debug for InvitationToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InvitationToken(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::AccountId;

    fn identity(n: u8) -> IdentityKey {
        IdentityKey::from_seed(&[n; 32]).unwrap()
    }

    fn acceptance() -> Acceptance {
        Acceptance {
            space: SpaceId::from_random_bytes([1; 16]),
            genesis: [2; 32],
            invite: [3; 16],
            account: AccountId::from_random_bytes([4; 16]),
            identity: identity(5).public(),
            sharing: [6; 32],
        }
    }

    type Change = fn(&mut Acceptance);

    #[test]
    fn each_field_of_an_acceptance_is_signed_twice() {
        let token = InvitationToken::new([7; 16], 300, [8; 32]);
        let public = token.public(acceptance().space).unwrap();
        let signatures = token.accept(&acceptance(), &identity(5)).unwrap();
        assert!(acceptance().verify(&public, &signatures).is_ok());
        let changes: [Change; 6] = [
            |a| a.space = SpaceId::from_random_bytes([9; 16]),
            |a| a.genesis[0] ^= 1,
            |a| a.invite[0] ^= 1,
            |a| a.account = AccountId::from_random_bytes([9; 16]),
            |a| a.identity = identity(6).public(),
            |a| a.sharing[0] ^= 1,
        ];
        for (i, change) in changes.into_iter().enumerate() {
            let mut bad = acceptance();
            change(&mut bad);
            assert!(bad.verify(&public, &signatures).is_err(), "field {i}");
        }
        let by_other = token.accept(&acceptance(), &identity(6)).unwrap();
        assert!(acceptance().verify(&public, &by_other).is_err());
        let other = InvitationToken::new([9; 16], 300, [8; 32]);
        let by_other = other.accept(&acceptance(), &identity(5)).unwrap();
        assert!(acceptance().verify(&public, &by_other).is_err());
    }

    #[test]
    fn a_token_is_read_as_it_was_written_and_belongs_to_one_space() {
        let token = InvitationToken::new([7; 16], 300, [8; 32]);
        let bytes = token.to_bytes();
        assert_eq!(InvitationToken::from_bytes(&bytes), Ok(token.clone()));
        for at in 0..bytes.len() {
            assert!(InvitationToken::from_bytes(&bytes[..at]).is_err());
        }
        assert!(InvitationToken::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
        let space = |n| SpaceId::from_random_bytes([n; 16]);
        assert_ne!(token.public(space(1)), token.public(space(2)));
    }
}
