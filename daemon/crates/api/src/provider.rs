//! The server's identity provider, as far as a native application uses it (RFC 8252): a code with
//! PKCE, device authorization, refresh and revocation.
//!
//! Nothing here is retried or remembered; tokens are kept by [`crate::Login`].

mod exchange;
#[cfg(test)]
mod tests;

use self::exchange::{form, open, post, refusal, send};

use crate::ApiError;
use crate::call::BaseUrl;
use crate::error::quote;
use crate::transport::{Request, Transport};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use cairn_wire::identity::{
    DeviceAuthorization, DeviceRequest, Discovery, RevokeRequest, TokenRequest, TokenResponse,
};
use http::{HeaderMap, Method};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

/// Our client id at every bundled server.
const CLIENT: &str = "cairn";
/// Everything with the account, also while nobody is there.
const SCOPE: &str = "openid email offline_access files";
const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// The identity provider of a server.
pub struct Provider {
    transport: Arc<dyn Transport>,
    discovery: Discovery,
}

/// The state of a login through a browser between its beginning and its end.
pub struct Attempt {
    /// The address that the person opens.
    pub url: String,
    /// Comes back with the response; one with another value is not ours.
    pub state: String,
    verifier: String,
    redirect: String,
}

/// The result of one poll by a device.
pub enum DevicePoll {
    Pending,
    /// The person has not decided, and the device asks too often.
    SlowDown,
    Denied,
    Expired,
    Allowed(TokenResponse),
}

fn secret() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

impl Provider {
    /// Asks a server about its provider.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] for a server without one, [`ApiError::Protocol`] for one that belongs to
    /// another address.
    pub async fn discover(transport: Arc<dyn Transport>, server: &str) -> Result<Self, ApiError> {
        let base = BaseUrl::parse(server)?;
        let path = "/.well-known/openid-configuration";
        let request = Request {
            method: Method::GET,
            base: base.text.clone(),
            path: path.into(),
            headers: HeaderMap::new(),
            body: Bytes::new().into(),
        };
        let discovery: Discovery = send(transport.as_ref(), request)
            .await
            .map_err(|refusal| refusal.error)?;
        if discovery.issuer.trim_end_matches('/') != base.text {
            return Err(ApiError::Protocol(format!(
                "it calls itself {}: log in with that address instead of {}",
                quote(&discovery.issuer),
                base.text
            )));
        }
        let required = [&discovery.authorization_endpoint, &discovery.token_endpoint];
        let optional = [
            &discovery.revocation_endpoint,
            &discovery.device_authorization_endpoint,
        ];
        for endpoint in required.into_iter().chain(optional.into_iter().flatten()) {
            check(endpoint, &base)?;
        }
        Ok(Self {
            transport,
            discovery,
        })
    }

    /// Returns the address at which tokens are fetched.
    #[must_use]
    pub fn token_endpoint(&self) -> &str {
        &self.discovery.token_endpoint
    }

    /// Returns the address at which logins are ended, if that is possible.
    #[must_use]
    pub fn revocation_endpoint(&self) -> Option<&str> {
        self.discovery.revocation_endpoint.as_deref()
    }

