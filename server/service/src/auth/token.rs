//! Access tokens: JWTs (RFC 9068) signed with Ed25519, valid for ten minutes.
//!
//! The signing key lies in the database, so tokens survive a restart. A token ends before its time
//! with the login that it came from.

#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cairn_model::AccountId;
use cairn_store::Scopes;
use ed25519_dalek::SigningKey;
use ed25519_dalek::pkcs8::EncodePrivateKey as _;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use uuid::Uuid;

/// Seconds that an access token is valid.
pub(crate) const LIFETIME_S: i64 = 600;
/// Seconds that the machine's clock may have been put back since a token was issued.
const LEEWAY_S: i64 = 60;
/// The issuer of a token that no request asked for.
pub(crate) const LOCAL_ISSUER: &str = "cairn-server";
/// The audience that is meant: the storage API.
pub(crate) const AUDIENCE: &str = "cairn";
/// RFC 9068's type, which no ID token has.
const TYPE: &str = "at+jwt";
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
    client_id: String,
    scope: String,
    /// The login or service account that the token came from, by which it can be ended.
    sid: Uuid,
}

/// The content of a token.
pub(crate) struct Issue<'a> {
    pub(crate) issuer: &'a str,
    pub(crate) account: AccountId,
    pub(crate) client: &'a str,
    pub(crate) scope: Scopes,
    pub(crate) login: Uuid,
    /// Makes the token unique.
    pub(crate) id: String,
}

/// Holds what a good token says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verified {
    pub(crate) account: AccountId,
    pub(crate) client: String,
    pub(crate) scope: Scopes,
    pub(crate) login: Uuid,
    /// The token's own id.
    pub(crate) id: Option<Uuid>,
    exp: i64,
}

/// Issues and checks access tokens.
pub(crate) struct Tokens {
    encoding: EncodingKey,
    decoding: DecodingKey,
    public: [u8; 32],
    /// The issuer of all tokens but the local ones, if the server's address is configured.
    issuer: Option<String>,
    /// SHA-256 of a token that was found good.
    verified: Mutex<HashMap<[u8; 32], Verified>>,
    /// Logins, and single tokens, that have ended, until their last token has expired.
    ended: Mutex<HashMap<Uuid, i64>>,
}

impl Tokens {
    /// Makes the issuer of `public_url`, if there is one, from its signing key.
    ///
    /// # Errors
    /// A key that can't be encoded.
    pub(crate) fn new(secret: &[u8; 32], public_url: Option<&str>) -> Result<Self> {
        let key = SigningKey::from_bytes(secret);
        let der = key
            .to_pkcs8_der()
            .map_err(|error| Error::internal(format!("can't encode the signing key: {error}")))?;
        let public = key.verifying_key();
        Ok(Self {
            encoding: EncodingKey::from_ed_der(der.as_bytes()),
            decoding: DecodingKey::from_ed_der(public.as_bytes()),
            public: public.to_bytes(),
            issuer: public_url.map(|url| url.trim_end_matches('/').to_owned()),
            verified: Mutex::default(),
            ended: Mutex::default(),
        })
    }

    /// Returns true if tokens of this issuer are this server's. Without a configured address each token
    /// names the one that its login came to.
    fn is_issuer(&self, issuer: &str) -> bool {
        issuer == LOCAL_ISSUER
            || match &self.issuer {
                Some(own) => issuer == own,
                None => ["http://", "https://"]
                    .iter()
                    .any(|scheme| issuer.starts_with(scheme)),
            }
    }

    fn key_id(&self) -> String {
        hex::encode(&Sha256::digest(self.public)[..8])
    }

    /// The public key as a JWK (RFC 8037).
    pub(crate) fn public(&self) -> Value {
        json!({
            "kty": "OKP",
            "crv": "Ed25519",
            "use": "sig",
            "alg": "EdDSA",
            "kid": self.key_id(),
            "x": URL_SAFE_NO_PAD.encode(self.public),
        })
    }

    /// Issues a token.
    pub(crate) fn issue(&self, new: &Issue<'_>, now_ms: i64) -> Result<String> {
        let now = now_ms.div_euclid(1000);
        let claims = Claims {
            iss: new.issuer.into(),
            aud: AUDIENCE.into(),
            sub: new.account.to_string(),
            iat: now,
            exp: now + LIFETIME_S,
            jti: new.id.clone(),
            client_id: new.client.into(),
            scope: new.scope.to_string(),
            sid: new.login,
        };
        let header = Header {
            typ: Some(TYPE.into()),
            kid: Some(self.key_id()),
            ..Header::new(Algorithm::EdDSA)
        };
        jsonwebtoken::encode(&header, &claims, &self.encoding)
            .map_err(|e| Error::internal(format!("can't sign a token: {e}")))
    }

    /// Returns what a token that is in force says.
    ///
    /// # Errors
    /// [`Error::Unauthorized`] for any other text.
    pub(crate) fn verify(&self, token: &str, now_ms: i64) -> Result<Verified> {
        let hash: [u8; 32] = Sha256::digest(token).into();
        let mut verified = self.verified.lock();
        let found = match verified.get(&hash) {
            Some(known) => known.clone(),
            None => {
                let fresh = self.check(token, now_ms.div_euclid(1000))?;
                if verified.len() >= REMEMBERED {
                    verified.clear();
                }
                verified.insert(hash, fresh.clone());
                fresh
            }
        };
        if found.exp <= now_ms.div_euclid(1000) {
            verified.remove(&hash);
            return Err(Error::unauthorized(
                "the access token has expired; get a new one",
            ));
        }
        drop(verified);
        let ended = self.ended.lock();
        let has_ended =
            ended.contains_key(&found.login) || found.id.is_some_and(|id| ended.contains_key(&id));
        if has_ended {
            return Err(Error::unauthorized(
                "the login of this access token has ended; log in again",
            ));
        }
        Ok(found)
    }

    /// Refuses the tokens of a login, or a single one, from now on.
    pub(crate) fn end(&self, login: Uuid, now_ms: i64) {
        let now = now_ms.div_euclid(1000);
        let mut ended = self.ended.lock();
        ended.retain(|_, until| *until > now);
        ended.insert(login, now + LIFETIME_S);
    }

    fn check(&self, token: &str, now: i64) -> Result<Verified> {
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.set_audience(&[AUDIENCE]);
        // The server's own clock decides, which may be a virtual one.
        validation.validate_exp = false;
        let refused =
            || Error::unauthorized("the access token is not one of this server; log in again");
        let data = jsonwebtoken::decode::<Claims>(token, &self.decoding, &validation)
            .map_err(|_| refused())?;
        if data.header.typ.as_deref() != Some(TYPE) {
            return Err(refused());
        }
        let claims = data.claims;
        let lasts = claims.exp.saturating_sub(claims.iat);
        let is_early = claims.iat > now.saturating_add(LEEWAY_S);
        if lasts > LIFETIME_S || is_early || claims.jti.is_empty() || !self.is_issuer(&claims.iss) {
            return Err(refused());
        }
        Ok(Verified {
            account: claims.sub.parse().map_err(|_| refused())?,
            client: claims.client_id,
            scope: Scopes::parse(&claims.scope).ok_or_else(refused)?,
            login: claims.sid,
            id: Uuid::try_parse(&claims.jti).ok(),
            exp: claims.exp,
        })
    }
}
