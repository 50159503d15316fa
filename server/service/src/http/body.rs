//! Bodies in, within bounds: as one run of bytes, or in the pieces in which they arrived.

use crate::error::{Error, Result};
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{Bytes, BytesMut};
use cairn_store::ChunkHasher;
use cairn_wire::headers::CONTENT_DIGEST;
use futures_util::StreamExt as _;
use sha2::{Digest as _, Sha256, Sha512};

/// The error of a body that came too slowly, as whoever reads the connection finds it.
#[derive(Debug, thiserror::Error)]
#[error("nothing came in time, or too little")]
pub(crate) struct TooSlow;

/// A body in the pieces in which it arrived; nothing is copied.
pub(crate) struct Pieces {
    pub(crate) parts: Vec<Bytes>,
    pub(crate) length: usize,
    /// The BLAKE3 of the body, if the request named it, and it is the right one.
    pub(crate) blake3: Option<[u8; 32]>,
}

/// A digest of `Content-Digest`, and what has come so far of the body that it has to be of.
enum Digest {
    Sha256([u8; 32], Sha256),
    Sha512([u8; 64], Box<Sha512>),
    Blake3([u8; 32], Box<ChunkHasher>),
}

impl Digest {
    fn update(&mut self, part: &[u8]) {
        match self {
            Self::Sha256(_, hasher) => hasher.update(part),
            Self::Sha512(_, hasher) => hasher.update(part),
            Self::Blake3(_, hasher) => hasher.update(part),
        }
    }

    /// Checks the whole body. Returns its BLAKE3, if that is the digest.
    fn check(self) -> Result<Option<[u8; 32]>> {
        let (is_right, blake3) = match self {
            Self::Sha256(wanted, hasher) => (wanted == <[u8; 32]>::from(hasher.finalize()), None),
            Self::Sha512(wanted, hasher) => (wanted == <[u8; 64]>::from(hasher.finalize()), None),
            Self::Blake3(wanted, hasher) => (wanted == hasher.finish(), Some(wanted)),
        };
        match is_right {
            true => Ok(blake3),
            false => Err(Error::invalid(
                "the body is not the one that `Content-Digest` describes; send it again",
            )),
        }
    }
}

fn too_large(limit: usize) -> Error {
    Error::TooLarge(format!(
        "the body has more than the {limit} bytes allowed here"
    ))
}

/// Returns the refusal of a body of which no more can be read.
fn broken_off(error: &axum::Error) -> Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(one) = cause {
        if one.is::<TooSlow>() {
            return Error::TooSlow;
        }
        cause = one.source();
    }
    Error::invalid(format!("the body broke off: {error}"))
}

/// Reads a body, checking its `Content-Digest` on the way if there is one.
///
/// # Errors
/// 413 beyond `limit`, 415 for a compressed body, 408 for one that came too slowly, 400 for one that broke off or is not
/// what its digest says.
pub(crate) async fn pieces(request: Request, limit: usize) -> Result<Pieces> {
    let (parts, body) = request.into_parts();
    check_coding(&parts.headers)?;
    let announced = parts
        .headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.parse::<usize>().ok());
    if announced.is_some_and(|length| length > limit) {
        return Err(too_large(limit));
    }
    let mut digest = digest(&parts.headers)?;
    let mut out = Pieces {
        parts: Vec::new(),
        length: 0,
        blake3: None,
    };
    let mut stream = Body::into_data_stream(body);
    while let Some(part) = stream.next().await {
        let part = part.map_err(|e| broken_off(&e))?;
        out.length += part.len();
        if out.length > limit {
            return Err(too_large(limit));
        }
        if let Some(digest) = &mut digest {
            digest.update(&part);
        }
        out.parts.push(part);
    }
    if let Some(digest) = digest {
        out.blake3 = digest.check()?;
    }
    Ok(out)
}

/// Refuses a compressed body.
fn check_coding(headers: &HeaderMap) -> Result<()> {
    for value in headers.get_all(header::CONTENT_ENCODING) {
        let coding = value.to_str().unwrap_or("?").trim();
        if !coding.is_empty() && !coding.eq_ignore_ascii_case("identity") {
            return Err(Error::ContentCoding(coding.to_owned()));
        }
    }
    Ok(())
}

