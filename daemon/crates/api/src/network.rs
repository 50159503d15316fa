//! The real transport: HTTP/1.1 and HTTP/2 through reqwest, TLS through rustls.
//!
//! Redirects are never followed, so that no token travels to another origin. Silence is bounded
//! here; sizes are bounded by the caller, who knows what it asked for.

use crate::call::is_loopback;
use crate::transport::{BodyStream, Request, Response, Transport, TransportError};
use async_trait::async_trait;
use cairn_wire::compression::{Decompressor, ZSTD};
use futures_util::StreamExt as _;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderValue};
use std::convert::Infallible;
use std::error::Error as _;
use std::sync::OnceLock;
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// More than two heartbeats of the change stream.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// The slowest uplink, in bytes per second, that the time limit of a request allows its body.
const MIN_UPLINK_BYTES_PER_SECOND: u64 = 16 * 1024;

/// The longest text that one piece of a compressed body may stand for. Pieces come from a socket's buffer, and text that
/// is worth reading doesn't shrink to a thousandth.
const MAX_GROWTH: usize = 32 * 1024 * 1024;

/// Talks to a server over the network, with connection pools of its own.
///
/// A client is made when it is first needed: it reads all certificates that the machine trusts, which takes time and
/// memory.
#[derive(Default)]
pub struct HttpTransport {
    client: OnceLock<reqwest::Client>,
    /// The client for servers on this machine: a proxy from the environment can't reach them.
    direct: OnceLock<reqwest::Client>,
}

impl HttpTransport {
    /// Returns the client for servers on this machine (`direct`) or elsewhere.
    fn client(&self, direct: bool) -> Result<&reqwest::Client, TransportError> {
        let made = if direct { &self.direct } else { &self.client };
        if let Some(client) = made.get() {
            return Ok(client);
        }
        let builder = reqwest::Client::builder()
            .user_agent(concat!("cairn/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .connect_timeout(CONNECT_TIMEOUT)
            .pool_idle_timeout(Duration::from_secs(30))
            .tcp_nodelay(true);
        let builder = if direct { builder.no_proxy() } else { builder };
        let client = builder
            .build()
            .map_err(|e| TransportError::Invalid(format!("can't set up HTTP: {}", describe(&e))))?;
        Ok(made.get_or_init(|| client))
    }
}

#[async_trait]
impl Transport for HttpTransport {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        let address = format!("{}{}", request.base, request.path);
        let url = reqwest::Url::parse(&address).map_err(|e| {
            TransportError::Invalid(format!("{address} is not a valid address: {e}"))
        })?;
        let client = self.client(is_loopback(&url))?;
        let body_seconds = request.body.len() as u64 / MIN_UPLINK_BYTES_PER_SECOND;
        let time_limit = IDLE_TIMEOUT + Duration::from_secs(body_seconds);
        let mut headers = request.headers;
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(ZSTD));
        let body = match request.body.0.len() {
            0 | 1 => reqwest::Body::from(request.body.to_bytes()),
            _ => {
                // A stream's length is not known by itself, and the server wants to know it at once.
                headers.insert(CONTENT_LENGTH, request.body.len().into());
                let pieces = request.body.0.into_iter().map(Ok::<_, Infallible>);
                reqwest::Body::wrap_stream(futures_util::stream::iter(pieces))
            }
        };
        let sending = client
            .request(request.method, url)
            .headers(headers)
            .body(body)
            .send();
        let response = in_time(time_limit, sending).await?;
        let status = response.status();
        let mut headers = response.headers().clone();
        let mut body = body_with_timeout(response);
        if is_compressed(&headers) {
            // What follows reads the text: its length is another.
            headers.remove(CONTENT_ENCODING);
            headers.remove(CONTENT_LENGTH);
            body = decompressed(body)?;
        }
        Ok(Response {
            status,
            headers,
            body,
        })
    }
}

/// Waits for a response; its absence within the limit is an error.
async fn in_time<T>(
    limit: Duration,
    sending: impl Future<Output = reqwest::Result<T>>,
) -> Result<T, TransportError> {
    match tokio::time::timeout(limit, sending).await {
        Ok(sent) => sent.map_err(|e| classify(&e)),
        Err(_) => {
            let message = format!("no response within {} s", limit.as_secs());
            Err(TransportError::Silent(message))
        }
    }
}

/// Returns the body, with an error where nothing arrives for too long.
fn body_with_timeout(response: reqwest::Response) -> BodyStream {
    let bytes = Box::pin(response.bytes_stream());
    futures_util::stream::unfold(Some(bytes), |state| async move {
        let mut bytes = state?;
        match tokio::time::timeout(IDLE_TIMEOUT, bytes.next()).await {
            Ok(Some(Ok(part))) => Some((Ok(part), Some(bytes))),
            Ok(Some(Err(e))) => Some((Err(TransportError::Interrupted(describe(&e))), None)),
            Ok(None) => None,
            Err(_) => {
                let message = format!("nothing arrived for {} s", IDLE_TIMEOUT.as_secs());
                Some((Err(TransportError::Silent(message)), None))
            }
        }
    })
    .boxed()
}

