//! `/health`: whether the server answers; `/ready`: whether it should be sent requests. Neither needs a
//! token.

use crate::error::{Error, Result};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cairn_wire::Timestamp;
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The time that an object store elsewhere has to answer.
const OBJECTS_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(health))
        .routes(routes!(ready))
}

/// Returns the state of the server and its version.
#[derive(Serialize, ToSchema)]
struct Health {
    /// `ok`
    status: &'static str,
    version: &'static str,
    time: Timestamp,
    /// Id of the change feed's history; another one after a backup was restored.
    #[serde(rename = "epoch")]
    history_id: String,
}

/// The reply of a server that should be sent requests.
#[derive(Serialize, ToSchema)]
struct Ready {
    /// `ready`
    status: &'static str,
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
        history_id: app.store.shown_history_id()?,
    }))
}

/// Returns the error of a part that can't do its work; the cause goes to the log.
fn unavailable_error<E: std::fmt::Display>(message: &'static str) -> impl FnOnce(E) -> Error {
    move |error| {
        tracing::error!(%error, "not ready: {message}");
        Error::Unavailable(message.to_owned())
    }
}

/// Responds if requests should come here: the database has this version's schema and takes writes, the
/// data directory can be written, objects can be reached, and the server is not about to end.
#[utoipa::path(
    get, path = "/api/v1/ready", tag = "health", security(()),
    responses(
        (status = 200, description = "Requests can come", body = Ready),
        (status = 503, description = "Requests should go elsewhere or come later; the message says why")
    )
)]
async fn ready(State(app): State<AppState>) -> Result<Json<Ready>> {
    if *app.closing.borrow() {
        return Err(Error::Unavailable("the server is about to end".to_owned()));
    }
    app.store.check_writable().map_err(unavailable_error(
        "the database can't be written, or has another version's schema",
    ))?;
    app.objects
        .check_folder()
        .map_err(unavailable_error("the data directory can't be written"))?;
    let objects = tokio::time::timeout(OBJECTS_TIMEOUT, app.objects.check_store()).await;
    let unreachable = "the object store can't be reached";
    objects
        .map_err(unavailable_error(unreachable))?
        .map_err(unavailable_error(unreachable))?;
    Ok(Json(Ready { status: "ready" }))
}
