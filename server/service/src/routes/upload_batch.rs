//! `POST /uploads/batch`: many small files in one frame (a JSON head, then bytes), one stored object and one
//! transaction.

use super::batch::result;
use super::uploads::{check_announced, same_bytes};
use crate::auth::Caller;
use crate::error::{Error, Result};
use crate::http::body;
use crate::http::extract::parse_strict;
use crate::state::AppState;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use bytes::Bytes;
use cairn_model::{ChunkId, NodeId};
use cairn_store::{
    Actor, BatchItem, ChunkDigest, Compared, Objects, Result as StoreResult, SentChunk, Stored,
};
use cairn_wire::frame;
use cairn_wire::nodes::{Node, NodeResults};
use cairn_wire::transfer::{BATCH_BYTES, BATCH_FILES, BatchFile, MAX_SEALED_CHUNK, UploadBatch};
use std::collections::{HashMap, HashSet};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Head and payload; a single file may exceed the payload's limit by one chunk.
const MAX_FRAME: usize = 4 + frame::MAX_HEAD + BATCH_BYTES + MAX_SEALED_CHUNK;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(upload))
}

/// Finds each file's chunks in the payload. A chunk that a file lists more than once is in the payload as
/// often; its first position is used.
fn layout<'a>(files: &'a [BatchFile], payload: &[Bytes]) -> Result<Vec<BatchItem<'a>>> {
    let size: u64 = payload.iter().map(|piece| piece.len() as u64).sum();
    let mut start = 0;
    let mut items = Vec::with_capacity(files.len());
    for file in files {
        check_announced(&file.create)?;
        let mut seen = HashSet::new();
        let mut chunks = Vec::with_capacity(file.create.chunks.len());
        for chunk in &file.create.chunks {
            if seen.insert(chunk.id) {
                let digest = ChunkDigest::of(&slice(payload, start, chunk.size));
                chunks.push(SentChunk {
                    chunk: *chunk,
                    start,
                    digest,
                });
            }
            start += chunk.size;
        }
        items.push(BatchItem {
            create: &file.create,
            complete: &file.complete,
            chunks,
            compared: None,
        });
    }
    if start != size {
        return Err(Error::invalid(format!(
            "the payload has {size} bytes, and the chunks of all files have {start}"
        )));
    }
    Ok(items)
}

/// Returns the number of chunks in the files that were stored.
fn chunks_of(files: &[BatchFile], results: &[StoreResult<Node>]) -> u64 {
    let stored = files
        .iter()
        .zip(results)
        .filter(|(_, result)| result.is_ok());
    stored
        .map(|(file, _)| file.create.chunks.len() as u64)
        .sum()
}

/// Returns `size` bytes of the payload from `start` on, as parts of its pieces.
fn slice(payload: &[Bytes], start: u64, size: u64) -> Vec<Bytes> {
    let (mut skip, mut left) = (start, size);
    let mut out = Vec::new();
    for piece in payload {
        let length = piece.len() as u64;
        let from = skip.min(length);
        let to = (from + left).min(length);
        skip -= from;
        left -= to - from;
        if from < to {
            let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
            out.push(piece.slice(index(from)..index(to)));
        }
    }
    out
}

/// Compares the chunks that are there already with those that came: in the store, and in files of the
/// batch itself, which will lie in `object`.
async fn compare(
    app: &AppState,
    actor: &Actor,
    items: &mut [BatchItem<'_>],
    payload: &[Bytes],
    object: &str,
) -> Result<()> {
    let present = app.store.present_chunks(actor, items)?;
    let mut first: HashMap<(NodeId, ChunkId), u64> = HashMap::new();
    for item in items {
        let mut compared = Vec::new();
        for SentChunk { chunk, start, .. } in &item.chunks {
            let sent = slice(payload, *start, chunk.size);
            let mut add = |object: &str, same: bool| {
                compared.push(Compared {
                    chunk: chunk.id,
                    object: object.to_owned(),
                    same,
                });
            };
            if let Some(stored) = present.get(&(item.create.node_id, chunk.id))
                && let Some(same) = same_bytes(app, &stored.place, &sent).await?
            {
                add(&stored.place.object, same);
            }
            let earlier = *first
                .entry((item.create.node_id, chunk.id))
                .or_insert(*start);
            if earlier != *start {
                let before = slice(payload, earlier, chunk.size).concat();
                add(object, before == sent.concat());
            }
        }
        item.compared = Some(compared);
    }
    Ok(())
}

/// Stores the files of a batch, whose chunks lie in `object`.
async fn store(
    app: &AppState,
    actor: &Actor,
    items: &mut [BatchItem<'_>],
    payload: &[Bytes],
    object: &str,
) -> Result<Stored> {
    if let Some(stored) = app.store.store_batch(actor, items, object)? {
        return Ok(stored);
    }
    compare(app, actor, items, payload, object).await?;
    let stored = app.store.store_batch(actor, items, object)?;
    stored.ok_or_else(|| Error::internal("chunks of a batch were compared and are not"))
}

/// Uploads up to 256 files; each succeeds or fails alone.
#[utoipa::path(
    post, path = "/api/v1/uploads/batch", tag = "uploads",
    request_body(
        content = UploadBatch, content_type = "application/vnd.cairn.frame",
        description = "A frame: u32 big-endian length of the head, the head as JSON (or one zstd frame of it, with the highest bit of the length set), then the sealed chunks of all files as they stand in their lists"
    ),
    responses(
        (status = 200, description = "One result per file, in order", body = NodeResults),
        (status = 507, description = "This month's bandwidth is used up")
    )
)]
async fn upload(
    caller: Caller,
    State(app): State<AppState>,
    request: Request,
) -> Result<Json<NodeResults>> {
    let body = body::pieces(request, MAX_FRAME).await?;
    let (head, payload) = frame::split(body.parts).map_err(|e| Error::invalid(e.to_string()))?;
    let head: UploadBatch = parse_strict(&head)?;
    let size = payload.iter().map(|piece| piece.len() as u64).sum();
    if head.files.len() > BATCH_FILES {
        return Err(Error::invalid(format!(
            "the batch has {} files; at most {BATCH_FILES} are allowed",
            head.files.len()
        )));
    }
    let mut items = layout(&head.files, &payload)?;
    let unchanged = app.store.results_without_change(caller.space, &items)?;
    let results: Vec<StoreResult<Node>> = if let Some(unchanged) = unchanged {
        unchanged
    } else {
        let object = Objects::fresh_name(&app.source);
        app.bandwidth.admit(&app.store, caller.meter(), size)?;
        // Files without content need no object.
        if size > 0 {
            app.objects.put(&object, payload.clone()).await?;
        }
        let stored = match store(&app, &caller.actor(), &mut items, &payload, &object).await {
            Ok(stored) => stored,
            Err(error) => {
                app.objects.delete(&[object]).await;
                return Err(error);
            }
        };
        if size > 0 {
            app.objects.delete(&stored.garbage).await;
        }
        app.metrics
            .chunks
            .inc_by(chunks_of(&head.files, &stored.results));
        app.bandwidth.add(&app.store, caller.meter(), size)?;
        stored.results
    };
    let results = results
        .into_iter()
        .map(|outcome| {
            result(
                outcome
                    .map(|node| (StatusCode::OK, node))
                    .map_err(Error::from),
            )
        })
        .collect();
    Ok(Json(NodeResults { results }))
}
