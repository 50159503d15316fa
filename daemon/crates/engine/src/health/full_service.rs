//! A service that has no room: uploads wait for the next try, and everything else goes on.

use super::Health;
use cairn_model::{BackOff, spread};
use std::time::Duration;
use tokio::time::Instant;

/// The pauses after uploads that the service had no room for.
const PAUSES: BackOff = BackOff {
    first: Duration::from_secs(5),
    most: Duration::from_secs(120),
};

/// The pause after an upload for which there was no room.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoRoom {
    pub(super) until: Instant,
    tries: u32,
}

impl Health {
    /// Lets all uploads wait: the service had no room for one. Those that run and end the same make it no longer.
    pub(crate) fn hold_uploads(&mut self) {
        if self.holds_uploads() {
            return;
        }
        let tries = self.no_room.map_or(0, |no_room| no_room.tries) + 1;
        // Not the same on all devices.
        let random = (self.seed % 1024) as f64 / 1024.0;
        self.no_room = Some(NoRoom {
            until: Instant::now() + spread(PAUSES.after(tries), random),
            tries,
        });
    }

    /// Returns whether uploads wait because the service had no room.
    pub(crate) fn holds_uploads(&self) -> bool {
        self.no_room
            .is_some_and(|no_room| no_room.until > Instant::now())
    }

    /// Records that the service has taken an upload.
    pub(crate) fn record_room(&mut self) {
        self.no_room = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::FolderId;

    #[tokio::test(start_paused = true)]
    async fn uploads_wait_longer_after_each_try_until_one_is_taken() {
        let mut health = Health::new(7);
        assert!(!health.holds_uploads());
        let begin = Instant::now();
        let next_try = |health: &Health| health.next_try(FolderId(1), Instant::now());
        health.hold_uploads();
        let until = next_try(&health).unwrap();
        health.hold_uploads();
        assert_eq!(next_try(&health), Some(until), "they failed together");
        tokio::time::advance(until - begin).await;
        assert!(!health.holds_uploads(), "one is tried again");
        assert_eq!(next_try(&health), None);
        health.hold_uploads();
        assert!(next_try(&health).unwrap() - Instant::now() > until - begin);
        health.try_again();
        assert!(!health.holds_uploads(), "a person asked for it");
        health.hold_uploads();
        health.record_room();
        assert!(!health.holds_uploads());
    }
}
