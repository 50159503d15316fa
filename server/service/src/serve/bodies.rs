//! Bodies of requests: the time that they may take, and what becomes of one that nobody has read.
//!
//! A connection can only be used again after the whole body of the request before. A response that needed none of it
//! (an error, mostly) would end the connection without a word, and the next request on it would fail.

use crate::http::body::TooSlow;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use http_body::{Frame, SizeHint};
use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep};

/// The bytes of an unread rest that are taken in, so that the connection can go on.
const MAX_REST: u64 = 64 * 1024;
/// The bytes of an unread rest that are taken in before the connection ends: a sealed chunk or object, which many
/// clients send as a whole before they read the response. Unread bytes at the end of a connection reset it, and the
/// response may be lost.
const MAX_LAST_REST: u64 = 8 * 1024 * 1024;
/// The time within which a rest has to come.
const REST_TIME: Duration = Duration::from_secs(5);
/// The least rate, in bytes a second: below it a body is given up, once it has taken the time that one part may take.
const LEAST_RATE: u64 = 1024;

/// The rest of a body that was let go before its end.
enum Unread {
    Body(Body),
    /// A body of which no more can be read.
    Failed,
}

/// The place where a body leaves its rest.
#[derive(Clone, Default)]
struct Rest(Arc<Mutex<Option<Unread>>>);

/// A body that has to come in time, and leaves its rest behind.
struct Timed {
    /// `None` once it has ended or failed.
    inner: Option<Body>,
    rest: Rest,
    /// The time that may pass between two parts.
    limit: Duration,
    read: u64,
    waited: Duration,
    /// The beginning of the present wait, and its end at the latest.
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl Timed {
    /// Returns the time that may pass until the next part.
    fn allowed_wait(&self) -> Duration {
        let whole = self.limit + Duration::from_secs(self.read / LEAST_RATE);
        self.limit.min(whole.saturating_sub(self.waited))
    }

    fn fail(&mut self) {
        self.inner = None;
        *self.rest.0.lock() = Some(Unread::Failed);
    }

    /// Waits for the next part, as long as that may take.
    fn poll_late(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let allowed = self.allowed_wait();
        let (_, sleep) = self
            .waiting
            .get_or_insert_with(|| (Instant::now(), Box::pin(tokio::time::sleep(allowed))));
        sleep.as_mut().poll(context)
    }
}

impl HttpBody for Timed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        let Some(inner) = &mut this.inner else {
            return Poll::Ready(None);
        };
        let Poll::Ready(polled) = Pin::new(inner).poll_frame(context) else {
            ready!(this.poll_late(context));
            this.fail();
            return Poll::Ready(Some(Err(axum::Error::new(TooSlow))));
        };
        if let Some((since, _)) = this.waiting.take() {
            this.waited += since.elapsed();
        }
        match &polled {
            Some(Ok(frame)) => {
                this.read += frame.data_ref().map_or(0, |data| data.len() as u64);
            }
            Some(Err(_)) => this.fail(),
            None => this.inner = None,
        }
        Poll::Ready(polled)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let none = || SizeHint::with_exact(0);
        self.inner.as_ref().map_or_else(none, HttpBody::size_hint)
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        if let Some(inner) = self.inner.take().filter(|body| !body.is_end_stream()) {
            *self.rest.0.lock() = Some(Unread::Body(inner));
        }
    }
}

/// Reads what is left of a body, within bounds.
async fn drain(mut body: Body, most: u64) {
    let mut left = most;
    while let Some(Ok(frame)) = next_frame(&mut body).await {
        let length = frame.data_ref().map_or(0, |data| data.len() as u64);
        let Some(less) = left.checked_sub(length) else {
            return;
        };
        left = less;
    }
}

async fn next_frame(body: &mut Body) -> Option<Result<Frame<Bytes>, axum::Error>> {
    std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await
}

/// Gives the body of a request its time limits. A rest that is unread once there is a response is taken in beside it if
/// it is little; else the response says that the connection ends.
pub(super) async fn limit(State(limit): State<Duration>, request: Request, next: Next) -> Response {
    // A client that sent `Expect: 100-continue` sends no body after an error.
    let is_announced = request.headers().contains_key(header::EXPECT);
    let rest = Rest::default();
    let request = request.map(|body| {
        Body::new(Timed {
            inner: Some(body),
            rest: rest.clone(),
            limit,
            read: 0,
            waited: Duration::ZERO,
            waiting: None,
        })
    });
    let mut response = next.run(request).await;
    let unread = rest.0.lock().take();
    let goes_on = match unread {
        None => true,
        Some(Unread::Body(body)) if !is_announced => {
            // A body in chunks doesn't say how long it is: the connection ends after it, or after as much of it as is
            // taken in.
            let is_little = body
                .size_hint()
                .upper()
                .is_some_and(|left| left <= MAX_REST);
            let most = if is_little { MAX_REST } else { MAX_LAST_REST };
            tokio::spawn(tokio::time::timeout(REST_TIME, drain(body, most)));
            is_little
        }
        Some(Unread::Body(_) | Unread::Failed) => false,
    };
    if !goes_on {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    response
}
