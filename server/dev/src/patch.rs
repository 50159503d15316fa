//! Changes that fault rules make to responses: other values, a flipped bit, a cut.

use axum::body::{Body, to_bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Error, ErrorKind};

async fn change_body(response: Response, change: impl FnOnce(Vec<u8>) -> Vec<u8>) -> Response {
    let (mut parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(change(bytes.to_vec())))
}

/// Changes a JSON response; another one stays as it is, a stream of events above all.
pub(super) async fn json(response: Response, change: impl FnOnce(&mut Value)) -> Response {
    let kind = response.headers().get(header::CONTENT_TYPE);
    if kind.is_none_or(|kind| !kind.as_bytes().starts_with(b"application/json")) {
        return response;
    }
    change_body(response, |bytes| {
        let Ok(mut json) = serde_json::from_slice::<Value>(&bytes) else {
            return bytes;
        };
        change(&mut json);
        serde_json::to_vec(&json).unwrap_or(bytes)
    })
    .await
}

/// Puts values into a JSON response; a pointer to a missing field of an object adds it.
pub(super) async fn set(response: Response, values: &BTreeMap<String, Value>) -> Response {
    json(response, |json| {
        for (pointer, value) in values {
            if let Some(place) = json.pointer_mut(pointer) {
                *place = value.clone();
            } else if let Some((parent, field)) = pointer.rsplit_once('/')
                && let Some(object) = json.pointer_mut(parent).and_then(Value::as_object_mut)
            {
                object.insert(field.to_owned(), value.clone());
            }
        }
    })
    .await
}

/// Flips the lowest bit of the byte in the middle.
pub(super) async fn flip(response: Response) -> Response {
    change_body(response, |mut bytes| {
        let middle = bytes.len() / 2;
        if let Some(byte) = bytes.get_mut(middle) {
            *byte ^= 1;
        }
        bytes
    })
    .await
}

/// Breaks the connection after some bytes of the body. A response without a body gets one that is
/// announced and never comes, so that its reader notices, too.
pub(super) fn cut(response: Response, after: u64) -> Response {
    let (mut parts, body) = response.into_parts();
    let exact = axum::body::HttpBody::size_hint(&body).exact();
    if exact == Some(0) {
        parts.status = StatusCode::OK;
        parts
            .headers
            .insert(header::CONTENT_LENGTH, HeaderValue::from_static("1"));
    } else if let Some(length) = exact {
        parts
            .headers
            .insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    let broken = || {
        Err(Error::new(
            ErrorKind::ConnectionReset,
            "a fault rule cuts here",
        ))
    };
    let pieces = body
        .into_data_stream()
        .scan(Some(after), move |left, piece| {
            let next = left.map(|room| match piece {
                Ok(piece) if (piece.len() as u64) <= room => {
                    *left = Some(room - piece.len() as u64);
                    vec![Ok(piece)]
                }
                Ok(piece) => {
                    *left = None;
                    let head = piece.slice(..usize::try_from(room).unwrap_or(0));
                    vec![Ok(head), broken()]
                }
                Err(error) => {
                    *left = None;
                    vec![Err(Error::other(error))]
                }
            });
            std::future::ready(next)
        });
    let pieces = pieces.map(stream::iter).flatten().filter(|piece| {
        let keep = piece
            .as_ref()
            .map_or(true, |bytes: &Bytes| !bytes.is_empty());
        std::future::ready(keep)
    });
    if exact == Some(0) {
        let nothing: Result<Bytes, Error> = broken();
        return Response::from_parts(parts, Body::from_stream(stream::iter([nothing])));
    }
    Response::from_parts(parts, Body::from_stream(pieces))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json as value;

    async fn read(response: Response) -> (Vec<u8>, bool) {
        let mut stream = response.into_body().into_data_stream();
        let mut out = Vec::new();
        while let Some(piece) = stream.next().await {
            match piece {
                Ok(piece) => out.extend_from_slice(&piece),
                Err(_) => return (out, true),
            }
        }
        (out, false)
    }

    #[tokio::test]
    async fn a_cut_lets_exactly_that_many_bytes_through() {
        for (after, want, broken) in [
            (0, "", true),
            (3, "abc", true),
            (5, "abcde", true),
            (6, "abcdef", false),
        ] {
            let body = Body::from_stream(stream::iter(
                ["abcd", "ef"].map(|s| Ok::<_, Error>(Bytes::from(s))),
            ));
            let got = read(cut(Response::new(body), after)).await;
            assert_eq!(got, (want.as_bytes().to_vec(), broken), "{after}");
        }
        let empty = cut(Response::new(Body::empty()), 0);
        assert_eq!(empty.headers()[header::CONTENT_LENGTH], "1");
        assert_eq!(read(empty).await, (Vec::new(), true));
    }

    #[tokio::test]
    async fn values_are_replaced_and_added() {
        let body = Body::from(r#"{"a":{"b":1},"c":[1,2]}"#);
        let values = BTreeMap::from([
            ("/a/b".to_owned(), value!("x")),
            ("/c/1".to_owned(), value!(null)),
            ("/a/new".to_owned(), value!(true)),
        ]);
        let mut response = Response::new(body);
        let kind = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        let (bytes, _) = read(set(response, &values).await).await;
        let got: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(got, value!({"a": {"b": "x", "new": true}, "c": [1, null]}));
    }

    #[tokio::test]
    async fn one_bit_is_flipped() {
        let (bytes, _) = read(flip(Response::new(Body::from("abc"))).await).await;
        assert_eq!(bytes, b"acc");
    }
}
