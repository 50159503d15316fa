//! `/devices`: the names of the caller's installations.

use crate::auth::Caller;
use crate::error::{Error, Result};
use crate::http::extract::{Args, Input, Params};
use crate::http::page::Window;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cairn_model::DeviceId;
use cairn_wire::Page;
use cairn_wire::account::Device;
use cairn_wire::page::PageQuery;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

const MAX_NAME: usize = 100;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(list))
        .routes(routes!(put))
}

/// Lists the caller's devices, oldest first.
#[utoipa::path(
    get, path = "/api/v1/devices", tag = "devices", params(PageQuery),
    responses((status = 200, description = "One page", body = Page<Device>))
)]
async fn list(
    caller: Caller,
    State(app): State<AppState>,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<Device>>> {
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
    Args(id): Args<DeviceId>,
    Input(device): Input<Device>,
) -> Result<Json<Device>> {
    if device.id != id {
        return Err(Error::invalid("`id` is not the one in the path"));
    }
    let name = device.name.trim();
    if name.is_empty() || name.chars().count() > MAX_NAME {
        return Err(Error::invalid(format!(
            "`name` has to have 1 to {MAX_NAME} characters"
        )));
    }
    let device = Device {
        id,
        name: name.to_owned(),
    };
    app.store.put_device(caller.account, &device)?;
    Ok(Json(device))
}
