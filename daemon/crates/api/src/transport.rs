//! The boundary between the client and the network: one request out, one streamed response back.
//!
//! It knows nothing of tokens, retries or endpoints. A transport never follows a redirect: the
//! response with the `Location` is returned.

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use http::{HeaderMap, Method, StatusCode};

/// The bytes of a response as they arrive.
pub type BodyStream = BoxStream<'static, Result<Bytes, TransportError>>;

/// One request. Its address is `base` followed by `path`.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: Method,
    /// Scheme, host, port and path prefix, without a trailing slash.
    pub base: String,
    /// From the leading slash on, with the query.
    pub path: String,
    pub headers: HeaderMap,
    pub body: Payload,
}

/// The bytes of a request in the pieces in which they lie: a batch of files is not copied together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payload(pub Vec<Bytes>);

impl Payload {
    /// Returns all bytes together.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(Bytes::len).sum()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Bytes::is_empty)
    }

    /// Returns one run of bytes; a copy where there are several pieces.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        match &self.0[..] {
            [] => Bytes::new(),
            [one] => one.clone(),
            several => several.concat().into(),
        }
    }
}

impl From<Bytes> for Payload {
    fn from(bytes: Bytes) -> Self {
        Self(vec![bytes])
    }
}

impl From<String> for Payload {
    fn from(text: String) -> Self {
        Bytes::from(text).into()
    }
}

/// One response; its body may still be on the way.
pub struct Response {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: BodyStream,
}

/// The reason why no complete response came.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// The request never reached the server: it can be sent again without harm.
    #[error("{0}")]
    Connect(String),
    /// The connection broke after the request went out: the server may have acted.
    #[error("{0}")]
    Interrupted(String),
    /// A silence of the server that lasted too long, after the request went out: the server may have acted.
    #[error("{0}")]
    Silent(String),
    /// The request can't be sent at all, whatever the network does.
    #[error("{0}")]
    Invalid(String),
}

/// Sends requests.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Sends one request and returns as soon as the head of the response is there.
    ///
    /// # Errors
    /// [`TransportError`] where no response came; every HTTP status is one.
    async fn send(&self, request: Request) -> Result<Response, TransportError>;
}