/// Reads a body into one run of bytes.
pub(crate) async fn read_all(request: Request, limit: usize) -> Result<Bytes> {
    let mut pieces = pieces(request, limit).await?;
    if pieces.parts.len() <= 1 {
        return Ok(pieces.parts.pop().unwrap_or_default());
    }
    let mut out = BytesMut::with_capacity(pieces.length);
    for part in pieces.parts {
        out.extend_from_slice(&part);
    }
    Ok(out.freeze())
}

/// Returns the first digest in `Content-Digest` (RFC 9530) that is known here; other algorithms are passed over.
fn digest(headers: &HeaderMap) -> Result<Option<Digest>> {
    let Some(value) = headers.get(CONTENT_DIGEST) else {
        return Ok(None);
    };
    let bad = || {
        Error::invalid(
            "`Content-Digest` has to be `sha-256=:BASE64:`, `sha-512=:BASE64:` or `blake3=:BASE64:`",
        )
    };
    let text = value.to_str().map_err(|_| bad())?;
    for member in text.split(',') {
        let (algorithm, value) = member.trim().split_once('=').ok_or_else(bad)?;
        let digest: fn(&[u8]) -> Option<Digest> = match algorithm.to_ascii_lowercase().as_str() {
            "sha-256" => |wanted| Some(Digest::Sha256(wanted.try_into().ok()?, Sha256::new())),
            "sha-512" => |wanted| Some(Digest::Sha512(wanted.try_into().ok()?, Box::default())),
            "blake3" => |wanted| Some(Digest::Blake3(wanted.try_into().ok()?, Box::default())),
            _ => continue,
        };
        let encoded = value
            .strip_prefix(':')
            .and_then(|rest| rest.strip_suffix(':'))
            .ok_or_else(bad)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| bad())?;
        return digest(&bytes).map(Some).ok_or_else(bad);
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_store::Error as StoreError;

    fn request(digest: Option<&str>, body: &'static str) -> Request {
        let mut builder = Request::builder();
        if let Some(digest) = digest {
            builder = builder.header(CONTENT_DIGEST, digest);
        }
        builder.body(Body::from(body)).unwrap()
    }

    #[tokio::test]
    async fn a_body_is_bounded_and_matches_its_digest() {
        let good = format!(
            "md5=:xx:, sha-256=:{}:",
            STANDARD.encode(Sha256::digest(b"abc"))
        );
        assert_eq!(
            read_all(request(Some(&good), "abc"), 3).await.unwrap(),
            "abc"
        );
        assert!(matches!(
            read_all(request(Some(&good), "abd"), 3).await,
            Err(Error::Store(StoreError::Invalid(_)))
        ));
        assert!(matches!(
            read_all(request(None, "abcd"), 3).await,
            Err(Error::TooLarge(_))
        ));
        for bad in [
            "sha-256",
            "sha-256=abc",
            "sha-256=:!!:",
            "sha-256=:YWJj:",
            "sha-512=:YWJj:",
            "blake3=:YWJj:",
        ] {
            assert!(
                matches!(
                    read_all(request(Some(bad), "abc"), 3).await,
                    Err(Error::Store(StoreError::Invalid(_)))
                ),
                "{bad}"
            );
        }
    }

    #[tokio::test]
    async fn both_standard_digests_are_compared() {
        let encode = |digest: &[u8]| STANDARD.encode(digest);
        for digest in [
            format!("sha-256=:{}:", encode(&Sha256::digest(b"abc"))),
            format!("SHA-512=:{}:", encode(&Sha512::digest(b"abc"))),
        ] {
            let read = |body| read_all(request(Some(&digest), body), 3);
            assert_eq!(read("abc").await.unwrap(), "abc");
            assert!(read("abd").await.is_err(), "{digest}");
        }
    }

    #[tokio::test]
    async fn a_chunk_is_hashed_once_for_its_digest_and_for_the_store() {
        let mut hasher = ChunkHasher::default();
        hasher.update(b"abc");
        let digest = format!("blake3=:{}:", STANDARD.encode(hasher.finish()));
        let read = |body| pieces(request(Some(&digest), body), 3);
        assert_eq!(read("abc").await.unwrap().blake3, Some(hasher.finish()));
        assert!(read("abd").await.is_err() && read("ab").await.is_err());
        let unnamed = pieces(request(None, "abc"), 3).await.unwrap();
        assert_eq!(unnamed.blake3, None);
    }
}
