//! Between the key bundle on the wire and the one that the crypto crate opens.

use cairn_crypto::{KeyBundle, WrappedSpaceKey};
use cairn_wire::Sealed;
use cairn_wire::keys as wire;

pub(crate) fn from_wire(bundle: &wire::KeyBundle) -> KeyBundle {
    KeyBundle {
        format: bundle.format,
        version: bundle.version,
        kdf_algorithm: bundle.kdf.algorithm.clone(),
        kdf_iterations: bundle.kdf.iterations,
        kdf_salt: bundle.kdf.salt.0.clone(),
        account_key: bundle.account_key.0.clone(),
        rsa_public: bundle.rsa_public.0.clone(),
        rsa_private: bundle.rsa_private.0.clone(),
        signing_public: bundle.signing_public.0.clone(),
        signing_private: bundle.signing_private.0.clone(),
        spaces: bundle
            .spaces
            .iter()
            .map(|space| WrappedSpaceKey {
                space_id: space.space_id,
                epoch: space.epoch,
                key: space.key.0.clone(),
            })
            .collect(),
        recovery: bundle.recovery.as_ref().map(|sealed| sealed.0.clone()),
    }
}

pub(crate) fn to_wire(bundle: &KeyBundle) -> wire::KeyBundle {
    let sealed = |bytes: &Vec<u8>| Sealed(bytes.clone());
    wire::KeyBundle {
        format: bundle.format,
        version: bundle.version,
        kdf: wire::KdfParams {
            algorithm: bundle.kdf_algorithm.clone(),
            iterations: bundle.kdf_iterations,
            salt: sealed(&bundle.kdf_salt),
        },
        account_key: sealed(&bundle.account_key),
        rsa_public: sealed(&bundle.rsa_public),
        rsa_private: sealed(&bundle.rsa_private),
        signing_public: sealed(&bundle.signing_public),
        signing_private: sealed(&bundle.signing_private),
        spaces: bundle
            .spaces
            .iter()
            .map(|space| wire::WrappedSpaceKey {
                space_id: space.space_id,
                epoch: space.epoch,
                key: sealed(&space.key),
            })
            .collect(),
        recovery: bundle.recovery.as_ref().map(sealed),
    }
}

/// How often PBKDF2 runs for a new passphrase. `CAIRN_KDF_ITERATIONS` can choose another number
/// within the bounds that every client accepts.
pub(crate) fn iterations() -> u32 {
    std::env::var("CAIRN_KDF_ITERATIONS")
        .ok()
        .and_then(|text| text.parse().ok())
        .filter(|n| (cairn_crypto::MIN_ITERATIONS..=cairn_crypto::MAX_ITERATIONS).contains(n))
        .unwrap_or(cairn_crypto::DEFAULT_ITERATIONS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::{AccountId, SpaceId};

    #[test]
    fn a_bundle_survives_the_wire() {
        let (account, space) = (
            AccountId::from_random_bytes([1; 16]),
            SpaceId::from_random_bytes([2; 16]),
        );
        let mut random = cairn_crypto::SystemRandom;
        let (bundle, ..) = cairn_crypto::create_account(
            "passphrase",
            account,
            space,
            cairn_crypto::MIN_ITERATIONS,
            &mut random,
        )
        .unwrap();
        assert_eq!(from_wire(&to_wire(&bundle)), bundle);
    }
}
