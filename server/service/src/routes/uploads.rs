//! Resumable uploads: announce a file, put its chunks (encrypted pieces) in any order, complete.

mod announced;

pub(crate) use announced::check_announced;

use super::node_response;
use crate::auth::Caller;
use crate::error::{Error, Result};
use crate::http::address::Address;
use crate::http::body;
use crate::http::extract::{Input, MAX_LIST, PathArgs};
use crate::state::AppState;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use cairn_model::{ChunkId, UploadId};
use cairn_store::{ChunkDigest, ChunkPlace, Objects, OpenUpload, StoredChunk, Tx};
use cairn_wire::Timestamp;
use cairn_wire::nodes::Node;
use cairn_wire::transfer::{CompleteUpload, CreateUpload, MAX_SEALED_CHUNK, SealedChunk, Upload};
use std::collections::HashSet;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Attempts to store a chunk that others send at the same time.
const TRIES: usize = 10;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(begin))
        .routes(routes!(get, give_up))
        .routes(routes!(put_chunk))
        .routes(routes!(complete))
}

/// Returns the address that chunks go to.
fn chunk_url(app: &AppState, parts: &Parts) -> String {
    format!("{}/api/v1", Address::of(app, parts).0)
}

fn describe(app: &AppState, parts: &Parts, upload: &OpenUpload, missing: Vec<ChunkId>) -> Upload {
    Upload {
        upload_id: upload.id,
        node_id: upload.create.node_id,
        revision_id: upload.create.revision_id,
        missing,
        chunk_url: chunk_url(app, parts),
        expires_at: Timestamp(upload.expires_at),
    }
}

/// Returns the bytes of the missing chunks. One that stands in the file more than once is sent once.
fn bytes_of(create: &CreateUpload, missing: &[ChunkId]) -> u64 {
    let mut needed: HashSet<&ChunkId> = missing.iter().collect();
    let chunks = create.chunks.iter();
    chunks
        .filter(|chunk| needed.remove(&chunk.id))
        .map(|chunk| chunk.size)
        .sum()
}

/// Begins an upload, or finds the one that the same request began.
#[utoipa::path(
    post, path = "/api/v1/uploads", tag = "uploads", request_body = CreateUpload,
    responses(
        (status = 201, description = "The upload and the chunks that it needs", body = Upload),
        (status = 409, description = "The base is not the head (`ETag`), or the name is taken"),
        (status = 507, description = "The file does not fit, or this month's bandwidth is used up")
    )
)]
async fn begin(
    caller: Caller,
    State(app): State<AppState>,
    parts: Parts,
    Input(create): Input<CreateUpload, MAX_LIST>,
) -> Result<(StatusCode, Json<Upload>)> {
    if create.copy_of.is_some() {
        return Err(Error::invalid(
            "`copy_of` is for files of a batch (POST /api/v1/uploads/batch)",
        ));
    }
    check_announced(&create)?;
    app.housekeep_if_due().await?;
    // What the month's bandwidth refuses is not begun: it would keep its room for a week.
    let (upload, missing) = app.store.write(|tx| {
        let (upload, missing) = tx.begin_upload(&caller.actor(), &create)?;
        let bytes = bytes_of(&create, &missing);
        app.bandwidth.admit_in(tx, caller.meter(), bytes)?;
        Ok((upload, missing))
    })?;
    Ok((
        StatusCode::CREATED,
        Json(describe(&app, &parts, &upload, missing)),
    ))
}

/// Returns which chunks an upload still needs.
#[utoipa::path(
    get, path = "/api/v1/uploads/{id}", tag = "uploads", params(("id" = String, Path, format = Uuid)),
    responses((status = 200, description = "The upload", body = Upload))
)]
async fn get(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<UploadId>,
    parts: Parts,
) -> Result<Json<Upload>> {
    let upload = app.store.upload(caller.account, id)?;
    let missing = app.store.missing_chunks(&upload)?;
    Ok(Json(describe(&app, &parts, &upload, missing)))
}

/// Gives an upload up.
#[utoipa::path(
    delete, path = "/api/v1/uploads/{id}", tag = "uploads", params(("id" = String, Path, format = Uuid)),
    responses((status = 204, description = "It was deleted"))
)]
async fn give_up(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<UploadId>,
) -> Result<StatusCode> {
    app.uploads.forget(id);
    let garbage = app.store.write(|tx| tx.delete_upload(caller.account, id))?;
    app.objects.delete(&garbage).await;
    Ok(StatusCode::NO_CONTENT)
}

