//! Reports about people, as administrators read and answer them.

use crate::auth::administrator::Admin;
use crate::error::Result;
use crate::http::extract::{Input, PathArgs, QueryParams};
use crate::http::page::Window;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cairn_wire::Page;
use cairn_wire::admin::{AnswerReport, ReportOverview, ReportsQuery};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(list_reports))
        .routes(routes!(answer_report))
}

/// Lists the reports that users made about others, latest first.
#[utoipa::path(
    get, path = "/api/v1/admin/reports", tag = "admin", params(ReportsQuery),
    responses(
        (status = 200, description = "One page", body = Page<ReportOverview>),
        (status = 403, description = "The caller is not an administrator")
    )
)]
async fn list_reports(
    _: Admin,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<ReportsQuery>,
) -> Result<Json<Page<ReportOverview>>> {
    let window = Window::new(query.page, query.page_size)?;
    let only_open = query.open.unwrap_or(false);
    let found = app
        .store
        .reports_page(only_open, window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}

/// Records the answer to a report. The one who made it gets a notification; the one it is about hears nothing.
#[utoipa::path(
    put, path = "/api/v1/admin/reports/{id}", tag = "admin", request_body = AnswerReport,
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The report with its answer", body = ReportOverview),
        (status = 400, description = "`answer` is longer than 1000 characters"),
        (status = 403, description = "The caller is not an administrator"),
        (status = 404, description = "There is no such report")
    )
)]
async fn answer_report(
    who: Admin,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<Uuid>,
    Input(answer): Input<AnswerReport>,
) -> Result<Json<ReportOverview>> {
    Ok(Json(app.answer_report(who.by(), id, &answer)?))
}
