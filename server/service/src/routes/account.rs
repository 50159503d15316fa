//! The caller's account, what it uses, what it has chosen, and its end.

mod deletion;
mod preferences;
mod second_factor;

use crate::auth::Caller;
use crate::error::{Error, Result};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cairn_wire::Timestamp;
use cairn_wire::account::{AccountInfo, AccountSettings, Quota};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(composite))
        .routes(routes!(quota))
        .merge(deletion::routes())
        .merge(preferences::routes())
        .merge(second_factor::routes())
}

/// The account in one response: profile, tier, usage, settings, its space and the server's clock.
#[utoipa::path(
    get, path = "/api/v1/useraccount/composite", tag = "account",
    responses((status = 200, description = "The account", body = AccountInfo))
)]
async fn composite(caller: Caller, State(app): State<AppState>) -> Result<Json<AccountInfo>> {
    app.bandwidth.flush(&app.store, caller.account)?;
    let account = app
        .store
        .account(caller.account)?
        .ok_or_else(|| Error::unauthorized("the account is gone; log in again"))?;
    Ok(Json(AccountInfo {
        id: account.id,
        email: account.email,
        display_name: account.display_name,
        space_id: account.space.id,
        created_at: Timestamp(account.created_at),
        usage: app.store.quota(account.id)?,
        server_time: Timestamp(app.source.now_ms()),
        history_id: app.store.shown_history_id()?,
        profile: Some(app.store.own_profile(account.id)?),
        subscription: Some(
            app.store
                .subscription(account.id, app.options.limits.storage)?,
        ),
        settings: Some(AccountSettings {
            email_preferences: app.store.email_preferences(account.id)?,
            recovery_key_configured: app.store.recovery_status(account.id)?.configured,
        }),
        deletion: app.store.account_status(account.id)?.deletion,
    }))
}

/// Storage, bandwidth and files: used and allowed.
#[utoipa::path(
    get, path = "/api/v1/userusage/quota-limit", tag = "account",
    responses((status = 200, description = "Usage and limits", body = Quota))
)]
async fn quota(caller: Caller, State(app): State<AppState>) -> Result<Json<Quota>> {
    app.bandwidth.flush(&app.store, caller.account)?;
    Ok(Json(app.store.quota(caller.account)?))
}