    /// Returns the issuer whose responses an attempt accepts.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.discovery.issuer
    }

    /// Begins a login whose response goes to `redirect`.
    ///
    /// # Errors
    /// [`ApiError::Protocol`] if the address can't be written.
    pub fn begin(&self, redirect: &str) -> Result<Attempt, ApiError> {
        let (verifier, state) = (secret(), secret());
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&verifier));
        let query = serde_urlencoded::to_string([
            ("response_type", "code"),
            ("client_id", CLIENT),
            ("redirect_uri", redirect),
            ("scope", SCOPE),
            ("state", &state),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ])
        .map_err(|e| ApiError::Protocol(format!("the login address can't be written: {e}")))?;
        let endpoint = &self.discovery.authorization_endpoint;
        let separator = if endpoint.contains('?') { '&' } else { '?' };
        Ok(Attempt {
            url: format!("{endpoint}{separator}{query}"),
            state,
            verifier,
            redirect: redirect.to_owned(),
        })
    }

    /// Fetches the tokens of a login that came back with a code.
    ///
    /// # Errors
    /// [`ApiError::Unauthorized`] for a code that is not good.
    pub async fn finish(&self, attempt: &Attempt, code: &str) -> Result<TokenResponse, ApiError> {
        let request = TokenRequest {
            grant_type: Some("authorization_code".into()),
            code: Some(code.into()),
            redirect_uri: Some(attempt.redirect.clone()),
            code_verifier: Some(attempt.verifier.clone()),
            client_id: Some(CLIENT.into()),
            ..TokenRequest::default()
        };
        post(self.transport.as_ref(), self.token_endpoint(), &request)
            .await
            .map_err(|refusal| refusal.error)
    }

    /// Begins a login on another device.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] for a provider that has no such login.
    pub async fn begin_device(&self) -> Result<DeviceAuthorization, ApiError> {
        let endpoint = self.discovery.device_authorization_endpoint.as_deref();
        let endpoint = endpoint.ok_or_else(|| ApiError::NotFound {
            message: "this server has no login with a device code".into(),
        })?;
        let request = DeviceRequest {
            client_id: Some(CLIENT.into()),
            scope: Some(SCOPE.into()),
        };
        post(self.transport.as_ref(), endpoint, &request)
            .await
            .map_err(|refusal| refusal.error)
    }

    /// Asks whether the person has decided.
    ///
    /// # Errors
    /// [`ApiError`] for every response that is none of [`DevicePoll`].
    pub async fn poll_device(&self, device_code: &str) -> Result<DevicePoll, ApiError> {
        let request = TokenRequest {
            grant_type: Some(DEVICE_GRANT.into()),
            device_code: Some(device_code.into()),
            client_id: Some(CLIENT.into()),
            ..TokenRequest::default()
        };
        match post(self.transport.as_ref(), self.token_endpoint(), &request).await {
            Ok(tokens) => Ok(DevicePoll::Allowed(tokens)),
            Err(refusal) => match refusal.code.as_str() {
                "authorization_pending" => Ok(DevicePoll::Pending),
                "slow_down" => Ok(DevicePoll::SlowDown),
                "access_denied" => Ok(DevicePoll::Denied),
                "expired_token" => Ok(DevicePoll::Expired),
                _ => Err(refusal.error),
            },
        }
    }
}

/// Fetches new tokens for a refresh token, which is used up by that.
pub(crate) async fn refresh(
    transport: &dyn Transport,
    token_endpoint: &str,
    token: &str,
) -> Result<TokenResponse, ApiError> {
    let request = TokenRequest {
        grant_type: Some("refresh_token".into()),
        refresh_token: Some(token.into()),
        client_id: Some(CLIENT.into()),
        ..TokenRequest::default()
    };
    post(transport, token_endpoint, &request)
        .await
        .map_err(|refusal| refusal.error)
}

/// Ends the login of a refresh token.
///
/// # Errors
/// [`ApiError`] if the provider was not reached or refused.
pub async fn revoke(
    transport: &dyn Transport,
    revocation_endpoint: &str,
    token: &str,
) -> Result<(), ApiError> {
    let request = RevokeRequest {
        token: Some(token.into()),
        token_type_hint: Some("refresh_token".into()),
        client_id: Some(CLIENT.into()),
        ..RevokeRequest::default()
    };
    let response = open(transport, form(revocation_endpoint, &request)?).await?;
    if response.status.is_success() {
        Ok(())
    } else {
        Err(refusal(response).await.error)
    }
}

/// Returns the names and values of a query, as a browser brings them back.
///
/// # Errors
/// [`ApiError::Protocol`] for a text that is none.
pub fn query_pairs(query: &str) -> Result<Vec<(String, String)>, ApiError> {
    serde_urlencoded::from_str(query)
        .map_err(|e| ApiError::Protocol(format!("the response can't be read: {e}")))
}

/// Checks that an endpoint belongs to the server itself: tokens go to no other origin than the one
/// that the person named.
fn check(endpoint: &str, base: &BaseUrl) -> Result<(), ApiError> {
    let origin = reqwest::Url::parse(endpoint).map(|url| url.origin().ascii_serialization());
    if origin.is_ok_and(|origin| origin == base.origin) {
        return Ok(());
    }
    Err(ApiError::Protocol(format!(
        "its login is at {}, which does not belong to {}: no token is sent there",
        quote(endpoint),
        base.origin
    )))
}
