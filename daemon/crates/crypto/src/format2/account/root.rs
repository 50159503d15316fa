//! The keys from a passphrase: Argon2id (RFC 9106) gives a root secret; from it follow the key that encrypts the
//! account key, and the one value that the server may know.

use crate::derive::{AuthValue, RootKeys};
use crate::error::{CryptoError, Result};
use crate::random::{self, Random};
use crate::secret::Key;
use argon2::{Algorithm, Argon2, Params, Version};
use cairn_log::AssociatedData;
use cairn_model::AccountId;
use pbkdf2::pbkdf2_hmac;
use sha2::Sha256;
use std::fmt;
use unicode_normalization::UnicodeNormalization as _;
use zeroize::Zeroizing;

const MIB: u32 = 1024;
/// Rounds of the hash by which the server recognises the value of a recovery.
const RECOVERY_ROUNDS: u32 = 600_000;

/// The cost of a passphrase's derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootCost {
    /// In KiB.
    pub memory: u32,
    pub passes: u32,
    pub lanes: u32,
}

/// The cost and salt of a passphrase's derivation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootParams {
    pub cost: RootCost,
    pub salt: [u8; 32],
}

/// The values that are derived from a passphrase.
pub struct Root {
    pub(super) kek: Key,
    auth: Key,
}

impl RootCost {
    /// 256 MiB, three passes, four lanes: under a second on a laptop of 2018.
    pub const DEFAULT: Self = Self {
        memory: 256 * MIB,
        passes: 3,
        lanes: 4,
    };
    /// A lower one is refused, whatever the server says.
    pub const LEAST: Self = Self {
        memory: 64 * MIB,
        ..Self::DEFAULT
    };

    /// Refuses a cost that is weak, and one that would keep the device busy, or without memory.
    ///
    /// # Errors
    /// [`CryptoError::BadKdf`].
    pub fn check(self) -> std::result::Result<(), CryptoError> {
        let is_within = (Self::LEAST.memory..=1024 * MIB).contains(&self.memory)
            && (Self::LEAST.passes..=10).contains(&self.passes)
            && (1..=8).contains(&self.lanes);
        if is_within {
            Ok(())
        } else {
            Err(CryptoError::BadKdf("the cost is out of bounds"))
        }
    }
}

impl RootParams {
    /// Draws a salt.
    ///
    /// # Errors
    /// [`CryptoError::BadKdf`] for a cost out of bounds.
    pub fn generate(
        cost: RootCost,
        rng: &mut dyn Random,
    ) -> std::result::Result<Self, CryptoError> {
        let params = Self {
            cost,
            salt: random::array(rng),
        };
        params.check()?;
        Ok(params)
    }

    /// Checks parameters from the server.
    ///
    /// # Errors
    /// [`CryptoError::BadKdf`].
    pub fn check(&self) -> std::result::Result<(), CryptoError> {
        self.cost.check()?;
        if self.salt == [0; 32] {
            return Err(CryptoError::BadKdf("the salt is all zero"));
        }
        Ok(())
    }
}

impl Root {
    /// Derives the keys of a passphrase. Takes up to some seconds, and the memory of the parameters.
    ///
    /// The passphrase is normalised (NFKC), so that it doesn't matter how a keyboard composes its letters.
    ///
    /// # Errors
    /// [`CryptoError::BadKdf`] for parameters out of bounds, [`CryptoError::InvalidInput`] for an empty
    /// passphrase; both before anything is derived.
    pub fn derive(passphrase: &str, params: &RootParams) -> std::result::Result<Self, CryptoError> {
        params.check()?;
        if passphrase.is_empty() {
            return Err(CryptoError::InvalidInput("the passphrase is empty"));
        }
        let normal: Zeroizing<String> = Zeroizing::new(passphrase.nfkc().collect());
        let cost = params.cost;
        let root = argon2id(
            normal.as_bytes(),
            &params.salt,
            (cost.memory, cost.passes),
            cost.lanes,
        )?;
        let root = Key::from_bytes(&*root)?;
        Ok(Self {
            kek: root.derive(&AssociatedData::new("cairn/2/kek")),
            auth: root.derive(&AssociatedData::new("cairn/2/auth")),
        })
    }