/// Puts one sealed chunk; doing it twice is doing it once. Until a revision uses it, other bytes
/// replace those that came first, so that what arrived damaged can be repaired; not those that the
/// upload of another member of the team needs.
#[utoipa::path(
    put, path = "/api/v1/uploads/{id}/chunks/{chunk}", tag = "uploads",
    params(
        ("id" = String, Path, format = Uuid), ("chunk" = String, Path, description = "64 hexadecimal digits"),
        ("Content-Digest" = Option<String>, Header, description = "`sha-256=:BASE64:` or `sha-512=:BASE64:` (RFC 9530), or `blake3` in their place")
    ),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses(
        (status = 204, description = "The chunk is stored"),
        (status = 400, description = "The bytes are not what was announced"),
        (status = 409, description = "A revision, or an upload of another member, uses other bytes for this chunk"),
        (status = 507, description = "This month's bandwidth or the storage is used up")
    )
)]
async fn put_chunk(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs((id, chunk)): PathArgs<(UploadId, ChunkId)>,
    request: Request,
) -> Result<Response> {
    let upload = app.uploads.get(&app.store, caller.account, id)?;
    upload.check_space(caller.space)?;
    let size = *upload.sizes.get(&chunk).ok_or_else(|| {
        Error::not_found(format!(
            "the upload {id} did not announce the chunk {chunk}"
        ))
    })?;
    let pieces = body::pieces(request, MAX_SEALED_CHUNK).await?;
    if pieces.length as u64 != size {
        return Err(Error::invalid(format!(
            "the chunk {chunk} has {} bytes, and {size} were announced",
            pieces.length
        )));
    }
    let node = upload.create.node_id;
    let sealed = SealedChunk { id: chunk, size };
    let digest = match pieces.blake3 {
        Some(hash) => ChunkDigest::of_hash(hash),
        None => ChunkDigest::of(&pieces.parts),
    };
    for _ in 0..TRIES {
        let known = app.store.stored_chunk(node, chunk, caller.account)?;
        if let Some(known) = &known {
            match next_step(&app, &upload, known, (digest, &pieces.parts)).await? {
                NextStep::Done => return Ok(StatusCode::NO_CONTENT.into_response()),
                NextStep::LookAgain => continue,
                NextStep::Store => {}
            }
        }
        app.bandwidth.admit(&app.store, caller.meter(), size)?;
        let sent = (sealed, digest, pieces.parts.as_slice());
        if store_chunk(&app, &upload, sent, known.as_ref()).await? {
            app.metrics.chunks.inc();
            app.bandwidth.add(&app.store, caller.meter(), size)?;
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
    }
    Err(Error::conflict(format!(
        "others are sending the chunk {chunk} at the same time; send it again"
    )))
}

/// The way on with a chunk that came and that is there already.
enum NextStep {
    Done,
    /// Others have changed it meanwhile.
    LookAgain,
    Store,
}

/// Compares a chunk that came with the one that is there.
///
/// # Errors
/// 409 for other bytes than something needs.
async fn next_step(
    app: &AppState,
    upload: &OpenUpload,
    known: &StoredChunk,
    (digest, parts): (ChunkDigest, &[Bytes]),
) -> Result<NextStep> {
    match same_bytes(app, &known.place, parts).await? {
        Some(true) if known.is_confirmed() => {
            let place = &known.place;
            if app.store.is_noted_damaged(std::slice::from_ref(place))? {
                app.store.note_sound(&[(place, digest)])?;
            }
            Ok(NextStep::Done)
        }
        Some(true) => {
            let node = upload.create.node_id;
            let confirm = |tx: &Tx<'_>| tx.confirm_chunk(node, upload.account, known);
            Ok(match app.store.write(confirm)? {
                true => NextStep::Done,
                false => NextStep::LookAgain,
            })
        }
        // The bytes that were stored are damaged or gone, and these are they.
        Some(false) | None if known.place.digest == Some(digest) => Ok(NextStep::Store),
        Some(false) => known
            .refusal()
            .map_or(Ok(NextStep::Store), |error| Err(error.into())),
        None => Ok(NextStep::LookAgain),
    }
}

/// Compares the bytes that came with those that lie there; `None` if there are fewer, or none.
pub(crate) async fn same_bytes(
    app: &AppState,
    place: &ChunkPlace,
    parts: &[Bytes],
) -> Result<Option<bool>> {
    let Some(stored) = app.objects.get_if_whole(&place.extent()).await? else {
        return Ok(None);
    };
    let mut rest = &stored[..];
    for part in parts {
        match rest.strip_prefix(&part[..]) {
            Some(later) => rest = later,
            None => return Ok(Some(false)),
        }
    }
    Ok(Some(rest.is_empty()))
}

/// Writes a chunk before the database knows of it, and deletes what nothing refers to then. Returns
/// false if another request has stored the chunk meanwhile.
async fn store_chunk(
    app: &AppState,
    upload: &OpenUpload,
    (chunk, digest, parts): (SealedChunk, ChunkDigest, &[Bytes]),
    replaces: Option<&StoredChunk>,
) -> Result<bool> {
    let object = Objects::fresh_name(&app.source);
    app.objects.put(&object, parts.to_vec()).await?;
    let replaces = replaces.map(|known| known.place.object.as_str());
    // It may have been given up while the bytes were on their way.
    let stored = app
        .store
        .write(|tx| tx.add_chunk(upload, (&chunk, digest), &object, replaces));
    if let Ok(Some(garbage)) = &stored {
        app.objects.delete(garbage).await;
    } else {
        app.objects.delete(&[object]).await;
    }
    Ok(stored?.is_some())
}

/// Makes the content a revision; repeating it returns the same.
#[utoipa::path(
    post, path = "/api/v1/uploads/{id}/complete", tag = "uploads", request_body = CompleteUpload,
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, description = "The node with its new revision", body = Node),
        (status = 400, description = "Chunks are missing, or only others have sent them"),
        (status = 409, description = "The base is not the head (`ETag`), or the name is taken"),
        (status = 412, description = "The node has another version (`ETag`) than `base_version`"),
        (status = 507, description = "The file does not fit")
    )
)]
async fn complete(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<UploadId>,
    Input(complete): Input<CompleteUpload, MAX_LIST>,
) -> Result<Response> {
    let node = app.store.write(|tx| {
        let upload = tx.upload(caller.account, id)?;
        tx.complete_upload(&caller.actor(), &upload, &complete)
    })?;
    app.uploads.forget(id);
    Ok(node_response(StatusCode::OK, node))
}