fn is_compressed(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_ENCODING)
        .is_some_and(|coding| coding.as_bytes().eq_ignore_ascii_case(ZSTD.as_bytes()))
}

/// Returns the text of a compressed body. It is decompressed as far as it is read, so that whoever bounds what they
/// read bounds the memory too.
fn decompressed(body: BodyStream) -> Result<BodyStream, TransportError> {
    let failed = |error: std::io::Error| {
        TransportError::Interrupted(format!("the compressed body can't be read: {error}"))
    };
    let decompressor = Decompressor::new().map_err(failed)?;
    let parts = futures_util::stream::unfold(Some((body, decompressor)), move |state| async move {
        let (mut body, mut decompressor) = state?;
        match body.next().await {
            Some(Ok(bytes)) => {
                let mut text = Vec::new();
                let pushed = decompressor.push(&bytes, |part: &[u8]| {
                    text.extend_from_slice(part);
                    text.len() <= MAX_GROWTH
                });
                Some(match pushed {
                    Ok(()) if text.len() > MAX_GROWTH => {
                        let grown = std::io::Error::other("it grows beyond all measure");
                        (Err(failed(grown)), None)
                    }
                    Ok(()) => (Ok(text.into()), Some((body, decompressor))),
                    Err(error) => (Err(failed(error)), None),
                })
            }
            Some(Err(error)) => Some((Err(error), None)),
            None if decompressor.is_whole() => None,
            None => {
                let cut = std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
                Some((Err(failed(cut)), None))
            }
        }
    });
    Ok(parts.boxed())
}

fn classify(error: &reqwest::Error) -> TransportError {
    let text = describe(error);
    if error.is_builder() {
        TransportError::Invalid(text)
    } else if error.is_connect() {
        TransportError::Connect(text)
    } else {
        TransportError::Interrupted(text)
    }
}

/// Returns the innermost cause: the outer layers only repeat the address.
fn describe(error: &reqwest::Error) -> String {
    let mut cause = error.source();
    let mut text = None;
    while let Some(inner) = cause {
        text = Some(inner.to_string());
        cause = inner.source();
    }
    text.unwrap_or_else(|| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use cairn_wire::compression::compress;
    use futures_util::TryStreamExt as _;

    fn body(pieces: Vec<Bytes>) -> BodyStream {
        futures_util::stream::iter(pieces.into_iter().map(Ok)).boxed()
    }

    async fn read(pieces: Vec<Bytes>) -> Result<Vec<u8>, TransportError> {
        let parts: Vec<Bytes> = decompressed(body(pieces))?.try_collect().await?;
        Ok(parts.concat())
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_says_nothing_is_silent_before_its_response_and_within_it() {
        let never = std::future::pending::<reqwest::Result<()>>();
        let silent = TransportError::Silent("no response within 60 s".into());
        assert_eq!(in_time(IDLE_TIMEOUT, never).await, Err(silent));

        let begun = futures_util::stream::iter([Ok::<_, Infallible>(Bytes::from_static(b"a"))]);
        let body = reqwest::Body::wrap_stream(begun.chain(futures_util::stream::pending()));
        let response = reqwest::Response::from(http::Response::new(body));
        let parts: Vec<_> = body_with_timeout(response).collect().await;
        let silent = TransportError::Silent("nothing arrived for 60 s".into());
        assert_eq!(parts, [Ok(Bytes::from_static(b"a")), Err(silent)]);
    }

    #[tokio::test]
    async fn a_compressed_body_is_its_text_however_it_arrives() {
        let text = b"a list of the service ".repeat(10_000);
        let frame = Bytes::from(compress(&text).unwrap());
        let halves = [
            frame.slice(..frame.len() / 2),
            frame.slice(frame.len() / 2..),
        ];
        // HTTP/2 may end a body with an empty piece.
        let ended = [frame.clone(), Bytes::new()];
        for pieces in [vec![frame], halves.to_vec(), ended.to_vec()] {
            assert_eq!(read(pieces).await.unwrap(), text);
        }
    }

    #[tokio::test]
    async fn a_compressed_body_that_is_cut_or_damaged_is_an_error() {
        let frame = Bytes::from(compress(&[b'x'; 5_000]).unwrap());
        for pieces in [
            vec![frame.slice(..frame.len() - 1)],
            vec![Bytes::from_static(b"{\"no\": \"zstd\"}")],
            Vec::new(),
        ] {
            let error = read(pieces).await.unwrap_err();
            let text = error.to_string();
            assert!(text.contains("compressed body can't be read"), "{text}");
        }
    }

    #[tokio::test]
    async fn a_compressed_body_that_grows_beyond_all_measure_is_refused() {
        let frame = compress(&vec![0; MAX_GROWTH + 1]).unwrap();
        assert!(frame.len() < 100_000, "{}", frame.len());
        let error = read(vec![frame.into()]).await.unwrap_err();
        assert!(error.to_string().contains("beyond all measure"), "{error}");
    }
}
