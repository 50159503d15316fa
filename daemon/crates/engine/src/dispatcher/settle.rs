//! Waiting for calm: everything equal, and a fresh look at both sides finds nothing new.

use super::Dispatcher;
use crate::handle::Settled;
use crate::status::State;
use tokio::sync::oneshot;

/// Who waits, and how far the fresh look is.
#[derive(Default)]
pub(super) struct Settling {
    waiting: Vec<oneshot::Sender<Settled>>,
    /// A fresh look at both sides has begun since the last waiter came and the last thing happened.
    looked: bool,
}

impl Settling {
    pub(super) fn ask(&mut self, reply: oneshot::Sender<Settled>) {
        self.waiting.push(reply);
        self.looked = false;
    }

    /// Anything that changed makes the look stale.
    pub(super) fn something_happened(&mut self) {
        self.looked = false;
    }

    pub(super) fn drop_all(&mut self) {
        self.waiting.clear();
    }
}

impl Dispatcher {
    /// Answers who waits, or begins the fresh look that an answer needs. Called when there is nothing
    /// to do at once.
    pub(super) fn answer_settled(&mut self) {
        self.settle.waiting.retain(|reply| !reply.is_closed());
        if self.settle.waiting.is_empty() {
            return;
        }
        let paused = !self.folders.is_empty() && self.folders.values().all(|f| self.is_paused(f));
        if paused {
            return self.answer(Settled::Paused);
        }
        if !self.is_calm() {
            return;
        }
        if !self.settle.looked {
            self.settle.looked = true;
            self.look_everywhere(None);
            // The next turn does the look; if it finds anything, `looked` is false again.
            if self.feed_sender.send(()).is_err() {
                tracing::debug!("the dispatcher is stopping");
            }
            return;
        }
        let needs_person = self.shared.status().folders.iter().any(|f| {
            f.waiting_local_deletions + f.waiting_remote_deletions > 0 || f.state == State::Error
        });
        self.answer(if needs_person {
            Settled::NeedsPerson
        } else {
            Settled::InSync
        });
    }

    fn answer(&mut self, with: Settled) {
        for reply in self.settle.waiting.drain(..) {
            if reply.send(with).is_err() {
                tracing::debug!("whoever waited for calm has gone");
            }
        }
    }

    fn is_calm(&self) -> bool {
        let quiet = self
            .folders
            .values()
            .filter(|f| !self.is_paused(f))
            .all(|f| {
                f.root_retry.is_some()
                    || f.unlinkable
                    || (!f.whole
                        && f.dirs.is_empty()
                        && f.again.is_none()
                        && f.deletions.quiet_at().is_none()
                        && !f.plan_due
                        && f.queue.is_empty()
                        && f.in_flight == 0)
            });
        quiet
            && self.jobs.is_empty()
            && !self.remote_due
            && self.remote_retry.is_none()
            && !self.shared.health().waits_briefly()
    }
}
