//! Downloads: one chunk (an encrypted piece of a file) with ranges, or many small files in one frame (a JSON head, then
//! bytes).

use super::changes::limit;
use super::revisions::raise_downloaded;
use crate::auth::Caller;
use crate::error::{Error, Result};
use crate::http::compressed;
use crate::http::extract::{Input, PathArgs, QueryParams, if_none_match};
use crate::state::AppState;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use cairn_model::{ChunkId, NodeId};
use cairn_store::ChunkPlace;
use cairn_wire::frame::{self, HeadForm};
use cairn_wire::transfer::{
    BATCH_BYTES, BATCH_FILES, DamagedChunks, DamagedChunksQuery, DownloadBatch, DownloadFile,
    DownloadedBatch, DownloadedFile, RevisionContent,
};
use serde::Deserialize;
use std::ops::Range;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(chunk))
        .routes(routes!(list_damaged))
        .routes(routes!(batch))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ChunkQuery {
    /// The node that the chunk belongs to.
    #[param(value_type = String, format = Uuid)]
    node: NodeId,
}

/// The one range of a `Range` header; several, or another unit, are ignored as RFC 9110 allows.
fn range(headers: &HeaderMap, size: u64) -> Result<Option<Range<u64>>> {
    let Some(spec) = headers
        .get(header::RANGE)
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.trim().strip_prefix("bytes="))
        .filter(|spec| !spec.contains(','))
    else {
        return Ok(None);
    };
    let Some((first, last)) = spec.trim().split_once('-') else {
        return Ok(None);
    };
    // A number has any number of digits; one that is too large for any file lies beyond its end.
    let number = |text: &str| {
        let text = text.trim();
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<u64>().unwrap_or(u64::MAX))
    };
    let range = match (first.trim(), last.trim()) {
        ("", last) => match number(last) {
            Some(suffix) => size.saturating_sub(suffix)..size,
            None => return Ok(None),
        },
        (first, "") => match number(first) {
            Some(first) => first..size,
            None => return Ok(None),
        },
        (first, last) => match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => first..last.saturating_add(1).min(size),
            _ => return Ok(None),
        },
    };
    if range.start >= size || range.is_empty() {
        return Err(Error::Range { size });
    }
    Ok(Some(range))
}

/// One sealed chunk of any revision of a node.
#[utoipa::path(
    get, path = "/api/v1/chunks/{id}", tag = "downloads",
    params(
        ("id" = String, Path, description = "64 hexadecimal digits"), ChunkQuery,
        ("Range" = Option<String>, Header, description = "`bytes=FIRST-LAST`"),
        ("If-Range" = Option<String>, Header, description = "The `ETag` of the chunk; with another one it comes whole")
    ),
    responses(
        (status = 200, description = "The sealed bytes", body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 304, description = "`If-None-Match` has the chunk's id: it never changes"),
        (status = 206, description = "The range of them", body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 416, description = "The range lies outside the chunk"),
        (status = 507, description = "This month's bandwidth is used up")
    )
)]
async fn chunk(
    caller: Caller,
    State(app): State<AppState>,
    PathArgs(id): PathArgs<ChunkId>,
    QueryParams(query): QueryParams<ChunkQuery>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response> {
    let place = app.store.chunk_place(caller.space, query.node, id)?;
    let tag = format!("\"{id}\"");
    if if_none_match(&headers, &tag) {
        // Before anything is read and counted.
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response());
    }
    // Only a GET asks for a part.
    let range = if method == Method::GET && range_applies(&headers, &tag) {
        range(&headers, place.size)?
    } else {
        None
    };
    if method == Method::HEAD {
        // Nothing is read, and nothing counts.
        app.stored_chunks().check_one(&place).await?;
        let mut response = chunk_response(Body::empty(), &tag);
        let length = HeaderValue::from(place.size);
        response
            .headers_mut()
            .insert(header::CONTENT_LENGTH, length);
        return Ok(response);
    }
    let wanted = range.clone().unwrap_or(0..place.size);
    app.bandwidth
        .admit(&app.store, caller.meter(), wanted.end - wanted.start)?;
    // As a whole, also for a part: of that alone it can't be told whether it is what was stored.
    let whole = app.stored_chunks().read_one(&place).await?;
    let bytes = part_of(&whole, wanted)?;
    app.bandwidth
        .add(&app.store, caller.meter(), bytes.len() as u64)?;
    let mut response = chunk_response(Body::from(bytes), &tag);
    if let Some(range) = range {
        let text = format!("bytes {}-{}/{}", range.start, range.end - 1, place.size);
        if let Ok(text) = HeaderValue::from_str(&text) {
            response.headers_mut().insert(header::CONTENT_RANGE, text);
        }
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    Ok(response)
}

/// Stored chunks of the space's files that are missing, cut short or have other bytes than were sent. A device that has
/// the file heals one by sending it again, with an upload of the same chunks that need not be completed.
#[utoipa::path(
    get, path = "/api/v1/chunks/damaged", tag = "downloads", params(DamagedChunksQuery),
    responses((status = 200, description = "One page", body = DamagedChunks))
)]
async fn list_damaged(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<DamagedChunksQuery>,
) -> Result<Json<DamagedChunks>> {
    let cursor = query.cursor.as_deref();
    Ok(Json(app.store.damaged_chunks(
        caller.space,
        cursor,
        limit(query.limit)?,
    )?))
}

