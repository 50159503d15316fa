//! Objects (encrypted blobs, such as chunks of files) that commits of a signed log refer to.

use super::{binary, in_space};
use crate::auth::Caller;
use crate::error::{Error, Result};
use crate::http::body;
use crate::http::extract::{PathArgs, QueryParams};
use crate::state::AppState;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use bytes::Bytes;
use cairn_log::{MAX_OBJECT, ObjectId};
use cairn_model::SpaceId;
use cairn_store::{NewSpaceObject, Objects, SpaceObject};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(put, has, get))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ObjectQuery {
    /// SHA-256 of its bytes, 64 hexadecimal digits.
    #[param(pattern = "^[0-9a-fA-F]{64}$")]
    sha256: String,
}

fn hash(text: &str, name: &str) -> Result<[u8; 32]> {
    let mut hash = [0; 32];
    hex::decode_to_slice(text, &mut hash)
        .map_err(|_| Error::invalid(format!("`{name}` has to be 64 hexadecimal digits")))?;
    Ok(hash)
}

fn object(id: &str) -> Result<ObjectId> {
    let not_found = |_| Error::not_found(format!("there is no object {id}"));
    hash(id, "object").map(ObjectId).map_err(not_found)
}

/// Returns the hash of a body.
fn hash_of(parts: &[Bytes]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().into()
}

/// Stores a sealed object, which is its sender's until a commit names it. Storing the same bytes twice is
/// storing them once; if the server's own are damaged, those that came take their place, whoever sends them.
#[utoipa::path(
    put, path = "/api/v1/spaces/{id}/objects/{object}", tag = "spaces",
    params(
        ("id" = String, Path, format = Uuid), ("object" = String, Path, description = "64 hexadecimal digits"),
        ObjectQuery
    ),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses(
        (status = 204, description = "The object is stored"),
        (status = 400, description = "The bytes have another SHA-256"),
        (status = 409, description = "The object is there with other bytes, which a commit has named"),
        (status = 413, description = "It has more than 5 MiB"),
        (status = 507, description = "This month's bandwidth or the storage is used up")
    )
)]
async fn put(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs((id, name)): PathArgs<(SpaceId, String)>,
    QueryParams(query): QueryParams<ObjectQuery>,
    request: Request,
) -> Result<StatusCode> {
    let caller = in_space(caller, &app, id)?;
    let (object, sha256) = (object(&name)?, hash(&query.sha256, "sha256")?);
    let pieces = body::pieces(request, MAX_OBJECT).await?;
    if hash_of(&pieces.parts) != sha256 {
        return Err(Error::invalid(
            "the body has another SHA-256 than `sha256` says; send it again",
        ));
    }
    let known = app
        .store
        .space_object_like(&caller.actor(), object, sha256)?;
    if let Some(known) = &known
        && is_whole(&app, known).await?
    {
        return Ok(StatusCode::NO_CONTENT);
    }
    let size = pieces.length as u64;
    app.bandwidth.admit(&app.store, caller.meter(), size)?;
    // Bytes before rows, and on the disk before a commit can name them.
    let file = Objects::fresh_name(&app.source);
    app.objects.put(&file, pieces.parts).await?;
    app.objects.persist(&file).await?;
    let new = NewSpaceObject {
        id: object,
        sha256,
        size,
        file: &file,
        heals: known.as_ref().map(|known| known.file.as_str()),
    };
    match app.store.add_space_object(&caller.actor(), &new) {
        Ok(garbage) => app.objects.delete(&garbage).await,
        Err(error) => {
            app.objects.delete(&[file]).await;
            return Err(error.into());
        }
    };
    app.bandwidth.add(&app.store, caller.meter(), size)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Reads what is stored of an object, and notes what it found. Returns true if it is whole.
async fn is_whole(app: &AppState, known: &SpaceObject) -> Result<bool> {
    let bytes = app
        .objects
        .get_whole(&known.file, known.size, &known.sha256)
        .await?;
    let is_damaged = bytes.is_none();
    if is_damaged != known.is_damaged {
        app.store.note_space_object(&known.file, is_damaged)?;
    }
    Ok(!is_damaged)
}

/// Asks whether an object with these bytes is there, so that it need not be sent: one that a commit names,
/// or the caller's own. One that was found damaged isn't there.
#[utoipa::path(
    head, path = "/api/v1/spaces/{id}/objects/{object}", tag = "spaces",
    params(
        ("id" = String, Path, format = Uuid), ("object" = String, Path, description = "64 hexadecimal digits"),
        ObjectQuery
    ),
    responses(
        (status = 204, description = "It is there"),
        (status = 404, description = "It isn't there with these bytes")
    )
)]
async fn has(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs((id, name)): PathArgs<(SpaceId, String)>,
    QueryParams(query): QueryParams<ObjectQuery>,
) -> Result<StatusCode> {
    let caller = in_space(caller, &app, id)?;
    let (object, sha256) = (object(&name)?, hash(&query.sha256, "sha256")?);
    let known = app
        .store
        .space_object_like(&caller.actor(), object, sha256)?;
    if known.is_some_and(|known| !known.is_damaged) {
        return Ok(StatusCode::NO_CONTENT);
    }
    Err(Error::not_found(format!(
        "there is no object {object} with these bytes"
    )))
}

/// An object: one that a commit names, or the caller's own.
#[utoipa::path(
    get, path = "/api/v1/spaces/{id}/objects/{object}", tag = "spaces",
    params(
        ("id" = String, Path, format = Uuid), ("object" = String, Path, description = "64 hexadecimal digits")
    ),
    responses(
        (status = 200, description = "The sealed bytes", body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 404, description = "There is no such object"),
        (status = 410, description = "Its bytes are damaged here; who has them can PUT them again"),
        (status = 507, description = "This month's bandwidth is used up")
    )
)]
async fn get(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs((id, name)): PathArgs<(SpaceId, String)>,
) -> Result<Response> {
    let caller = in_space(caller, &app, id)?;
    let found = app.store.space_object(&caller.actor(), object(&name)?)?;
    app.bandwidth
        .admit(&app.store, caller.meter(), found.size)?;
    let bytes = app
        .objects
        .get_whole(&found.file, found.size, &found.sha256)
        .await?;
    let Some(bytes) = bytes else {
        app.store.note_space_object(&found.file, true)?;
        return Err(Error::gone(format!(
            "the object {name} is damaged on this server; a device that has it can send it again"
        )));
    };
    app.bandwidth.add(&app.store, caller.meter(), found.size)?;
    Ok(binary(StatusCode::OK, bytes.to_vec()))
}
