//! The visitors of a link: its access log, audit and health.

use crate::auth::Caller;
use crate::error::Result;
use crate::http::address::Address;
use crate::http::day::day_or_time;
use crate::http::extract::{PathArgs, QueryParams};
use crate::http::page::Window;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cairn_model::size::binary;
use cairn_store::{Span, VisitSums};
use cairn_wire::Page;
use cairn_wire::page::PageQuery;
use cairn_wire::shares::{
    AccessEntry, Audit, AuditEntry, AuditQuery, AuditSummary, ShareCondition, ShareHealth,
    ShareIssue,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(log))
        .routes(routes!(audit))
        .routes(routes!(health))
}

/// The visits of a link, the newest first; addresses are masked.
#[utoipa::path(
    get, path = "/api/v1/shares/{id}/access-log", tag = "shares",
    params(("id" = String, Path, description = "Id or short code"), PageQuery),
    responses(
        (status = 200, description = "One page", body = Page<AccessEntry>),
        (status = 404, description = "There is no such link")
    )
)]
async fn log(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<String>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<AccessEntry>>> {
    let window = Window::from_zero(query.page, query.page_size)?;
    let share = app.store.share(caller.account, &id)?;
    let found = app
        .store
        .visits(&share, Span::default(), window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}

/// The visits of a span of time, with what they come to.
#[utoipa::path(
    get, path = "/api/v1/shares/{id}/audit", tag = "shares",
    params(("id" = String, Path, description = "Id or short code"), AuditQuery),
    responses(
        (status = 200, description = "The visits and their summary", body = Audit),
        (status = 400, description = "A time is none"),
        (status = 404, description = "There is no such link")
    )
)]
async fn audit(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<String>,
    QueryParams(query): QueryParams<AuditQuery>,
) -> Result<Json<Audit>> {
    let window = Window::from_zero(query.page, query.page_size)?;
    let share = app.store.share(caller.account, &id)?;
    let span = Span {
        from: day_or_time("date_from", query.date_from.as_deref(), false)?,
        to: day_or_time("date_to", query.date_to.as_deref(), true)?,
    };
    let (entries, total) = app
        .store
        .visits(&share, span, window.skip(), window.take())?;
    let summary = if query.include_summary.unwrap_or(true) {
        Some(summary(app.store.visit_sums(&share, span)?))
    } else {
        None
    };
    let entries = entries
        .into_iter()
        .map(|entry| AuditEntry {
            bytes_formatted: binary(entry.bytes_served),
            entry,
        })
        .collect();
    Ok(Json(Audit {
        page: window.envelope((entries, total)),
        summary,
    }))
}

fn summary(sums: VisitSums) -> AuditSummary {
    AuditSummary {
        total_accesses: sums.accesses,
        total_downloads: sums.downloads,
        total_denied: sums.denied,
        unique_visitors_by_email: sums.emails,
        unique_visitors_by_ip: sums.addresses,
        total_bytes_served: sums.bytes,
        total_bytes_formatted: binary(sums.bytes),
        accesses_by_day: sums.by_day,
    }
}

/// Returns the state of a link: whether it opens and shows something now, and everything that keeps
/// it from that.
#[utoipa::path(
    get, path = "/api/v1/shares/{id}/health", tag = "shares",
    params(("id" = String, Path, description = "Id or short code")),
    responses(
        (status = 200, description = "The link's health", body = ShareHealth),
        (status = 404, description = "There is no such link")
    )
)]
async fn health(
    caller: Caller,
    State(app): State<AppState>,
    Address(base): Address,
    PathArgs(id): PathArgs<String>,
) -> Result<Json<ShareHealth>> {
    let share = app.store.share(caller.account, &id)?;
    let now = app.source.now_ms();
    let mut issues = share.issues(now);
    if app.store.lacks_files(&share)? {
        issues.push(ShareIssue::NoFiles);
    }
    let status = if issues.is_empty() {
        ShareCondition::Healthy
    } else {
        ShareCondition::IssuesFound
    };
    Ok(Json(ShareHealth {
        status,
        issues,
        link: share.show(now, &base),
    }))
}
