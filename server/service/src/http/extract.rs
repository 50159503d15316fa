//! Extractors that refuse with our own errors: path parts, query parameters, JSON bodies.

use crate::error::{Error, Result};
use crate::http::whole_numbers::without_fractions;
use crate::http::{body, check, json_text, nul};
use axum::extract::path::ErrorKind;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;

/// The largest JSON body, batches and chunk lists aside.
pub(crate) const MAX_JSON: usize = 1024 * 1024;
/// The largest body that lists chunks or nodes: the chunks of a file of 150 GiB.
pub(crate) const MAX_LIST: usize = 16 * 1024 * 1024;

/// Parts of the path. One that is no id, or has a NUL, can't name anything: 404.
pub struct PathArgs<T>(pub T);

/// Returns what a part of the path has to be, for somebody who sent something else.
fn path_rule(rejection: &PathRejection) -> String {
    let PathRejection::FailedToDeserializePathParams(failed) = rejection else {
        return "the path can't be read".to_owned();
    };
    let kind = failed.kind();
    if let ErrorKind::ParseErrorAtKey { key, value, .. } = kind {
        return format!("`{key}` can't be `{value}`");
    }
    if let ErrorKind::DeserializeError { key, message, .. } = kind {
        return format!("`{key}`: {}", rule(message));
    }
    if let ErrorKind::Message(message) = kind {
        return rule(message);
    }
    rule(&kind.to_string())
}

/// Says what a value has to be, in place of what a library stumbled over.
fn rule(message: &str) -> String {
    if message.contains("UUID") || message.contains("invalid length: expected") {
        return "it has to be a UUID, such as 0b9d5a3e-5f0c-4f6e-9a53-2f8c1d7e6b40".to_owned();
    }
    let known = [
        ("invalid digit", "it has to be a whole number, 0 or more"),
        (
            "cannot parse integer from empty string",
            "it is empty; it has to be a whole number, 0 or more",
        ),
        ("number too large", "the number is too large"),
        ("provided string was not", "it has to be `true` or `false`"),
    ];
    known
        .iter()
        .find(|(part, _)| message.contains(part))
        .map_or_else(|| message.to_owned(), |(_, rule)| (*rule).to_owned())
}

/// Names the parameter that can't be read, and what it has to be.
fn query_rule(text: &str) -> String {
    let text = text
        .strip_prefix("Failed to deserialize query string: ")
        .unwrap_or(text);
    match text.split_once(": ") {
        Some((field, message)) if !field.contains(' ') => {
            format!("the query parameter `{field}`: {}", rule(message))
        }
        Some(_) | None => format!("the query can't be read: {text}"),
    }
}

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for PathArgs<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let path = parts.uri.path();
        if nul::is_in(path.as_bytes()) {
            return Err(Error::not_found(format!(
                "there is nothing at {path}: what has a NUL names nothing"
            )));
        }
        let Path(value) = Path::from_request_parts(parts, state).await.map_err(|e| {
            Error::not_found(format!(
                "there is nothing at {}: {}",
                parts.uri.path(),
                path_rule(&e)
            ))
        })?;
        Ok(Self(value))
    }
}

/// Query parameters. None may have a NUL.
pub struct QueryParams<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for QueryParams<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let query = parts.uri.query().unwrap_or_default();
        if nul::is_in(query.as_bytes()) {
            return Err(Error::invalid(
                "the query has a NUL (%00), which no parameter may have",
            ));
        }
        if !nul::is_text(query.as_bytes()) {
            return Err(Error::invalid("the query is not text in UTF-8"));
        }
        let Query(value) = Query::from_request_parts(parts, state)
            .await
            .map_err(|e| Error::invalid(query_rule(&e.body_text())))?;
        Ok(Self(value))
    }
}

/// A JSON object of at most `LIMIT` bytes, with known fields only, that keeps the rules of the OpenAPI
/// document.
pub(crate) struct Input<T, const LIMIT: usize = MAX_JSON>(pub T);

impl<T: DeserializeOwned + ToSchema, S: Send + Sync, const LIMIT: usize> FromRequest<S>
    for Input<T, LIMIT>
{
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        let bytes = object(request, LIMIT).await?;
        // First, because its messages name the field.
        check::body(&T::name(), &bytes)?;
        parse_strict(&bytes).map(Self)
    }
}

/// A JSON object with known fields only, of an endpoint that the document does not describe.
pub struct UndocumentedJson<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for UndocumentedJson<T> {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        parse_strict(&object(request, MAX_JSON).await?).map(Self)
    }
}

/// Reads the bytes of a JSON object.
async fn object(request: Request, limit: usize) -> Result<Bytes> {
    check_media_type(request.headers())?;
    let bytes = body::read_all(request, limit).await?;
    // Serde would also take an array, whose elements it gives to the fields in their order.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(Error::invalid(
            "the body has to be a JSON object; it is an array",
        ));
    }
    Ok(without_fractions(bytes))
}

/// Refuses a body that says it is something else than JSON; one that says nothing is taken as JSON.
///
/// # Errors
/// 415.
fn check_media_type(headers: &HeaderMap) -> Result<()> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else {
        return Ok(());
    };
    let text = value.to_str().unwrap_or_default();
    let essence = text.split(';').next().unwrap_or_default().trim();
    let is_json = essence.eq_ignore_ascii_case("application/json")
        || essence
            .rsplit_once('+')
            .is_some_and(|(_, suffix)| suffix.eq_ignore_ascii_case("json"));
    if is_json {
        return Ok(());
    }
    Err(Error::MediaType(format!(
        "the body is `{text}`; send JSON with `Content-Type: application/json`"
    )))
}

/// Reads JSON and refuses what nothing reads: a misspelt field must not pass as one left out.
pub(crate) fn parse_strict<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    let wrong = |e: serde_json::Error| {
        let text = json_text::plain_text(&e.to_string());
        Error::invalid(format!(
            "the body is not the JSON that belongs here: {text}"
        ))
    };
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let mut unknown = None;
    let value = serde_ignored::deserialize(&mut json, |path| {
        unknown.get_or_insert_with(|| path.to_string());
    })
    .map_err(wrong)?;
    json.end().map_err(wrong)?;
    match unknown {
        // An optional object stands in the path as `?`.
        Some(path) => {
            let path = json_text::shorten(&format!("`{}`", path.replace("?.", "")));
            Err(Error::invalid(format!(
                "the body has the field {path}, which does not belong here"
            )))
        }
        None => Ok(value),
    }
}

/// Returns true if `If-None-Match` has this tag: the client has the content already.
pub(crate) fn if_none_match(headers: &HeaderMap, tag: &str) -> bool {
    headers
        .get(header::IF_NONE_MATCH)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|wanted| super::conditional::matches(wanted, tag))
}
