//! Errors of the HTTP layer, for requests whose head can't be read: no route ever sees them, and the
//! library answers with an empty body.
//!
//! Such a response is known by its bytes, at a time when no response of ours is on its way: a body may
//! hold the same bytes. It is replaced as it is written.

use super::writes::WriteLimit;
use crate::http::observed::{Observer, observe};
use axum::body::Bytes;
use axum::response::Response;
use cairn_store::Source;
use cairn_wire::ErrorBody;
use cairn_wire::headers::REQUEST_ID;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Says that bytes of a response of ours may not be written yet.
#[derive(Clone, Default)]
pub(super) struct InFlight(Arc<AtomicBool>);

impl InFlight {
    fn set(&self, is: bool) {
        self.0.store(is, Ordering::SeqCst);
    }

    /// Watches a response until it has left the connection's buffer.
    pub(super) fn watch(&self, response: Response) -> Response {
        self.set(true);
        response.map(|inner| observe(inner, self.clone()))
    }
}

/// Each part of a response goes into the connection's buffer.
impl Observer for InFlight {
    fn on_poll(&mut self, _: Option<&Bytes>) {
        self.set(true);
    }
}

/// A connection that gives empty errors a body, and ends if its client takes nothing of a response.
pub(super) struct Connection<S> {
    stream: S,
    writes: WriteLimit,
    in_flight: InFlight,
    source: Arc<Source>,
    /// The response that is written in place of another, and the length of that one.
    replacement: Option<(Bytes, usize)>,
}

impl<S> Connection<S> {
    pub(super) fn new(
        stream: S,
        writes: WriteLimit,
        in_flight: InFlight,
        source: Arc<Source>,
    ) -> Self {
        Self {
            stream,
            writes,
            in_flight,
            source,
            replacement: None,
        }
    }
}

impl<S: AsyncWrite + Unpin> Connection<S> {
    /// Writes the response with a body, if `bytes` are one without; `None` if they are something else.
    fn poll_replaced(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Option<io::Result<usize>>> {
        if self.replacement.is_none() && !self.in_flight.0.load(Ordering::SeqCst) {
            let id = || hex::encode(self.source.bytes::<8>());
            self.replacement = with_body(bytes, id).map(|response| (response, bytes.len()));
        }
        let Some((rest, length)) = &mut self.replacement else {
            return Poll::Ready(None);
        };
        while !rest.is_empty() {
            let polled = Pin::new(&mut self.stream).poll_write(context, rest);
            match ready!(self.writes.bound(context, polled)) {
                Ok(written) if written > 0 => drop(rest.split_to(written)),
                Ok(_) => return Poll::Ready(Some(Err(io::ErrorKind::WriteZero.into()))),
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
        let length = *length;
        self.replacement = None;
        Poll::Ready(Some(Ok(length)))
    }
}

/// Returns the response to be written in place of one without a body.
fn with_body(bytes: &[u8], id: impl FnOnce() -> String) -> Option<Bytes> {
    let head = bytes.strip_suffix(b"\r\n\r\n")?;
    let head = std::str::from_utf8(head.strip_prefix(b"HTTP/1.1 ")?).ok()?;
    let (message, code) = match head.get(..3)? {
        "400" => ("the head of the request can't be read as HTTP/1.1", 400),
        "414" => ("the address of the request is too long", 414),
        "431" => ("the head of the request is too long", 431),
        _ => return None,
    };
    if !head.contains("\r\ncontent-length: 0") || head.contains("\r\n\r\n") {
        return None;
    }
    let message = message.to_owned();
    let body = serde_json::to_string(&ErrorBody { code, message }).ok()?;
    let length = format!(
        "\r\n{REQUEST_ID}: {}\r\ncontent-type: application/json\r\ncontent-length: {}",
        id(),
        body.len()
    );
    let head = head.replacen("\r\ncontent-length: 0", &length, 1);
    Some(format!("HTTP/1.1 {head}\r\n\r\n{body}").into())
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match ready!(self.poll_replaced(context, bytes)) {
            Some(written) => Poll::Ready(written),
            None => {
                let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
                self.writes.bound(context, polled)
            }
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let [only] = slices
            && let Some(written) = ready!(self.poll_replaced(context, only))
        {
            return Poll::Ready(written);
        }
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.writes.bound(context, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        // Whoever flushes has given everything away.
        self.in_flight.set(false);
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_store::Clock;
    use std::time::Duration;
    use tokio::io::AsyncWriteExt as _;

    const EMPTY: &str = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\ndate: x\r\n\r\n";

    /// Returns what goes out for some bytes, with a response of ours on its way or none.
    async fn write_response(bytes: &str, is_on_the_way: bool) -> String {
        let in_flight = InFlight::default();
        in_flight.set(is_on_the_way);
        let source = Arc::new(Source::new(Clock::System, Some(1)));
        let writes = WriteLimit::new(Duration::from_secs(60));
        let mut connection = Connection::new(Vec::new(), writes, in_flight, source);
        connection.write_all(bytes.as_bytes()).await.unwrap();
        String::from_utf8(connection.stream).unwrap()
    }

    #[tokio::test]
    async fn an_empty_error_gets_a_body_and_nothing_else_does() {
        let response = write_response(EMPTY, false).await;
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        assert!(
            head.contains(&format!("content-length: {}", body.len())),
            "{head}"
        );
        assert!(
            head.contains("x-request-id: ") && head.ends_with("date: x"),
            "{head}"
        );
        let body: ErrorBody = serde_json::from_str(body).unwrap();
        assert_eq!(body.code, 400);
        assert_eq!(write_response(EMPTY, true).await, EMPTY, "bytes of a body");
        for other in [
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 9\r\n\r\n",
            "HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\nmore",
        ] {
            assert_eq!(write_response(other, false).await, other);
        }
    }
}
