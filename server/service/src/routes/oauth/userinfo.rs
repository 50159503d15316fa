//! The account that an access token speaks for (OpenID Connect Core, section 5.3).

use crate::auth::bearer;
use crate::identity::failure::{Failure, NO_TOKEN, OAuthResult};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use cairn_store::Scopes;
use cairn_wire::identity::UserInfo;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(get_info))
        .routes(routes!(post_info))
}

fn info(app: &AppState, headers: &HeaderMap) -> OAuthResult<Json<UserInfo>> {
    let refuse = |error, text: &str| Failure {
        status: StatusCode::UNAUTHORIZED,
        ..Failure::new(error, text)
    };
    let unauthorized = |text: &str| refuse("invalid_token", text);
    let token = bearer(headers).ok_or_else(|| refuse(NO_TOKEN, "an access token is needed"))?;
    let found = app
        .tokens
        .verify(token, app.source.now_ms())
        .map_err(|e| unauthorized(&e.to_string()))?;
    if !found.scope.has(Scopes::OPENID) {
        return Err(Failure {
            status: StatusCode::FORBIDDEN,
            ..Failure::new("insufficient_scope", "the token lacks the scope 'openid'")
        });
    }
    let account = app
        .store
        .account(found.account)?
        .ok_or_else(|| unauthorized("the token's account is gone"))?;
    if account.disabled || app.store.login_has_ended(found.login, found.id)? {
        return Err(unauthorized(
            "the account is disabled, or the login has ended",
        ));
    }
    let email = found.scope.has(Scopes::EMAIL).then_some(account.email);
    Ok(Json(UserInfo {
        sub: account.id.to_string(),
        email_verified: email.as_ref().map(|_| account.email_verified),
        email,
        name: found
            .scope
            .has(Scopes::PROFILE)
            .then_some(account.display_name),
    }))
}

/// Returns who a token speaks for, as far as its scopes go.
#[utoipa::path(
    get, path = "/oauth/userinfo", tag = "identity",
    responses(
        (status = 200, description = "The account", body = UserInfo),
        (status = 401, description = "The token is not in force"),
        (status = 403, description = "The token lacks the scope `openid`")
    )
)]
async fn get_info(State(app): State<AppState>, headers: HeaderMap) -> OAuthResult<Json<UserInfo>> {
    info(&app, &headers)
}

/// The same for clients that post.
#[utoipa::path(
    post, path = "/oauth/userinfo", tag = "identity",
    responses(
        (status = 200, description = "The account", body = UserInfo),
        (status = 401, description = "The token is not in force"),
        (status = 403, description = "The token lacks the scope `openid`")
    )
)]
async fn post_info(State(app): State<AppState>, headers: HeaderMap) -> OAuthResult<Json<UserInfo>> {
    info(&app, &headers)
}