/// Returns a response with the headers of a chunk, whose body may be left out.
fn chunk_response(body: Body, tag: &str) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/octet-stream"),
    );
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if let Ok(tag) = HeaderValue::from_str(tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}

/// Returns a part of a chunk.
fn part_of(whole: &Bytes, part: Range<u64>) -> Result<Bytes> {
    let within = usize::try_from(part.start)
        .ok()
        .zip(usize::try_from(part.end).ok());
    let within = within.filter(|(start, end)| start <= end && *end <= whole.len());
    let (start, end) = within.ok_or(Error::Damaged)?;
    Ok(whole.slice(start..end))
}

/// Returns true if a range may be served: `If-Range` is missing or has this very tag. A date is never a chunk's.
fn range_applies(headers: &HeaderMap, tag: &str) -> bool {
    headers
        .get(header::IF_RANGE)
        .is_none_or(|wanted| wanted.as_bytes() == tag.as_bytes())
}

/// The bytes that a batch has left.
struct Room {
    head: u64,
    payload: u64,
}

impl Room {
    /// Makes room for a file.
    ///
    /// # Errors
    /// 413 if it doesn't fit; then nothing is taken.
    fn take(&mut self, content: &RevisionContent, payload: u64) -> Result<()> {
        let head = json_size(content);
        if head > self.head || payload > self.payload {
            return Err(Error::TooLarge(
                "the file does not fit into this batch; ask for it again, or for its chunks one by one"
                    .into(),
            ));
        }
        self.head -= head;
        self.payload -= payload;
        Ok(())
    }
}

/// Returns at least the number of bytes that a file with status 200 takes in the head of a batch.
fn json_size(content: &RevisionContent) -> u64 {
    // Base64 of the record, 64 digits of an id with its size, and the ids and names around them.
    let record = content.manifest.0.len().div_ceil(3) * 4;
    (512 + record + content.chunks.len() * 128) as u64
}

/// Finds one file of a batch, as long as it fits. Without its content, its objects are not listed either.
fn find(
    app: &AppState,
    caller: &Caller,
    file: DownloadFile,
    with_content: bool,
    room: &mut Room,
) -> Result<(RevisionContent, Vec<ChunkPlace>)> {
    let mut content = app
        .store
        .revision_content(caller.space, file.node_id, file.revision_id)?;
    if !with_content {
        content.chunks.clear();
        room.take(&content, 0)?;
        return Ok((content, Vec::new()));
    }
    let places = app.store.content_places(&content)?;
    room.take(&content, places.iter().map(|place| place.size).sum())?;
    raise_downloaded(app, caller, file.node_id)?;
    Ok((content, places))
}

/// Reads the chunks of the files that were found, in order. A file of which one is damaged fails, and has none.
async fn read_files(
    app: &AppState,
    files: &mut [DownloadedFile],
    places: &[Vec<ChunkPlace>],
) -> Result<Vec<Bytes>> {
    let mut found = app
        .stored_chunks()
        .read(&places.concat())
        .await?
        .into_iter();
    let mut chunks = Vec::new();
    let good = files.iter_mut().filter(|file| file.status == 200);
    for (file, its) in good.zip(places) {
        let whole: Option<Vec<Bytes>> = found
            .by_ref()
            .take(its.len())
            .collect::<Vec<_>>()
            .into_iter()
            .collect();
        if let Some(whole) = whole {
            chunks.extend(whole);
            continue;
        }
        let error = Error::Damaged;
        *file = DownloadedFile {
            status: error.status().as_u16(),
            content: None,
            error: Some(error.body()),
        };
    }
    Ok(chunks)
}

