//! The token endpoint: codes, refresh tokens, service accounts and devices become tokens.

use super::request::{Credentials, Fields, generate_secret, hash, scope};
use crate::auth::disabled_error;
use crate::auth::token::{Issue, LIFETIME_S};
use crate::error::{Error, Result};
use crate::http::address::Address;
use crate::http::secret::show_once;
use crate::identity::failure::{Failure, OAuthResult};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cairn_store::Scopes;
use cairn_store::{Login, Polled, Presented};
use cairn_wire::identity::{TokenRequest, TokenResponse};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// RFC 8628's type of grant.
pub(crate) const DEVICE_GRANT_TYPE: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// The lifetime of an ID token; clients look at it once.
const ID_LIFETIME_S: i64 = 600;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(token))
}

/// Holds what is given out for a request.
struct Given {
    login: Login,
    /// Present if the login is one of the store, which can be ended.
    refresh: Option<String>,
    nonce: Option<String>,
}

#[derive(Serialize)]
struct IdClaims<'a> {
    iss: &'a str,
    sub: String,
    aud: &'a str,
    iat: i64,
    exp: i64,
    auth_time: i64,
    at_hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email_verified: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

fn require<'a>(field: &'a Option<String>, name: &str) -> OAuthResult<&'a str> {
    field
        .as_deref()
        .filter(|text| !text.is_empty())
        .ok_or_else(|| Failure::request(format!("'{name}' is missing")))
}

/// RFC 7636, section 4.6, with the length that section 4.1 asks for.
fn fits_challenge(verifier: &str, challenge: &str) -> bool {
    (43..=128).contains(&verifier.len())
        && URL_SAFE_NO_PAD.encode(Sha256::digest(verifier)) == challenge
}

fn grant_of(app: &AppState, presented: Presented, refresh: String) -> OAuthResult<Given> {
    match presented {
        Presented::Good { login, nonce } => Ok(Given {
            refresh: login.scope.has(Scopes::OFFLINE).then_some(refresh),
            login,
            nonce,
        }),
        Presented::Again(login) => {
            app.tokens.end(login, app.source.now_ms());
            Err(Failure::invalid_grant(
                "it has been used or replaced before; the login that it came from has ended, log in again",
            ))
        }
        Presented::Unknown => Err(Failure::invalid_grant(
            "it is unknown, has expired, or was issued for something else",
        )),
    }
}

fn by_code(app: &AppState, from: &Credentials, request: &TokenRequest) -> OAuthResult<Given> {
    let client = from.client(app)?;
    let code = require(&request.code, "code")?;
    let verifier = require(&request.code_verifier, "code_verifier")?;
    let redirect = require(&request.redirect_uri, "redirect_uri")?;
    let (refresh, kept) = generate_secret(app, "rt_");
    let presented = app.store.redeem_code(&hash(code), &kept, |code| {
        code.client == client.id
            && code.redirect_uri == redirect
            && fits_challenge(verifier, &code.challenge)
    })?;
    grant_of(app, presented, refresh)
}

fn by_refresh(app: &AppState, from: &Credentials, request: &TokenRequest) -> OAuthResult<Given> {
    let client = from.client(app)?;
    let token = require(&request.refresh_token, "refresh_token")?;
    let (refresh, kept) = generate_secret(app, "rt_");
    let presented = app.store.rotate_refresh(&hash(token), &kept, &client.id)?;
    let mut given = grant_of(app, presented, refresh)?;
    // One that names nothing asks for nothing else than before.
    let asked = request.scope.as_deref();
    if let Some(text) = asked.filter(|text| !text.trim().is_empty()) {
        let narrower = scope(Some(text))?;
        if !given.login.scope.covers(narrower) {
            return Err(Failure::new(
                "invalid_scope",
                "'scope' asks for more than the login allowed",
            ));
        }
        given.login.scope = narrower;
    }
    Ok(given)
}

fn by_secret(app: &AppState, from: &Credentials, request: &TokenRequest) -> OAuthResult<Given> {
    let service = from.service_account(app)?;
    let allowed = service.scope;
    let asked = match request.scope.as_deref() {
        None | Some("") => allowed,
        Some(text) => scope(Some(text))?,
    };
    if !allowed.covers(asked) {
        return Err(Failure::new(
            "invalid_scope",
            "'scope' asks for more than the service account has",
        ));
    }
    Ok(Given {
        login: Login {
            id: service.id,
            account: service.account,
            client: from.id.clone(),
            scope: asked,
            auth_time: app.source.now_ms(),
        },
        refresh: None,
        nonce: None,
    })
}

