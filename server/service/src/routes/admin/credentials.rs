//! The credentials of an account, as administrators change them: its password, its second factor, its logins.

use crate::auth::administrator::Admin;
use crate::error::{Error, Result};
use crate::http::extract::{Input, PathArgs, QueryParams};
use crate::http::page::Window;
use crate::identity::password::check_password;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cairn_model::AccountId;
use cairn_wire::Page;
use cairn_wire::admin::{Session, SetPassword};
use cairn_wire::page::PageQuery;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(set_password))
        .routes(routes!(reset_second_factor))
        .routes(routes!(list_sessions, end_sessions))
        .routes(routes!(end_session))
}

/// Gives an account a new password, which ends its logins; its files stay sealed as they are.
#[utoipa::path(
    put, path = "/api/v1/admin/accounts/{id}/password", tag = "admin", request_body = SetPassword,
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 204, description = "The password is set"),
        (status = 400, description = "The password is too short, too long or too easy to guess"),
        (status = 403, description = "The caller is not an administrator, or the account is one")
    )
)]
async fn set_password(
    admin: Admin,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<AccountId>,
    Input(new): Input<SetPassword>,
) -> Result<StatusCode> {
    admin.check_may_change(&app, id)?;
    let email = app.store.account_overview(id)?.email;
    check_password(&new.password, &email)
        .map_err(|text| Error::invalid(format!("`password`: {text}")))?;
    // A hash takes a core for a while, as a check of a password does.
    let _permit = app.identity.checks.acquire().await;
    let worker = app.clone();
    tokio::task::spawn_blocking(move || -> Result<()> {
        let hash = worker.password_hash(&new.password)?;
        Ok(worker.store.reset_password(admin.by(), id, &hash)?)
    })
    .await
    .map_err(|e| Error::internal(format!("a password can't be set: {e}")))??;
    Ok(StatusCode::NO_CONTENT)
}

/// Takes the second factor away from an account whose owner has lost it.
#[utoipa::path(
    delete, path = "/api/v1/admin/accounts/{id}/second-factor", tag = "admin",
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 204, description = "The password alone logs in"),
        (status = 403, description = "The caller is not an administrator, or the account is one"),
        (status = 404, description = "There is no such account, or it has no second factor")
    )
)]
async fn reset_second_factor(
    admin: Admin,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<AccountId>,
) -> Result<StatusCode> {
    admin.check_may_change(&app, id)?;
    app.store.reset_second_factor(admin.by(), id)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lists the logins of an account that have not ended, the oldest first.
#[utoipa::path(
    get, path = "/api/v1/admin/accounts/{id}/sessions", tag = "admin",
    params(("id" = String, Path, format = Uuid), PageQuery),
    responses(
        (status = 200, description = "One page", body = Page<Session>),
        (status = 403, description = "The caller is not an administrator")
    )
)]
async fn list_sessions(
    _: Admin,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<AccountId>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<Session>>> {
    let window = Window::new(query.page, query.page_size)?;
    app.store.account_overview(id)?;
    let found = app.store.sessions_page(id, window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}

/// Ends all logins of an account. Its API keys stay.
#[utoipa::path(
    delete, path = "/api/v1/admin/accounts/{id}/sessions", tag = "admin",
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 204, description = "They have ended"),
        (status = 403, description = "The caller is not an administrator, or the account is one")
    )
)]
async fn end_sessions(
    admin: Admin,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<AccountId>,
) -> Result<StatusCode> {
    admin.check_may_change(&app, id)?;
    app.store.end_sessions(admin.by(), id, None)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ends one login of an account.
#[utoipa::path(
    delete, path = "/api/v1/admin/accounts/{id}/sessions/{session}", tag = "admin",
    params(("id" = String, Path, format = Uuid), ("session" = String, Path, format = Uuid)),
    responses(
        (status = 204, description = "It has ended"),
        (status = 403, description = "The caller is not an administrator, or the account is one"),
        (status = 404, description = "There is no such account, or it has no such login")
    )
)]
async fn end_session(
    admin: Admin,
    State(app): State<AppState>,
    PathArgs((id, session)): PathArgs<(AccountId, Uuid)>,
) -> Result<StatusCode> {
    admin.check_may_change(&app, id)?;
    app.store.end_sessions(admin.by(), id, Some(session))?;
    Ok(StatusCode::NO_CONTENT)
}
