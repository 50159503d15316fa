//! The derivation that a key bundle names: Argon2id, or PBKDF2 for an account from before. A new passphrase always gets
//! Argon2id.

use crate::bundle::KdfFields;
use crate::derive::{KdfParams, PBKDF2, RootKeys, derive_root};
use crate::error::{CryptoError, Result};
use crate::format2::account::{Root, RootCost, RootParams};
use crate::random::Random;
use cairn_log::AssociatedData;

/// The name of Argon2id (RFC 9106) on the wire.
pub const ARGON2ID: &str = "argon2id";

/// The derivation of the keys from a passphrase, within bounds.
pub(crate) enum Kdf {
    Argon2id(RootParams),
    Pbkdf2(KdfParams),
}

impl Kdf {
    /// Draws the salt for a new passphrase.
    pub(crate) fn generate(cost: RootCost, rng: &mut dyn Random) -> Result<Self> {
        RootParams::generate(cost, rng).map(Self::Argon2id)
    }

    /// Checks the fields of a bundle.
    pub(crate) fn parse(fields: &KdfFields) -> Result<Self> {
        let (iterations, salt) = (fields.iterations, &fields.salt);
        match (fields.algorithm.as_str(), fields.memory, fields.lanes) {
            (ARGON2ID, Some(memory), Some(lanes)) => {
                let cost = RootCost {
                    memory,
                    passes: iterations,
                    lanes,
                };
                let salt = salt.as_slice().try_into();
                let salt =
                    salt.map_err(|_| CryptoError::BadKdf("the salt doesn't have 32 bytes"))?;
                let params = RootParams { cost, salt };
                params.check()?;
                Ok(Self::Argon2id(params))
            }
            (PBKDF2, None, None) => KdfParams::parse(iterations, salt).map(Self::Pbkdf2),
            _ => Err(CryptoError::BadKdf(
                "the algorithm is neither argon2id nor pbkdf2-hmac-sha256",
            )),
        }
    }

    /// Returns the fields for a bundle.
    pub(crate) fn to_fields(&self) -> KdfFields {
        match self {
            Self::Argon2id(RootParams { cost, salt }) => KdfFields {
                algorithm: ARGON2ID.to_owned(),
                iterations: cost.passes,
                memory: Some(cost.memory),
                lanes: Some(cost.lanes),
                salt: salt.to_vec(),
            },
            Self::Pbkdf2(params) => KdfFields {
                algorithm: PBKDF2.to_owned(),
                iterations: params.iterations,
                memory: None,
                lanes: None,
                salt: params.salt.to_vec(),
            },
        }
    }

    /// Derives the keys of a passphrase.
    pub(crate) fn derive(&self, passphrase: &str) -> Result<RootKeys> {
        match self {
            Self::Argon2id(params) => Root::derive(passphrase, params).map(Root::into_keys),
            Self::Pbkdf2(params) => derive_root(passphrase, params),
        }
    }

    /// Adds the parameters to what a wrap is bound to.
    pub(crate) fn bind(&self, data: AssociatedData) -> AssociatedData {
        match self {
            Self::Argon2id(RootParams { cost, salt }) => data
                .bytes(ARGON2ID.as_bytes())
                .number(u64::from(cost.passes))
                .number(u64::from(cost.memory))
                .number(u64::from(cost.lanes))
                .bytes(salt),
            Self::Pbkdf2(params) => data
                .bytes(PBKDF2.as_bytes())
                .number(u64::from(params.iterations))
                .bytes(&params.salt),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{change_passphrase, unlock, unlock_with_account_key};
    use crate::error::Class;
    use crate::new_keys::{Kept, NewKeys};
    use crate::random::SystemRandom;
    use crate::ring::KeyRing;
    use cairn_model::{AccountId, SpaceId};

    #[test]
    fn an_account_from_before_opens_and_gets_argon2id_with_its_next_passphrase() {
        let rng = &mut SystemRandom;
        let account = AccountId::from_random_bytes([9; 16]);
        let space = SpaceId::from_random_bytes([1; 16]);
        let before = Kdf::Pbkdf2(KdfParams::parse(600_000, &[3; 32]).unwrap());
        let kept = Kept {
            version: 0,
            ring: KeyRing::generate(space, 1, rng),
            team_rings: Vec::new(),
            replaced: None,
        };
        let keys = NewKeys::generate(account, "old", before, rng).unwrap();
        let (bundle, made, auth) = keys.into_bundle(kept, rng).unwrap();
        assert_eq!(bundle.kdf.algorithm, PBKDF2);
        let (opened, again) = unlock(&bundle, "old", account, space).unwrap();
        assert!(opened.is_same(&made) && again == auth);

        let (bundle, _) = change_passphrase(&bundle, &opened, "new", RootCost::LEAST, rng).unwrap();
        assert_eq!(bundle.kdf.algorithm, ARGON2ID);
        assert!(unlock(&bundle, "old", account, space).is_err());
        let (opened, _) = unlock(&bundle, "new", account, space).unwrap();
        assert!(opened.is_same(&made));

        // Each of the parameters is authenticated, and each algorithm has its own.
        let key = &opened.account_key;
        type Change = fn(&mut KdfFields);
        let changes: [(Change, Class); 5] = [
            (|kdf| kdf.memory = Some(70_000), Class::AuthFailed),
            (|kdf| kdf.lanes = Some(3), Class::AuthFailed),
            (|kdf| kdf.lanes = None, Class::WeakKdf),
            (|kdf| kdf.memory = None, Class::WeakKdf),
            (|kdf| kdf.algorithm = PBKDF2.to_owned(), Class::WeakKdf),
        ];
        for (change, class) in changes {
            let mut changed = bundle.clone();
            change(&mut changed.kdf);
            let refused = unlock_with_account_key(&changed, key, account, space).unwrap_err();
            assert_eq!(refused.class(), class);
            assert!(unlock(&changed, "new", account, space).is_err());
        }
    }
}
