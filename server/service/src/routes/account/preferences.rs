//! E-mail preferences, and the log of what happened to the account's keys.

use crate::auth::Caller;
use crate::error::Result;
use crate::http::extract::{Input, QueryParams};
use crate::http::page::Window;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cairn_wire::Page;
use cairn_wire::account::{AuditEvent, EmailPreferences, UpdateEmailPreferences};
use cairn_wire::page::PageQuery;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(email_preferences, update_email_preferences))
        .routes(routes!(encryption_audit))
}

/// Returns what the caller wants by mail.
#[utoipa::path(
    get, path = "/api/v1/useraccount/email-preferences", tag = "account",
    responses((status = 200, description = "The preferences", body = EmailPreferences))
)]
async fn email_preferences(
    caller: Caller,
    State(app): State<AppState>,
) -> Result<Json<EmailPreferences>> {
    Ok(Json(app.store.email_preferences(caller.account)?))
}

/// Changes what the caller wants by mail; what is absent stays.
#[utoipa::path(
    put, path = "/api/v1/useraccount/email-preferences", tag = "account", request_body = UpdateEmailPreferences,
    responses((status = 200, description = "The preferences", body = EmailPreferences))
)]
async fn update_email_preferences(
    caller: Caller,
    State(app): State<AppState>,
    Input(change): Input<UpdateEmailPreferences>,
) -> Result<Json<EmailPreferences>> {
    Ok(Json(
        app.store
            .update_email_preferences(caller.account, &change)?,
    ))
}

/// Lists what happened to the caller's keys, latest first.
#[utoipa::path(
    get, path = "/api/v1/useraccount/encryption-audit", tag = "account", params(PageQuery),
    responses((status = 200, description = "One page", body = Page<AuditEvent>))
)]
async fn encryption_audit(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<AuditEvent>>> {
    let window = Window::new(query.page, query.page_size)?;
    let found = app
        .store
        .audit_log(caller.account, window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}
