//! Token revocation (RFC 7009): a token's whole login ends, its access tokens included. Those of a service
//! account belong to no login, and end one by one.

use super::request::{Credentials, Fields, Service, hash};
use crate::identity::failure::{Failure, OAuthResult};
use crate::state::AppState;
use axum::extract::State;
use axum::http::StatusCode;
use cairn_store::{CLIENT_PREFIX, Login};
use cairn_wire::identity::RevokeRequest;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(revoke))
}

/// Ends the login of a refresh or access token; an unknown token is as good as ended.
#[utoipa::path(
    post, path = "/oauth/revoke", tag = "identity", security(()),
    request_body(content = RevokeRequest, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The token is no longer in force"),
        (status = 400, description = "`token` is missing"),
        (status = 401, description = "The client is not who it says")
    )
)]
async fn revoke(
    State(app): State<AppState>,
    Fields(request, parts): Fields<RevokeRequest>,
) -> OAuthResult<StatusCode> {
    let from = Credentials::read(
        &parts.headers,
        request.client_id.as_deref(),
        request.client_secret.as_deref(),
    )?;
    let missing = || Failure::request("'token' is missing");
    let token = request.token.as_deref();
    let now = app.source.now_ms();
    if from.id.starts_with(CLIENT_PREFIX) && app.identity.client(&from.id).is_none() {
        let service = from.service_account(&app)?;
        end_token(&app, &service, token.ok_or_else(missing)?, now)?;
        return Ok(StatusCode::OK);
    }
    let client = from.client(&app)?;
    let token = token.ok_or_else(missing)?;
    let mut ended = app.store.revoke_refresh(&hash(token), &client.id)?;
    if ended.is_none()
        && let Ok(access) = app.tokens.verify(token, now)
        && access.client == client.id
        && app.store.revoke_login(access.login, &client.id)?
    {
        ended = Some(access.login);
    }
    if let Some(login) = ended {
        app.tokens.end(login, now);
    }
    Ok(StatusCode::OK)
}

/// Ends an access token of a service account, and no other one.
fn end_token(app: &AppState, service: &Service, token: &str, now: i64) -> OAuthResult<()> {
    if let Ok(access) = app.tokens.verify(token, now)
        && access.login == service.id
        && let Some(id) = access.id
    {
        app.store.end_token(&Login {
            id,
            account: access.account,
            client: access.client,
            scope: access.scope,
            auth_time: now,
        })?;
        app.tokens.end(id, now);
    }
    Ok(())
}
