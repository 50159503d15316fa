//! Access tokens: JWTs (RFC 9068) signed with Ed25519, valid for ten minutes.
//!
//! The signing key lies in the database, so tokens survive a restart. A token ends before its time
//! with the login that it came from.

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
    /// Logins that have ended, until their last token has expired.
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
        if ended.contains_key(&found.login) {
            return Err(Error::unauthorized(
                "the login of this access token has ended; log in again",
            ));
        }
        Ok(found)
    }

    /// Refuses the tokens of a login from now on.
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
            exp: claims.exp,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_store::Error as StoreError;

    fn new(id: u8) -> Issue<'static> {
        Issue {
            issuer: LOCAL_ISSUER,
            account: AccountId::from_random_bytes([1; 16]),
            client: "cairn",
            scope: Scopes::FILES,
            login: Uuid::from_bytes([id; 16]),
            id: id.to_string(),
        }
    }

    #[test]
    fn a_token_holds_for_ten_minutes_and_for_one_server() {
        let tokens = Tokens::new(&[7; 32], None).unwrap();
        let token = tokens.issue(&new(1), 5_000).unwrap();
        let found = tokens.verify(&token, 5_000).unwrap();
        assert_eq!(found.account, new(1).account);
        assert_eq!(
            (found.client.as_str(), found.scope),
            ("cairn", Scopes::FILES)
        );
        assert!(tokens.verify(&token, 604_999).is_ok());
        assert!(matches!(
            tokens.verify(&token, 605_000),
            Err(Error::Store(StoreError::Unauthorized(_)))
        ));
        assert!(
            Tokens::new(&[8; 32], None)
                .unwrap()
                .verify(&token, 5_000)
                .is_err()
        );
        assert!(tokens.verify(&format!("{token}x"), 5_000).is_err());
        assert!(tokens.verify("nonsense", 5_000).is_err());
    }

    #[test]
    fn a_token_ends_with_its_login() {
        let tokens = Tokens::new(&[7; 32], None).unwrap();
        let first = tokens.issue(&new(1), 5_000).unwrap();
        let second = tokens.issue(&new(2), 5_000).unwrap();
        assert!(tokens.verify(&first, 5_000).is_ok());
        tokens.end(Uuid::from_bytes([1; 16]), 5_000);
        assert!(tokens.verify(&first, 5_000).is_err());
        assert!(tokens.verify(&second, 5_000).is_ok());
    }

    #[test]
    fn a_token_with_another_algorithm_or_type_is_refused() {
        let tokens = Tokens::new(&[7; 32], None).unwrap();
        let claims = Claims {
            iss: LOCAL_ISSUER.into(),
            aud: AUDIENCE.into(),
            sub: AccountId::from_random_bytes([1; 16]).to_string(),
            iat: 0,
            exp: LIFETIME_S,
            jti: "1".into(),
            client_id: "cairn".into(),
            scope: "files".into(),
            sid: Uuid::from_bytes([1; 16]),
        };
        let mut header = Header::new(Algorithm::HS256);
        header.typ = Some(TYPE.into());
        let key = EncodingKey::from_secret(&[7; 32]);
        let forged = jsonwebtoken::encode(&header, &claims, &key).unwrap();
        assert!(tokens.verify(&forged, 0).is_err());
        let plain = Header::new(Algorithm::EdDSA);
        let other = jsonwebtoken::encode(&plain, &claims, &tokens.encoding).unwrap();
        assert!(tokens.verify(&other, 0).is_err());
    }

    /// Signs claims with the server's own key.
    fn signed(tokens: &Tokens, claims: &Value) -> String {
        let header = Header {
            typ: Some(TYPE.into()),
            ..Header::new(Algorithm::EdDSA)
        };
        jsonwebtoken::encode(&header, claims, &tokens.encoding).unwrap()
    }

    #[test]
    fn a_token_that_this_server_would_not_have_issued_is_refused() {
        let tokens = Tokens::new(&[7; 32], Some("https://files.example.com/")).unwrap();
        let good = json!({
            "iss": "https://files.example.com", "aud": AUDIENCE,
            "sub": AccountId::from_random_bytes([1; 16]).to_string(), "iat": 1000, "exp": 1600,
            "jti": "1", "client_id": "cairn", "scope": "files", "sid": Uuid::from_bytes([1; 16]),
        });
        let is_accepted =
            |claims: &Value| tokens.verify(&signed(&tokens, claims), 1_000_000).is_ok();
        assert!(is_accepted(&good));
        let changed = |field: &str, value: Option<Value>| {
            let mut claims = good.clone();
            match value {
                Some(value) => claims[field] = value,
                None => drop(claims.as_object_mut().unwrap().remove(field)),
            }
            is_accepted(&claims)
        };
        assert!(changed("iss", Some(json!(LOCAL_ISSUER))));
        for other in [
            "https://evil.example",
            "https://files.example.com.evil.example",
            "",
        ] {
            assert!(!changed("iss", Some(json!(other))), "{other}");
        }
        for field in ["iss", "sid", "jti", "iat", "exp"] {
            assert!(!changed(field, None), "{field}");
        }
        assert!(!changed("jti", Some(json!(""))));
        assert!(!changed("exp", Some(json!(1601))), "it lasts too long");
        let mut later = good.clone();
        later["iat"] = json!(1_000_000);
        later["exp"] = json!(1_000_600);
        assert!(!is_accepted(&later), "it was not issued yet");
    }
}
