//! `/_dev`, only with `--dev`: fault rules, recorded requests, the clock, accounts and quotas, a
//! fresh start, and the console that shows them.
//!
//! Nothing here asks for a token: a server with `--dev` is for development alone.

mod accounts;
mod console;
pub(crate) mod faults;
mod lies;
mod patch;
pub(crate) mod recording;

use crate::app::Shared;
use crate::error::{Error, Result};
use crate::http::extract::{Args, Input, Params};
use crate::store::Mail;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use cairn_wire::Timestamp;
use cairn_wire::account::Quota;
use faults::{Fault, Faults, Rule};
use recording::{Filter, Recorded, Recording};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The clock is not put beyond 9000-01-01: times that lie decades after it still have four digits.
const LATEST_MS: i64 = 221_845_392_000_000;

/// The name of the API keys that development accounts begin with.
pub(crate) const DEV_KEY_NAME: &str = "development";

/// What a development server keeps besides its store.
#[derive(Default)]
pub(crate) struct Dev {
    pub(crate) faults: Faults,
    pub(crate) recording: Recording,
}

pub(crate) fn routes() -> Router<Shared> {
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
        .route("/_dev/reset", post(reset))
        .merge(console::routes())
}

fn dev(app: &Shared) -> Result<&Dev> {
    app.dev
        .as_ref()
        .ok_or_else(|| Error::not_found("this server runs without --dev"))
}

#[derive(Serialize)]
struct FaultList {
    faults: Vec<Rule>,
}

async fn list_faults(State(app): State<Shared>) -> Result<Json<FaultList>> {
    Ok(Json(FaultList {
        faults: dev(&app)?.faults.list(),
    }))
}

async fn add_fault(
    State(app): State<Shared>,
    Input(fault): Input<Fault>,
) -> Result<(StatusCode, Json<Rule>)> {
    let account = match &fault.account {
        Some(email) => Some(app.store.account_by_email(email)?.id),
        None => None,
    };
    Ok((
        StatusCode::CREATED,
        Json(dev(&app)?.faults.add(fault, account)?),
    ))
}

async fn clear_faults(State(app): State<Shared>) -> Result<StatusCode> {
    dev(&app)?.faults.clear();
    Ok(StatusCode::NO_CONTENT)
}

async fn remove_fault(State(app): State<Shared>, Args(id): Args<u64>) -> Result<StatusCode> {
    if dev(&app)?.faults.remove(id) {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Error::not_found(format!("there is no fault rule {id}")))
    }
}

async fn list_requests(
    State(app): State<Shared>,
    Params(filter): Params<Filter>,
) -> Result<Json<Recorded>> {
    Ok(Json(dev(&app)?.recording.list(&filter)))
}

async fn clear_requests(State(app): State<Shared>) -> Result<StatusCode> {
    dev(&app)?.recording.clear();
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Serialize)]
struct Outbox {
    mails: Vec<Mail>,
}

async fn list_mail(State(app): State<Shared>) -> Result<Json<Outbox>> {
    Ok(Json(Outbox {
        mails: app.store.mails()?,
    }))
}

#[derive(Serialize)]
struct Now {
    now: Timestamp,
    now_ms: i64,
}

async fn clock(State(app): State<Shared>) -> Json<Now> {
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

async fn advance(State(app): State<Shared>, Input(by): Input<Advance>) -> Result<Json<Now>> {
    let now = app.source.now_ms();
    if i64::try_from(by.ms).map_or(true, |ms| now.saturating_add(ms) > LATEST_MS) {
        return Err(Error::invalid(
            "`ms` leads beyond the year 9000; `/_dev/reset` goes back to the machine's time",
        ));
    }
    app.source.advance(by.ms);
    app.housekeep().await?;
    app.store.outbox().wake();
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
    State(app): State<Shared>,
    Input(quota): Input<SetQuota>,
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

/// Everything as after the first start: new accounts, new epoch, no faults, no recording.
async fn reset(State(app): State<Shared>) -> Result<StatusCode> {
    let dev = dev(&app)?;
    app.store.reset()?;
    app.uploads.clear();
    app.answers.clear();
    app.bandwidth.clear();
    app.objects.sweep(&HashSet::new(), i64::MAX).await?;
    app.source.reset_time();
    app.rate.clear();
    app.identity.throttle.clear();
    app.seed()?;
    dev.faults.clear();
    dev.recording.clear();
    Ok(StatusCode::NO_CONTENT)
}
