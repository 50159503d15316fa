//! A body that is passed on as it is, while an observer is told of its bytes and its end.

use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Watches a body.
pub trait Observer: Send + Unpin + 'static {
    /// Called each time that the body is asked for more, with the bytes that came.
    fn on_poll(&mut self, data: Option<&Bytes>);

    /// Called once, after the body has ended or is given up.
    fn on_end(&mut self) {}
}

struct Observed<O: Observer> {
    inner: Body,
    observer: O,
}

/// Returns the body with an observer.
pub fn observe(inner: Body, observer: impl Observer) -> Body {
    Body::new(Observed { inner, observer })
}

impl<O: Observer> HttpBody for Observed<O> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(context);
        let data = match &polled {
            Poll::Ready(Some(Ok(frame))) => frame.data_ref(),
            Poll::Ready(Some(Err(_)) | None) | Poll::Pending => None,
        };
        self.observer.on_poll(data);
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl<O: Observer> Drop for Observed<O> {
    fn drop(&mut self) {
        self.observer.on_end();
    }
}