/// Manifests and chunks of up to 256 files; each succeeds or fails alone.
#[utoipa::path(
    post, path = "/api/v1/downloads/batch", tag = "downloads", request_body = DownloadBatch,
    responses(
        (
            status = 200, body = DownloadedBatch, content_type = "application/vnd.cairn.frame",
            description = "A frame: u32 big-endian length of the head, the head as JSON (one zstd frame of it where the highest bit of the length is set: only if the request accepts zstd), then the chunks of the files with status 200, in order"
        ),
        (status = 507, description = "This month's bandwidth is used up")
    )
)]
async fn batch(
    caller: Caller,
    State(app): State<AppState>,
    headers: HeaderMap,
    Input(batch): Input<DownloadBatch>,
) -> Result<Response> {
    if batch.files.len() > BATCH_FILES {
        return Err(Error::invalid(format!(
            "`files` has {} elements; at most {BATCH_FILES} are allowed",
            batch.files.len()
        )));
    }
    // What fails takes less of the head than any file, and 256 of these a hundredth of it.
    let mut room = Room {
        head: (frame::MAX_HEAD - 256 * BATCH_FILES) as u64,
        payload: BATCH_BYTES as u64,
    };
    let mut places: Vec<Vec<ChunkPlace>> = Vec::with_capacity(batch.files.len());
    let mut files = Vec::with_capacity(batch.files.len());
    for file in batch.files {
        files.push(match find(&app, &caller, file, batch.content, &mut room) {
            Ok((content, its)) => {
                places.push(its);
                DownloadedFile {
                    status: 200,
                    content: Some(content),
                    error: None,
                }
            }
            Err(error) if error.is_failure() => return Err(error),
            Err(error) => DownloadedFile {
                status: error.status().as_u16(),
                content: None,
                error: Some(error.body()),
            },
        });
    }
    let size = BATCH_BYTES as u64 - room.payload;
    app.bandwidth.admit(&app.store, caller.meter(), size)?;
    let chunks = read_files(&app, &mut files, &places).await?;
    app.bandwidth.add(&app.store, caller.meter(), size)?;
    let form = match compressed::is_accepted(&headers) {
        true => HeadForm::Compressed,
        false => HeadForm::Plain,
    };
    let body = frame::encode_as(&DownloadedBatch { files }, &chunks, form)
        .map_err(|e| Error::internal(e.to_string()))?;
    Ok(([(header::CONTENT_TYPE, frame::MEDIA_TYPE)], body).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_range(text: &str) -> Result<Option<Range<u64>>> {
        let mut headers = HeaderMap::new();
        headers.insert(header::RANGE, HeaderValue::from_str(text).unwrap());
        range(&headers, 10)
    }

    #[test]
    fn ranges_are_read_as_the_rfc_says() {
        assert_eq!(parse_range("bytes=0-3").unwrap(), Some(0..4));
        assert_eq!(parse_range("bytes=5-").unwrap(), Some(5..10));
        assert_eq!(parse_range("bytes=-3").unwrap(), Some(7..10));
        assert_eq!(parse_range("bytes=8-100").unwrap(), Some(8..10));
        let huge = "99999999999999999999";
        let beyond = parse_range(&format!("bytes=8-{huge}"));
        assert_eq!(beyond.unwrap(), Some(8..10));
        let suffix = parse_range(&format!("bytes=-{huge}"));
        assert_eq!(suffix.unwrap(), Some(0..10));
        for ignored in [
            "bytes=3-2",
            "bytes=a-b",
            "lines=1-2",
            "bytes=0-1,3-4",
            "bytes=5",
            "bytes=+5-",
        ] {
            assert_eq!(parse_range(ignored).unwrap(), None, "{ignored}");
        }
        let huge = format!("bytes={huge}-");
        for outside in ["bytes=10-", "bytes=10-12", "bytes=-0", &huge] {
            assert!(
                matches!(parse_range(outside), Err(Error::Range { size: 10 })),
                "{outside}"
            );
        }
    }
}