    /// The two values, as a key bundle needs them.
    pub(crate) fn into_keys(self) -> RootKeys {
        RootKeys {
            auth: AuthValue::from_key(&self.auth),
            kek: self.kek,
        }
    }

    /// The key that seals the account key.
    #[must_use]
    pub fn kek(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(*self.kek.bytes())
    }

    /// The proof of knowledge for the server, 64 hexadecimal digits.
    #[must_use]
    pub fn auth(&self) -> String {
        hex::encode(self.auth.bytes())
    }

    /// The hash of the proof, which the server keeps to check a recovery, 64 hexadecimal digits.
    #[must_use]
    pub fn recovery_hash(&self, account: AccountId) -> String {
        let salt = AssociatedData::new("cairn/2/recovery-gate").id(&account);
        let mut hash = [0; 32];
        let auth = self.auth.bytes();
        pbkdf2_hmac::<Sha256>(auth, salt.as_bytes(), RECOVERY_ROUNDS, &mut hash);
        hex::encode(hash)
    }
}

/// Computes Argon2id with 32 bytes of output; `cost` is memory in KiB and passes.
pub(super) fn argon2id(
    input: &[u8],
    salt: &[u8],
    (memory, passes): (u32, u32),
    lanes: u32,
) -> Result<Zeroizing<[u8; 32]>> {
    let refused = |_| CryptoError::BadKdf("the cost can't be computed with");
    let params = Params::new(memory, passes, lanes, Some(32)).map_err(refused)?;
    let mut out = Zeroizing::new([0; 32]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(input, salt, &mut *out)
        .map_err(refused)?;
    Ok(out)
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Root(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn least_params() -> RootParams {
        RootParams {
            cost: RootCost::LEAST,
            salt: [2; 32],
        }
    }

    type Change = fn(&mut RootParams);

    #[test]
    fn weak_and_endless_costs_are_refused() {
        let changes: [(&str, Change); 8] = [
            ("little memory", |p| p.cost.memory -= 1),
            ("much memory", |p| p.cost.memory = 1024 * MIB + 1),
            ("few passes", |p| p.cost.passes = 2),
            ("many passes", |p| p.cost.passes = 11),
            ("no lane", |p| p.cost.lanes = 0),
            ("many lanes", |p| p.cost.lanes = 9),
            ("a salt of zeros", |p| p.salt = [0; 32]),
            ("all at once", |p| {
                (p.cost.memory, p.cost.passes) = (u32::MAX, u32::MAX)
            }),
        ];
        assert_eq!(least_params().check(), Ok(()));
        for (name, change) in changes {
            let mut bad = least_params();
            change(&mut bad);
            assert!(bad.check().is_err(), "{name}");
            assert!(Root::derive("passphrase", &bad).is_err(), "{name}");
        }
        assert_eq!(RootCost::DEFAULT.check(), Ok(()));
        assert!(Root::derive("", &least_params()).is_err());
    }

    #[test]
    fn passphrases_are_normalised_and_their_values_differ() {
        let one = Root::derive("Stra\u{df}e \u{e9}", &least_params()).unwrap();
        let same = Root::derive("Stra\u{df}e e\u{301}", &least_params()).unwrap();
        assert_eq!(one.auth(), same.auth());
        assert_ne!(hex::encode(*one.kek()), one.auth());
        let account = |n| AccountId::from_random_bytes([n; 16]);
        assert_ne!(one.recovery_hash(account(1)), one.recovery_hash(account(2)));
        let salted = RootParams {
            salt: [3; 32],
            ..least_params()
        };
        let other = Root::derive("Stra\u{df}e \u{e9}", &salted).unwrap();
        assert_ne!(one.auth(), other.auth());
    }
}
