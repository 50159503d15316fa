//! The handlers of `/_dev`: fault rules, recorded requests, mails, the clock, accounts, quotas, damage, reset.

use crate::faults::{Fault, Rule};
use crate::recording::{Filter, Recorded};
use crate::{Dev, accounts, console, guard, seed};
use axum::extract::State;
use axum::http::StatusCode;
use axum::middleware::from_fn;
use axum::routing::{delete, get, post};
use axum::{Extension, Json, Router};
use cairn_service::{AppState, Error, PathArgs, QueryParams, Result, UndocumentedJson};
use cairn_store::{Damage, Mail};
use cairn_wire::Timestamp;
use cairn_wire::account::Quota;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The clock is not put beyond 9000-01-01: times that lie decades after it still have four digits.
const LATEST_MS: i64 = 221_845_392_000_000;

pub(crate) fn routes(dev: &Arc<Dev>) -> Router<AppState> {
    Router::new()
        .route(
            "/_dev/faults",
            get(list_faults).post(add_fault).delete(clear_faults),
        )
        .route("/_dev/faults/{id}", delete(remove_fault))
        .route("/_dev/requests", get(list_requests).delete(clear_requests))
        .route("/_dev/mail", get(list_mail))
        .route("/_dev/clock", get(clock))
        .route("/_dev/clock/advance", post(advance))
        .route("/_dev/accounts", post(accounts::add))
        .route("/_dev/quota", post(set_quota))
        .route("/_dev/damage", post(damage_object))
        .route("/_dev/reset", post(reset))
        .merge(console::routes())
        .layer(Extension(dev.clone()))
        .layer(from_fn(guard::guard))
}

#[derive(Serialize)]
struct FaultList {
    faults: Vec<Rule>,
}

async fn list_faults(Extension(dev): Extension<Arc<Dev>>) -> Json<FaultList> {
    Json(FaultList {
        faults: dev.faults.list(),
    })
}

async fn add_fault(
    State(app): State<AppState>,
    Extension(dev): Extension<Arc<Dev>>,
    UndocumentedJson(fault): UndocumentedJson<Fault>,
) -> Result<(StatusCode, Json<Rule>)> {
    let account = match &fault.account {
        Some(email) => Some(app.store.account_by_email(email)?.id),
        None => None,
    };
    Ok((StatusCode::CREATED, Json(dev.faults.add(fault, account)?)))
}

async fn clear_faults(Extension(dev): Extension<Arc<Dev>>) -> StatusCode {
    dev.faults.clear();
    StatusCode::NO_CONTENT
}

async fn remove_fault(
    Extension(dev): Extension<Arc<Dev>>,
    PathArgs(id): PathArgs<u64>,
) -> Result<StatusCode> {
    if dev.faults.remove(id) {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Error::not_found(format!("there is no fault rule {id}")))
    }
}

async fn list_requests(
    Extension(dev): Extension<Arc<Dev>>,
    QueryParams(filter): QueryParams<Filter>,
) -> Json<Recorded> {
    Json(dev.recording.list(&filter))
}

async fn clear_requests(Extension(dev): Extension<Arc<Dev>>) -> StatusCode {
    dev.recording.clear();
    StatusCode::NO_CONTENT
}

#[derive(Serialize)]
struct Outbox {
    mails: Vec<Mail>,
}

async fn list_mail(State(app): State<AppState>) -> Result<Json<Outbox>> {
    Ok(Json(Outbox {
        mails: app.store.mails()?,
    }))
}

#[derive(Serialize)]
struct Now {
    now: Timestamp,
    now_ms: i64,
}

async fn clock(State(app): State<AppState>) -> Json<Now> {
    let now_ms = app.source.now_ms();
    Json(Now {
        now: Timestamp(now_ms),
        now_ms,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advance {
    ms: u64,
}

async fn advance(
    State(app): State<AppState>,
    UndocumentedJson(by): UndocumentedJson<Advance>,
) -> Result<Json<Now>> {
    let now = app.source.now_ms();
    if i64::try_from(by.ms).map_or(true, |ms| now.saturating_add(ms) > LATEST_MS) {
        return Err(Error::invalid(
            "`ms` leads beyond the year 9000; `/_dev/reset` goes back to the machine's time",
        ));
    }
    app.source.advance(by.ms);
    app.housekeep().await?;
    app.store.outbox().wake();
    app.store.mail_queue().wake();
    Ok(clock(State(app)).await)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetQuota {
    email: String,
    /// Bytes.
    storage_limit: Option<u64>,
    /// Bytes in a month.
    bandwidth_limit: Option<u64>,
}

async fn set_quota(
    State(app): State<AppState>,
    UndocumentedJson(quota): UndocumentedJson<SetQuota>,
) -> Result<Json<Quota>> {
    if quota.storage_limit.is_none() && quota.bandwidth_limit.is_none() {
        return Err(Error::invalid(
            "name `storage_limit`, `bandwidth_limit`, or both",
        ));
    }
    let account = app.store.account_by_email(&quota.email)?.id;
    app.store
        .set_limits(account, quota.storage_limit, quota.bandwidth_limit)?;
    Ok(Json(app.store.quota(account)?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DamageObject {
    /// The place of the object among all, in the order of their names, counted round.
    #[serde(default)]
    number: usize,
    damage: Damage,
}

#[derive(Serialize)]
struct Damaged {
    object: String,
}

/// Damages a stored object, as a disk does.
async fn damage_object(
    State(app): State<AppState>,
    UndocumentedJson(wanted): UndocumentedJson<DamageObject>,
) -> Result<Json<Damaged>> {
    let damaged = app.damage_object(wanted.number, wanted.damage).await?;
    let object = damaged.ok_or_else(|| Error::not_found("there are no stored objects"))?;
    Ok(Json(Damaged { object }))
}

/// Makes everything as after the first start: new accounts, new history, no faults, no recording.
async fn reset(
    State(app): State<AppState>,
    Extension(dev): Extension<Arc<Dev>>,
) -> Result<StatusCode> {
    app.reset().await?;
    seed::seed(&app)?;
    dev.faults.clear();
    dev.recording.clear();
    Ok(StatusCode::NO_CONTENT)
}
