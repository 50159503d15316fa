//! Changes that calls are about to make, noted before they are made. A response can be lost and a call cancelled while
//! the service carries the change out: what was noted is looked at later, and what took place goes into the journal.

use parking_lot::Mutex;
use std::any::Any;
use std::sync::Arc;

/// A noted change; its type is known to whoever notes it and looks at it later.
type Change = Arc<dyn Any + Send + Sync>;

/// The changes of which nobody knows yet whether they took place.
#[derive(Default)]
pub(crate) struct Intents(Mutex<Pendings>);

#[derive(Default)]
struct Pendings {
    next: u64,
    /// Oldest first.
    all: Vec<Pending>,
}

struct Pending {
    number: u64,
    change: Change,
    is_running: bool,
}

impl Intents {
    /// Notes what a call is about to change.
    pub(crate) fn begin<T: Send + Sync + 'static>(&self, change: T) -> Intent<'_> {
        let change: Change = Arc::new(change);
        let mut pendings = self.0.lock();
        let number = pendings.next;
        pendings.next += 1;
        pendings.all.push(Pending {
            number,
            change: change.clone(),
            is_running: true,
        });
        Intent {
            intents: self,
            number,
            change,
        }
    }

    /// Takes the changes whose calls have ended without a result, oldest first, for finding out what became of them.
    pub(crate) fn take_open(&self) -> Vec<Intent<'_>> {
        let mut pendings = self.0.lock();
        let open = pendings.all.iter_mut().filter(|one| !one.is_running);
        let taken = open.map(|pending| {
            pending.is_running = true;
            Intent {
                intents: self,
                number: pending.number,
                change: pending.change.clone(),
            }
        });
        taken.collect()
    }
}

/// The change of a call that runs, or one that is looked at. Dropped without an end, it stays open.
pub(crate) struct Intent<'a> {
    intents: &'a Intents,
    number: u64,
    change: Change,
}

impl Intent<'_> {
    /// Returns the noted change.
    pub(crate) fn change<T: 'static>(&self) -> Option<&T> {
        self.change.downcast_ref()
    }

    /// Notes that the outcome of the call is known.
    pub(crate) fn finish(self) {
        // The lock is free again before this is dropped.
        let number = self.number;
        self.intents.0.lock().all.retain(|one| one.number != number);
    }
}

impl Drop for Intent<'_> {
    fn drop(&mut self) {
        let mut pendings = self.intents.0.lock();
        let mut all = pendings.all.iter_mut();
        if let Some(own) = all.find(|one| one.number == self.number) {
            own.is_running = false;
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
}
