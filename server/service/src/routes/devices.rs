//! `/devices`: the caller's installations: named, listed, removed.

use crate::auth::Caller;
use crate::bounds::CREDENTIAL_NAME;
use crate::error::{Error, Result};
use crate::http::extract::{Input, PathArgs, QueryParams};
use crate::http::page::Window;
use crate::http::text::bounded_text;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cairn_model::DeviceId;
use cairn_wire::Page;
use cairn_wire::account::{Device, KnownDevice, RemovedDevice};
use cairn_wire::page::PageQuery;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(list))
        .routes(routes!(put, remove))
}

/// Lists the caller's devices, oldest first.
#[utoipa::path(
    get, path = "/api/v1/devices", tag = "devices", params(PageQuery),
    responses((status = 200, description = "One page", body = Page<KnownDevice>))
)]
async fn list(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<KnownDevice>>> {
    let window = Window::new(query.page, query.page_size)?;
    let found = app
        .store
        .devices(caller.account, window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}

/// Registers a device, or renames it.
#[utoipa::path(
    put, path = "/api/v1/devices/{id}", tag = "devices", request_body = Device,
    params(("id" = String, Path, format = Uuid)),
    responses((status = 200, description = "The device", body = Device))
)]
async fn put(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<DeviceId>,
    Input(device): Input<Device>,
) -> Result<Json<Device>> {
    if device.id != id {
        return Err(Error::invalid("`id` is not the one in the path"));
    }
    let name = bounded_text("name", &device.name, 1..=CREDENTIAL_NAME)?;
    let device = Device { id, name };
    app.store.put_device(caller.account, &device)?;
    // It may have been seen before there was anything to note that at.
    app.seen.forget(caller.account, id);
    Ok(Json(device))
}

/// Removes a device: its logins end at once. An API key that it uses stays valid, and a device that
/// goes on with one is listed again.
#[utoipa::path(
    delete, path = "/api/v1/devices/{id}", tag = "devices",
    params(("id" = String, Path, format = Uuid)),
    responses((status = 200, description = "It is removed", body = RemovedDevice))
)]
async fn remove(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<DeviceId>,
) -> Result<Json<RemovedDevice>> {
    let logins = app.store.remove_device(caller.account, id)?;
    for login in &logins {
        app.tokens.end(*login, app.source.now_ms());
    }
    app.seen.forget(caller.account, id);
    Ok(Json(RemovedDevice {
        logins_ended: logins.len() as u64,
    }))
}
