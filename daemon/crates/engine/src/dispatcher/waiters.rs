//! Callers that wait until the engine is idle, or until the service was asked for changes.

use crate::command::{PollFailure, WaitResult};
use tokio::sync::oneshot;

/// The waiters, and the state of the new check (scan and poll) that a reply to them needs.
#[derive(Default)]
pub(super) struct IdleWaiters {
    waiting: Vec<oneshot::Sender<WaitResult>>,
    /// A fresh check of both sides has begun since the last waiter came and the last thing happened.
    checked: bool,
}

impl IdleWaiters {
    pub(super) fn add(&mut self, reply: oneshot::Sender<WaitResult>) {
        self.waiting.push(reply);
        self.checked = false;
    }

    /// Records a change, which makes the fresh check out of date.
    pub(super) fn reset(&mut self) {
        self.checked = false;
    }

    /// Returns whether anybody still waits.
    pub(super) fn any(&mut self) -> bool {
        self.waiting.retain(|reply| !reply.is_closed());
        !self.waiting.is_empty()
    }

    /// Begins the fresh check of both sides. Returns false if it was begun already.
    pub(super) fn begin_check(&mut self) -> bool {
        !std::mem::replace(&mut self.checked, true)
    }

    pub(super) fn reply(&mut self, result: WaitResult) {
        for reply in self.waiting.drain(..) {
            if reply.send(result).is_err() {
                tracing::debug!("a caller that waited until the engine is idle has gone");
            }
        }
    }

    pub(super) fn drop_all(&mut self) {
        self.waiting.clear();
    }
}

/// Callers that wait for the end of the next poll of the feed.
#[derive(Default)]
pub(super) struct PollWaiters(Vec<oneshot::Sender<Result<(), PollFailure>>>);

impl PollWaiters {
    pub(super) fn add(&mut self, reply: oneshot::Sender<Result<(), PollFailure>>) {
        self.0.push(reply);
    }

    pub(super) fn any(&self) -> bool {
        !self.0.is_empty()
    }

    pub(super) fn reply(&mut self, result: &Result<(), PollFailure>) {
        for reply in self.0.drain(..) {
            if reply.send(result.clone()).is_err() {
                tracing::debug!("a caller that waited for a poll has gone");
            }
        }
    }

    pub(super) fn drop_all(&mut self) {
        self.0.clear();
    }
}
