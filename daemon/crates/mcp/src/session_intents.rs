//! Changes that calls are about to make, noted before they are made. A response can be lost and a call cancelled while
//! the service carries the change out: what was noted is looked at later, and what took place goes into the journal.
//! They are in memory only: what is still open when this process ends is forgotten.

use crate::session_call_time::CallTime;
use parking_lot::Mutex;
use std::any::Any;
use std::sync::Arc;

/// The open changes that are kept. Beyond them those that would be looked at first are forgotten: while a service fails,
/// each call adds one, and each of them costs requests to look at.
const MAX_OPEN: usize = 50;

/// A noted change; its type is known to whoever notes it and looks at it later.
type Change = Arc<dyn Any + Send + Sync>;

/// The changes of which nobody knows yet whether they took place.
#[derive(Default)]
pub(crate) struct Intents(Mutex<Pendings>);

#[derive(Default)]
struct Pendings {
    next: u64,
    /// In the order in which they are looked at.
    all: Vec<Pending>,
}

struct Pending {
    number: u64,
    change: Change,
    time: CallTime,
    is_running: bool,
}

impl Intents {
    /// Notes what a call is about to change.
    pub(crate) fn begin<T: Send + Sync + 'static>(&self, change: T) -> Intent<'_> {
        let change: Change = Arc::new(change);
        let mut pendings = self.0.lock();
        let number = pendings.next;
        pendings.next += 1;
        let time = CallTime::begin();
        pendings.all.push(Pending {
            number,
            change: change.clone(),
            time,
            is_running: true,
        });
        Intent {
            intents: self,
            number,
            change,
            time,
        }
    }

    /// Takes the changes whose calls have ended without a result, for finding out what became of them.
    pub(crate) fn take_open(&self) -> Vec<Intent<'_>> {
        let mut pendings = self.0.lock();
        let open = pendings.all.iter_mut().filter(|one| !one.is_running);
        let taken = open.map(|pending| {
            pending.is_running = true;
            Intent {
                intents: self,
                number: pending.number,
                change: pending.change.clone(),
                time: pending.time,
            }
        });
        taken.collect()
    }
}

impl Pendings {
    /// Forgets the first open changes until no more than [`MAX_OPEN`] are left.
    fn forget_beyond(&mut self) {
        let open = self.all.iter().filter(|one| !one.is_running).count();
        let mut surplus = open.saturating_sub(MAX_OPEN);
        self.all.retain(|one| {
            let is_forgotten = surplus > 0 && !one.is_running;
            if is_forgotten {
                surplus -= 1;
                tracing::warn!("a change is forgotten of which nobody knows whether it was made");
            }
            !is_forgotten
        });
    }
}

/// The change of a call that runs, or one that is looked at. Dropped without an end, it stays open.
pub(crate) struct Intent<'a> {
    intents: &'a Intents,
    number: u64,
    change: Change,
    time: CallTime,
}

impl Intent<'_> {
    /// Returns the noted change.
    pub(crate) fn change<T: 'static>(&self) -> Option<&T> {
        self.change.downcast_ref()
    }

    /// Returns the time of the call.
    pub(crate) fn time(&self) -> CallTime {
        self.time
    }

    /// Notes that the outcome of the call is known.
    pub(crate) fn finish(self) {
        // The lock is free again before this is dropped.
        let number = self.number;
        self.intents.0.lock().all.retain(|one| one.number != number);
    }

    /// Leaves the change open, to be looked at after all others.
    pub(crate) fn postpone(self) {
        // The lock is free again before this is dropped.
        let mut pendings = self.intents.0.lock();
        let all = &mut pendings.all;
        if let Some(at) = all.iter().position(|one| one.number == self.number) {
            let own = all.remove(at);
            all.push(own);
        }
    }
}

impl Drop for Intent<'_> {
    fn drop(&mut self) {
        let mut pendings = self.intents.0.lock();
        let mut all = pendings.all.iter_mut();
        if let Some(own) = all.find(|one| one.number == self.number) {
            own.is_running = false;
            own.time.end();
            pendings.forget_beyond();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_ends_without_a_result_leaves_its_change_open() {
        let intents = Intents::default();
        let begin = || intents.begin("a change");
        let (running, cancelled, finished) = (begin(), begin(), begin());
        finished.finish();
        assert!(intents.take_open().is_empty());
        drop(cancelled);
        let mut open = intents.take_open();
        assert_eq!(open.len(), 1);
        assert!(intents.take_open().is_empty(), "nothing is noted twice");
        drop(running);
        let cancelled = open.remove(0);
        assert_eq!(cancelled.change(), Some(&"a change"));
        cancelled.finish();
        assert_eq!(intents.take_open().len(), 1);
        assert_eq!(intents.take_open().len(), 1, "it was left open");
    }

    #[test]
    fn what_can_not_be_found_out_now_is_looked_at_last() {
        let intents = Intents::default();
        drop((intents.begin(1), intents.begin(2)));
        let mut open = intents.take_open();
        open.remove(0).postpone();
        drop(open);
        let open = intents.take_open();
        let order: Vec<_> = open.iter().map(Intent::change::<i32>).collect();
        assert_eq!(order, [Some(&2), Some(&1)]);
    }

    #[test]
    fn only_a_number_of_open_changes_is_kept() {
        let intents = Intents::default();
        let running = intents.begin(0);
        for number in 1..=MAX_OPEN + 2 {
            drop(intents.begin(number));
        }
        let open = intents.take_open();
        assert_eq!(open.len(), MAX_OPEN);
        assert_eq!(open[0].change(), Some(&3_usize));
        running.finish();
        drop(open);
        assert_eq!(intents.take_open().len(), MAX_OPEN);
    }
}
