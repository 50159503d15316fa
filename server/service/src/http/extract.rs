//! Extractors that refuse with our own errors: path parts, query parameters, JSON bodies.

use crate::error::{Error, Result};
use crate::http::body;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use serde::de::DeserializeOwned;

/// The largest JSON body, batches and chunk lists aside.
pub(crate) const MAX_JSON: usize = 1024 * 1024;
/// For bodies that list chunks or nodes: the chunks of a file of 150 GiB.
pub(crate) const MAX_LIST: usize = 16 * 1024 * 1024;

/// Parts of the path. One that is no id can't name anything: 404.
pub struct Args<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Args<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let Path(value) = Path::from_request_parts(parts, state).await.map_err(|e| {
            Error::not_found(format!(
                "there is nothing at {}: {}",
                parts.uri.path(),
                e.body_text()
            ))
        })?;
        Ok(Self(value))
    }
}

/// Query parameters.
pub struct Params<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let Query(value) = Query::from_request_parts(parts, state)
            .await
            .map_err(|e| Error::invalid(e.body_text()))?;
        Ok(Self(value))
    }
}

/// A JSON object of at most `LIMIT` bytes, with known fields only.
pub struct Input<T, const LIMIT: usize = MAX_JSON>(pub T);

impl<T: DeserializeOwned, S: Send + Sync, const LIMIT: usize> FromRequest<S> for Input<T, LIMIT> {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        let bytes = body::whole(request, LIMIT).await?;
        // Serde would also take an array, whose elements it gives to the fields in their order.
        if bytes.trim_ascii_start().first() == Some(&b'[') {
            return Err(Error::invalid(
                "the body has to be a JSON object; it is an array",
            ));
        }
        strict(&bytes).map(Self)
    }
}

/// Reads JSON and refuses what nothing reads: a misspelt field must not pass as one left out.
pub(crate) fn strict<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    let wrong = |e| Error::invalid(format!("the body is not the JSON that belongs here: {e}"));
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let mut unknown = None;
    let value = serde_ignored::deserialize(&mut json, |path| {
        unknown.get_or_insert_with(|| path.to_string());
    })
    .map_err(wrong)?;
    json.end().map_err(wrong)?;
    match unknown {
        // An optional object stands in the path as `?`.
        Some(path) => Err(Error::invalid(format!(
            "the body has the field `{}`, which does not belong here",
            path.replace("?.", "")
        ))),
        None => Ok(value),
    }
}

/// The version in `If-Match: "VERSION"`.
///
/// # Errors
/// 400 for anything else but `*`.
pub(crate) fn if_match(headers: &HeaderMap) -> Result<Option<u64>> {
    let Some(value) = headers.get(header::IF_MATCH) else {
        return Ok(None);
    };
    let text = value.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(None);
    }
    text.trim_matches('"')
        .parse()
        .map(Some)
        .map_err(|_| Error::invalid("`If-Match` has to be a version in quotes, as `ETag` gave it"))
}
