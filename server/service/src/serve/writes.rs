//! Limits how long a write may wait for the client.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Sleep;

/// The time that each write to one client may wait.
pub(super) struct WriteLimit {
    limit: Duration,
    /// The end of the present wait, if a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl WriteLimit {
    pub(super) fn new(limit: Duration) -> Self {
        Self {
            limit,
            waiting: None,
        }
    }

    /// Returns the result of a write, or the error of one that has waited too long.
    pub(super) fn bound(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if polled.is_ready() {
            self.waiting = None;
            return polled;
        }
        let limit = self.limit;
        let sleep = self
            .waiting
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        sleep.as_mut().poll(context).map(|()| {
            Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "the client takes nothing of the response",
            ))
        })
    }
}