fn by_device(app: &AppState, from: &Credentials, request: &TokenRequest) -> OAuthResult<Given> {
    let client = from.client(app)?;
    let code = require(&request.device_code, "device_code")?;
    let (refresh, kept) = generate_secret(app, "rt_");
    match app.store.poll_device(&hash(code), &client.id, &kept)? {
        Polled::Allowed(login) => grant_of(app, Presented::Good { login, nonce: None }, refresh),
        Polled::Pending => Err(Failure::new(
            "authorization_pending",
            "the person has not decided yet",
        )),
        Polled::TooSoon => Err(Failure::new(
            "slow_down",
            "wait longer between two polls; the interval is 5 s longer now",
        )),
        Polled::Denied => Err(Failure::new("access_denied", "the request was denied")),
        Polled::Unknown => Err(Failure::new(
            "expired_token",
            "the device code is unknown, used or older than ten minutes; begin again",
        )),
    }
}

fn id_token(app: &AppState, issuer: &str, given: &Given, access: &str) -> Result<String> {
    let now = app.source.now_ms().div_euclid(1000);
    let account = app
        .store
        .account(given.login.account)?
        .ok_or_else(|| Error::internal("a login's account is gone"))?;
    let scope = given.login.scope;
    let email = scope.has(Scopes::EMAIL).then_some(account.email);
    let claims = IdClaims {
        iss: issuer,
        sub: account.id.to_string(),
        aud: &given.login.client,
        iat: now,
        exp: now + ID_LIFETIME_S,
        auth_time: given.login.auth_time.div_euclid(1000),
        at_hash: URL_SAFE_NO_PAD.encode(&Sha256::digest(access)[..16]),
        nonce: given.nonce.clone(),
        email_verified: email.as_ref().map(|_| account.email_verified),
        email,
        name: scope.has(Scopes::PROFILE).then_some(account.display_name),
    };
    app.identity.signer.sign(&app.store, &claims)
}

fn issue(app: &AppState, issuer: &str, given: Given) -> Result<TokenResponse> {
    let login = &given.login;
    match app.store.account(login.account)? {
        Some(account) if account.disabled => return Err(disabled_error()),
        Some(_) => {}
        None => return Err(Error::invalid("the account of this login is gone")),
    }
    let access = app.tokens.issue(
        &Issue {
            issuer,
            account: login.account,
            client: &login.client,
            scope: login.scope,
            login: login.id,
            id: hex::encode(app.source.bytes::<16>()),
        },
        app.source.now_ms(),
    )?;
    let id_token = if login.scope.has(Scopes::OPENID) {
        Some(id_token(app, issuer, &given, &access)?)
    } else {
        None
    };
    Ok(TokenResponse {
        access_token: access,
        token_type: "Bearer".into(),
        expires_in: LIFETIME_S.unsigned_abs(),
        refresh_token: given.refresh,
        id_token,
        scope: Some(given.login.scope.to_string()),
    })
}

/// Gives out tokens.
#[utoipa::path(
    post, path = "/oauth/token", tag = "identity", security(()),
    request_body(content = TokenRequest, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The tokens", body = TokenResponse),
        (status = 400, description = "The request, the code or the token can't be used"),
        (status = 401, description = "The client is not who it says")
    )
)]
async fn token(
    State(app): State<AppState>,
    Address(issuer): Address,
    Fields(request, parts): Fields<TokenRequest>,
) -> OAuthResult<Response> {
    let from = Credentials::read(
        &parts.headers,
        request.client_id.as_deref(),
        request.client_secret.as_deref(),
    )?;
    let given = match require(&request.grant_type, "grant_type")? {
        "authorization_code" => by_code(&app, &from, &request)?,
        "refresh_token" => by_refresh(&app, &from, &request)?,
        "client_credentials" => by_secret(&app, &from, &request)?,
        DEVICE_GRANT_TYPE => by_device(&app, &from, &request)?,
        _ => {
            return Err(Failure::new(
                "unsupported_grant_type",
                "'grant_type' is none that this server has",
            ));
        }
    };
    // Making the key of ID tokens for the first time takes a second.
    let tokens = tokio::task::spawn_blocking(move || issue(&app, &issuer, given))
        .await
        .map_err(|e| Error::internal(format!("tokens can't be made: {e}")))??;
    let headers = [(header::PRAGMA, HeaderValue::from_static("no-cache"))];
    Ok(show_once((headers, Json(tokens))))
}

#[cfg(test)]
mod tests {
    use super::fits_challenge;

    #[test]
    fn the_example_of_rfc_7636_fits() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        assert!(fits_challenge(verifier, challenge));
        assert!(!fits_challenge("short", challenge));
        assert!(!fits_challenge(challenge, challenge));
    }
}
