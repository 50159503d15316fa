//! A body whose bytes are counted on their way.

use super::observed::{Observer, observe};
use axum::body::{Body, Bytes};
use prometheus_client::metrics::counter::Counter;

/// Adds the bytes of a body to a counter, and says at its end how many there were.
struct Measured<F: FnOnce(u64)> {
    counter: Counter,
    bytes: u64,
    done: Option<F>,
}

/// Counts the bytes of a body. `done` gets their number when the body has ended or is given up.
pub(super) fn count_bytes(
    inner: Body,
    counter: &Counter,
    done: impl FnOnce(u64) + Send + Unpin + 'static,
) -> Body {
    let measured = Measured {
        counter: counter.clone(),
        bytes: 0,
        done: Some(done),
    };
    observe(inner, measured)
}

impl<F: FnOnce(u64) + Send + Unpin + 'static> Observer for Measured<F> {
    fn on_poll(&mut self, data: Option<&Bytes>) {
        if let Some(data) = data {
            let length = data.len() as u64;
            self.bytes += length;
            self.counter.inc_by(length);
        }
    }

    fn on_end(&mut self) {
        if let Some(done) = self.done.take() {
            done(self.bytes);
        }
    }
}
