//! The acceptance of an invitation to a team: signed by the token that was handed over and by the identity of who
//! joins. Checking it needs no secret.

use crate::associated_data::AssociatedData;
use crate::error::LogError;
use crate::signature::verify;
use cairn_model::{AccountId, SpaceId};

/// The acceptance of an invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acceptance {
    pub space: SpaceId,
    /// The hash of the space's genesis.
    pub genesis: [u8; 32],
    pub invite: [u8; 16],
    pub account: AccountId,
    pub identity: [u8; 32],
    /// SHA-256 of the sharing keys.
    pub sharing: [u8; 32],
}

/// The two signatures of an acceptance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptanceSignatures {
    pub token: [u8; 64],
    pub identity: [u8; 64],
}

impl Acceptance {
    /// Checks both signatures; `token` is the invitation's public key.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] if one isn't for this acceptance.
    pub fn verify(
        &self,
        token: &[u8; 32],
        signatures: &AcceptanceSignatures,
    ) -> std::result::Result<(), LogError> {
        let signed = self.to_sign();
        verify(token, &signed, &signatures.token)?;
        verify(&self.identity, &signed, &signatures.identity)
    }

    /// Returns the bytes that token and identity sign.
    #[must_use]
    pub fn to_sign(&self) -> AssociatedData {
        AssociatedData::new("cairn/2/accept")
            .id(&self.space)
            .bytes(&self.genesis)
            .bytes(&self.invite)
            .id(&self.account)
            .bytes(&self.identity)
            .bytes(&self.sharing)
    }
}
