//! `/retention-rules`: folders whose files go into the trash after a time.

use crate::auth::Caller;
use crate::bounds::{RETENTION_DAYS, RETENTION_NAME};
use crate::error::{Error, Result};
use crate::http::extract::{Input, PathArgs, QueryParams};
use crate::http::page::Window;
use crate::http::text::bounded_text;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cairn_wire::Page;
use cairn_wire::page::PageQuery;
use cairn_wire::retention::{CreateRetentionRule, RetentionRule};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(list, create))
        .routes(routes!(delete))
}

/// Lists the caller's rules, the oldest first. In the space of a team (`X-Space-Id`) these are the rules of its
/// folders: its owner and admins see those of all members, the others their own.
#[utoipa::path(
    get, path = "/api/v1/retention-rules", tag = "retention", params(PageQuery),
    responses((status = 200, description = "One page", body = Page<RetentionRule>))
)]
async fn list(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<RetentionRule>>> {
    let window = Window::new(query.page, query.page_size)?;
    let found = app.store.retention_rules(
        caller.account,
        caller.team.map(|_| caller.space),
        window.skip(),
        window.take(),
    )?;
    Ok(Json(window.envelope(found)))
}

/// Makes a rule: files in the folder and below it go into the trash so many days after their last
/// upload. The rule works as long as the caller could delete the files, and ends when the caller leaves the team.
#[utoipa::path(
    post, path = "/api/v1/retention-rules", tag = "retention", request_body = CreateRetentionRule,
    responses(
        (status = 201, description = "The rule", body = RetentionRule),
        (status = 400, description = "The days or the name are out of range, or it is not a folder"),
        (status = 404, description = "There is no such folder"),
        (status = 409, description = "It is in the trash, or the caller has 1,000 rules")
    )
)]
async fn create(
    caller: Caller,
    State(app): State<AppState>,
    Input(new): Input<CreateRetentionRule>,
) -> Result<(StatusCode, Json<RetentionRule>)> {
    if !(1..=RETENTION_DAYS).contains(&new.delete_after_days) {
        return Err(Error::invalid(format!(
            "`delete_after_days` is {}; it has to be 1 to {RETENTION_DAYS}",
            new.delete_after_days
        )));
    }
    let name = bounded_text("name", &new.name, 1..=RETENTION_NAME)?;
    let new = CreateRetentionRule { name, ..new };
    let rule = app
        .store
        .write(|tx| tx.create_retention_rule(&caller.actor(), &new))?;
    Ok((StatusCode::CREATED, Json(rule)))
}

/// Deletes a rule; what it has put into the trash stays there. The owner and the admins of a team also delete
/// those that others made in its space.
#[utoipa::path(
    delete, path = "/api/v1/retention-rules/{id}", tag = "retention", params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 204, description = "It was deleted"),
        (status = 403, description = "It is somebody else's, and not of a team that the caller administers"),
        (status = 404, description = "There is no such rule")
    )
)]
async fn delete(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<Uuid>,
) -> Result<StatusCode> {
    app.store
        .write(|tx| tx.delete_retention_rule(caller.account, id))?;
    Ok(StatusCode::NO_CONTENT)
}
