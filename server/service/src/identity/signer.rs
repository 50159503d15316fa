//! ID tokens: JWTs signed with RS256, which every client library can check.
//!
//! The key is made when it is first needed, which takes a second, and kept encrypted in the store.

use crate::error::{Error, Result};
use crate::signing_keys;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cairn_store::Store;
use cairn_store::{Error as StoreError, Source};
use parking_lot::Mutex;
use rsa::pkcs1::{DecodeRsaPrivateKey as _, EncodeRsaPrivateKey as _};
use rsa::rand_core::{TryCryptoRng, TryRng};
use rsa::traits::PublicKeyParts as _;
use rsa::{Pkcs1v15Sign, PrivateKey};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::convert::Infallible;

/// The minimum that RFC 7518 asks for.
const BITS: usize = 2048;

struct Ready {
    key: PrivateKey,
    public: Value,
    id: String,
}

/// Signs ID tokens.
#[derive(Default)]
pub(crate) struct Signer(Mutex<Option<Ready>>);

/// The server's randomness, as `rsa` wants it.
struct Draws<'a>(&'a Source);

impl TryRng for Draws<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::from_le_bytes(self.0.bytes()))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from_le_bytes(self.0.bytes()))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        for part in out.chunks_mut(32) {
            part.copy_from_slice(&self.0.bytes::<32>()[..part.len()]);
        }
        Ok(())
    }
}

impl TryCryptoRng for Draws<'_> {}

fn load_key(store: &Store) -> Result<Ready> {
    let bad =
        |e: &dyn std::fmt::Display| StoreError::Internal(format!("the key of ID tokens: {e}"));
    let is_plain = |stored: &[u8]| PrivateKey::from_pkcs1_der(stored).is_ok();
    let der = store.get_or_make(signing_keys::ID_TOKENS, is_plain, |source| {
        let key = PrivateKey::new(&mut Draws(source), BITS).map_err(|e| bad(&e))?;
        Ok(key.to_pkcs1_der().map_err(|e| bad(&e))?.as_bytes().to_vec())
    })?;
    let key = PrivateKey::from_pkcs1_der(&der).map_err(|e| bad(&e))?;
    let modulus = key.n_bytes();
    let id = hex::encode(&Sha256::digest(&modulus)[..8]);
    Ok(Ready {
        public: json!({
            "kty": "RSA",
            "use": "sig",
            "alg": "RS256",
            "kid": id,
            "n": URL_SAFE_NO_PAD.encode(modulus),
            "e": URL_SAFE_NO_PAD.encode(key.e_bytes()),
        }),
        key,
        id,
    })
}

fn encode<T: Serialize>(part: &T) -> Result<String> {
    serde_json::to_vec(part)
        .map(|bytes| URL_SAFE_NO_PAD.encode(bytes))
        .map_err(|e| Error::internal(format!("can't write an ID token: {e}")))
}

impl Signer {
    fn with<T>(&self, store: &Store, f: impl FnOnce(&Ready) -> Result<T>) -> Result<T> {
        let mut slot = self.0.lock();
        if slot.is_none() {
            *slot = Some(load_key(store)?);
        }
        slot.as_ref().map_or_else(
            || Err(Error::internal("the key of ID tokens is missing")),
            f,
        )
    }

    /// The public key as a JWK.
    pub(crate) fn public(&self, store: &Store) -> Result<Value> {
        self.with(store, |ready| Ok(ready.public.clone()))
    }

    /// Signs an ID token.
    pub(crate) fn sign<C: Serialize>(&self, store: &Store, claims: &C) -> Result<String> {
        self.with(store, |ready| {
            let header = json!({"typ": "JWT", "alg": "RS256", "kid": ready.id});
            let text = format!("{}.{}", encode(&header)?, encode(claims)?);
            let scheme = Pkcs1v15Sign::new::<Sha256>();
            let digest = Sha256::digest(&text);
            // With blinding: how long it takes tells nothing of the key.
            let signature = ready
                .key
                .sign_with_rng(&mut Draws(store.source()), scheme, &digest)
                .map_err(|e| Error::internal(format!("can't sign an ID token: {e}")))?;
            Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
        })
    }
}
