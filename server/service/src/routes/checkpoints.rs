//! `/checkpoints`: what devices say to one another about the state of their space, so that each can tell whether this
//! server shows it the same as the others. It can't read them.

use crate::auth::Caller;
use crate::error::{Error, Result};
use crate::http::extract::Input;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cairn_wire::checkpoints::{Checkpoints, DeviceCheckpoint, MAX_CHECKPOINT, PutCheckpoint};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(list, put))
}

/// Lists the latest checkpoint of each device in the space, the latest first.
#[utoipa::path(
    get, path = "/api/v1/checkpoints", tag = "changes",
    responses((status = 200, description = "The checkpoints", body = Checkpoints))
)]
async fn list(caller: Caller, State(app): State<AppState>) -> Result<Json<Checkpoints>> {
    Ok(Json(app.store.checkpoints(caller.space)?))
}

/// Replaces the checkpoint of the device that `X-Device-Id` names in the space.
#[utoipa::path(
    put, path = "/api/v1/checkpoints", tag = "changes", request_body = PutCheckpoint,
    responses(
        (status = 200, description = "The checkpoint", body = DeviceCheckpoint),
        (status = 400, description = "No `X-Device-Id`, or a checkpoint that is empty or longer than 1,024 bytes"),
        (status = 404, description = "The device is not registered")
    )
)]
async fn put(
    caller: Caller,
    State(app): State<AppState>,
    Input(checkpoint): Input<PutCheckpoint>,
) -> Result<Json<DeviceCheckpoint>> {
    let device = caller
        .device
        .ok_or_else(|| Error::invalid("`X-Device-Id` has to name the device"))?;
    let sealed = checkpoint.sealed;
    if sealed.0.is_empty() || sealed.0.len() > MAX_CHECKPOINT {
        return Err(Error::invalid(
            "`sealed` has to have 1 to 1,024 bytes, in base64",
        ));
    }
    let (space, account) = (caller.space, caller.account);
    Ok(Json(
        app.store.put_checkpoint(space, account, device, sealed)?,
    ))
}
