//! The description of the provider and of where its parts are (OpenID Connect Discovery, RFC 8414),
//! and its keys.

use crate::error::{Error, Result};
use crate::http::address::Address;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cairn_store::Scopes;
use cairn_wire::identity::Discovery;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(openid))
        .routes(routes!(metadata))
        .routes(routes!(jwks))
}

fn document(base: &str) -> Discovery {
    let at = |path: &str| format!("{base}{path}");
    let texts = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect();
    Discovery {
        issuer: base.to_owned(),
        authorization_endpoint: at("/oauth/authorize"),
        token_endpoint: at("/oauth/token"),
        userinfo_endpoint: at("/oauth/userinfo"),
        jwks_uri: at("/oauth/jwks"),
        revocation_endpoint: Some(at("/oauth/revoke")),
        device_authorization_endpoint: Some(at("/oauth/device_authorization")),
        response_types_supported: texts(&["code"]),
        response_modes_supported: texts(&["query"]),
        grant_types_supported: texts(&[
            "authorization_code",
            "refresh_token",
            "client_credentials",
            super::token::DEVICE_GRANT_TYPE,
        ]),
        subject_types_supported: texts(&["public"]),
        id_token_signing_alg_values_supported: texts(&["RS256"]),
        scopes_supported: Scopes::names().map(str::to_owned).collect(),
        claims_supported: texts(&[
            "iss",
            "sub",
            "aud",
            "exp",
            "iat",
            "auth_time",
            "nonce",
            "at_hash",
            "email",
            "email_verified",
            "name",
        ]),
        token_endpoint_auth_methods_supported: texts(&[
            "none",
            "client_secret_basic",
            "client_secret_post",
        ]),
        code_challenge_methods_supported: texts(&["S256"]),
        authorization_response_iss_parameter_supported: true,
        request_uri_parameter_supported: false,
    }
}

/// Describes the provider (OpenID Connect Discovery).
#[utoipa::path(
    get, path = "/.well-known/openid-configuration", tag = "identity", security(()),
    responses((status = 200, description = "Where everything is", body = Discovery))
)]
async fn openid(Address(base): Address) -> Json<Discovery> {
    Json(document(&base))
}

/// Describes the provider (RFC 8414); the same document.
#[utoipa::path(
    get, path = "/.well-known/oauth-authorization-server", tag = "identity", security(()),
    responses((status = 200, description = "Where everything is", body = Discovery))
)]
async fn metadata(Address(base): Address) -> Json<Discovery> {
    Json(document(&base))
}

/// A key set (RFC 7517).
#[derive(Serialize, ToSchema)]
struct Keys {
    #[schema(value_type = Vec<Object>)]
    keys: Vec<Value>,
}

/// The public keys: RS256 for ID tokens, EdDSA for access tokens.
#[utoipa::path(
    get, path = "/oauth/jwks", tag = "identity", security(()),
    responses((status = 200, description = "The keys", body = Keys))
)]
async fn jwks(State(app): State<AppState>) -> Result<Json<Keys>> {
    let access = app.tokens.public();
    // Making the key for the first time takes a second.
    let id = tokio::task::spawn_blocking(move || app.identity.signer.public(&app.store))
        .await
        .map_err(|e| Error::internal(format!("a key can't be made: {e}")))??;
    Ok(Json(Keys {
        keys: vec![id, access],
    }))
}
