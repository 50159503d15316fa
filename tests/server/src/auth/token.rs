//! Access tokens: JWTs signed with Ed25519, valid for ten minutes.
//!
//! The signing key lies in the database, so tokens survive a restart.

use crate::error::{Error, Result};
use cairn_model::AccountId;
use ed25519_dalek::SigningKey;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Seconds that an access token is valid.
pub(crate) const LIFETIME_S: i64 = 600;
/// Who issues and who is meant.
const ISSUER: &str = "cairn-server";
const AUDIENCE: &str = "cairn";
/// RFC 8410: what stands before the 32 bytes of an Ed25519 key in PKCS #8.
const PKCS8_PREFIX: [u8; 16] = [
    0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20,
];
/// Verified tokens remembered at most; more than that are checked again.
const REMEMBERED: usize = 10_000;

#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    sub: String,
    iat: i64,
    exp: i64,
    jti: String,
}

/// Issues and checks access tokens.
pub(crate) struct Tokens {
    encoding: EncodingKey,
    decoding: DecodingKey,
    /// SHA-256 of a token that was found good → its account and expiry.
    verified: Mutex<HashMap<[u8; 32], (AccountId, i64)>>,
}

impl Tokens {
    pub(crate) fn new(secret: &[u8; 32]) -> Self {
        let mut der = PKCS8_PREFIX.to_vec();
        der.extend_from_slice(secret);
        let public = SigningKey::from_bytes(secret).verifying_key();
        Self {
            encoding: EncodingKey::from_ed_der(&der),
            decoding: DecodingKey::from_ed_der(public.as_bytes()),
            verified: Mutex::default(),
        }
    }

    /// Issues a token; `id` makes it unique.
    pub(crate) fn issue(&self, account: AccountId, id: String, now_ms: i64) -> Result<String> {
        let now = now_ms.div_euclid(1000);
        let claims = Claims {
            iss: ISSUER.into(),
            aud: AUDIENCE.into(),
            sub: account.to_string(),
            iat: now,
            exp: now + LIFETIME_S,
            jti: id,
        };
        jsonwebtoken::encode(&Header::new(Algorithm::EdDSA), &claims, &self.encoding)
            .map_err(|e| Error::Internal(format!("can't sign a token: {e}")))
    }

    /// The account of a token that is in force.
    ///
    /// # Errors
    /// [`Error::Unauthorized`] for any other text.
    pub(crate) fn verify(&self, token: &str, now_ms: i64) -> Result<AccountId> {
        let hash: [u8; 32] = Sha256::digest(token).into();
        let mut verified = self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        let (account, exp) = match verified.get(&hash) {
            Some(known) => *known,
            None => {
                let fresh = self.check(token)?;
                if verified.len() >= REMEMBERED {
                    verified.clear();
                }
                verified.insert(hash, fresh);
                fresh
            }
        };
        if exp <= now_ms.div_euclid(1000) {
            verified.remove(&hash);
            return Err(Error::Unauthorized(
                "the access token has expired; get a new one".into(),
            ));
        }
        Ok(account)
    }

    fn check(&self, token: &str) -> Result<(AccountId, i64)> {
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.set_audience(&[AUDIENCE]);
        validation.set_issuer(&[ISSUER]);
        // The server's own clock decides, which may be a virtual one.
        validation.validate_exp = false;
        let refused = || {
            Error::Unauthorized("the access token is not one of this server; log in again".into())
        };
        let data = jsonwebtoken::decode::<Claims>(token, &self.decoding, &validation)
            .map_err(|_| refused())?;
        let account = data.claims.sub.parse().map_err(|_| refused())?;
        Ok((account, data.claims.exp))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_holds_for_ten_minutes_and_for_one_server() {
        let tokens = Tokens::new(&[7; 32]);
        let account = AccountId::from_random_bytes([1; 16]);
        let token = tokens.issue(account, "1".into(), 5_000).unwrap();
        assert_eq!(tokens.verify(&token, 5_000).unwrap(), account);
        assert_eq!(tokens.verify(&token, 604_999).unwrap(), account);
        assert!(matches!(
            tokens.verify(&token, 605_000),
            Err(Error::Unauthorized(_))
        ));
        assert!(Tokens::new(&[8; 32]).verify(&token, 5_000).is_err());
        assert!(tokens.verify(&format!("{token}x"), 5_000).is_err());
        assert!(tokens.verify("nonsense", 5_000).is_err());
    }

    #[test]
    fn a_token_with_another_algorithm_is_refused() {
        let tokens = Tokens::new(&[7; 32]);
        let claims = Claims {
            iss: ISSUER.into(),
            aud: AUDIENCE.into(),
            sub: AccountId::from_random_bytes([1; 16]).to_string(),
            iat: 0,
            exp: i64::MAX,
            jti: String::new(),
        };
        let forged = jsonwebtoken::encode(
            &Header::new(Algorithm::HS256),
            &claims,
            &EncodingKey::from_secret(&[7; 32]),
        )
        .unwrap();
        assert!(tokens.verify(&forged, 0).is_err());
    }
}
