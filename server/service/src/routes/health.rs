//! `/health`: whether the server can do its work; needs no token.

use crate::error::Result;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cairn_wire::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(health))
}

/// That the server answers, and what it is.
#[derive(Serialize, ToSchema)]
struct Health {
    /// `ok`
    status: &'static str,
    version: &'static str,
    time: Timestamp,
    /// The change feed's epoch.
    epoch: String,
}

/// Responds once the database does.
#[utoipa::path(
    get, path = "/api/v1/health", tag = "health", security(()),
    responses((status = 200, description = "The server works", body = Health))
)]
async fn health(State(app): State<AppState>) -> Result<Json<Health>> {
    app.store.check()?;
    Ok(Json(Health {
        status: "ok",
        version: env!("CARGO_PKG_VERSION"),
        time: Timestamp(app.source.now_ms()),
        epoch: app.store.history_id(),
    }))
}
