//! A body whose bytes are counted on their way.

use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};
use prometheus_client::metrics::counter::Counter;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A body that adds its bytes to a counter, and says at its end how many there were.
struct Measured<F: FnOnce(u64)> {
    inner: Body,
    counter: Counter,
    bytes: u64,
    done: Option<F>,
}

/// Counts the bytes of a body. `done` gets their number when the body has ended or is given up.
pub(super) fn measured(
    inner: Body,
    counter: &Counter,
    done: impl FnOnce(u64) + Send + Unpin + 'static,
) -> Body {
    Body::new(Measured {
        inner,
        counter: counter.clone(),
        bytes: 0,
        done: Some(done),
    })
}

impl<F: FnOnce(u64) + Unpin> HttpBody for Measured<F> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(context));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            let length = data.len() as u64;
            self.bytes += length;
            self.counter.inc_by(length);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl<F: FnOnce(u64)> Drop for Measured<F> {
    fn drop(&mut self) {
        if let Some(done) = self.done.take() {
            done(self.bytes);
        }
    }
}
