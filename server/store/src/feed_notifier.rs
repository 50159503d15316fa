//! Wakes those who wait for a change in a space (the files of an account or team).
//!
//! It carries no changes: a listener reads the feed itself, so a slow one loses nothing and a burst is
//! read in one go.

use parking_lot::Mutex;
use std::collections::HashMap;
use tokio::sync::watch;

/// One channel per space that somebody listens to.
#[derive(Default)]
pub struct FeedNotifier {
    channels: Mutex<Channels>,
}

#[derive(Default)]
struct Channels {
    /// The reports so far, of all spaces: a number stands for one report, also after a channel was made anew.
    reports: u64,
    of_spaces: HashMap<i64, watch::Sender<u64>>,
}

impl FeedNotifier {
    /// Listens to a space. The value is the number of the latest report that may be about it: what is read after a
    /// report has all changes that this and earlier ones were about.
    pub fn listen(&self, space: i64) -> watch::Receiver<u64> {
        let mut channels = self.channels.lock();
        let reports = channels.reports;
        channels
            .of_spaces
            .entry(space)
            .or_insert_with(|| watch::Sender::new(reports))
            .subscribe()
    }

    /// Reports that a space's feed has moved.
    pub(crate) fn notify(&self, space: i64) {
        let mut channels = self.channels.lock();
        channels.reports += 1;
        let reports = channels.reports;
        if let Some(sender) = channels.of_spaces.get(&space)
            && sender.send(reports).is_err()
        {
            channels.of_spaces.remove(&space);
        }
    }

    /// Wakes everybody.
    pub(crate) fn notify_all(&self) {
        let mut channels = self.channels.lock();
        channels.reports += 1;
        let reports = channels.reports;
        channels
            .of_spaces
            .retain(|_, sender| sender.send(reports).is_ok());
    }

    /// Ends all listening.
    pub(crate) fn close_all(&self) {
        self.channels.lock().of_spaces.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_for_one_report_after_everybody_has_left() {
        let notifier = FeedNotifier::default();
        let first = notifier.listen(1);
        notifier.notify(1);
        let before = *first.borrow();
        drop(first);
        // Nobody listens: the channel goes.
        notifier.notify(1);
        let second = notifier.listen(1);
        assert!(*second.borrow() > before);
        notifier.notify(2);
        let unmoved = *second.borrow();
        notifier.notify_all();
        assert!(*second.borrow() > unmoved);
    }
}
