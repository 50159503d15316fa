//! Steps that are tried before their pauses are over, because what they failed for may have gone.
//!
//! Such a try is made at once; if it fails, the next one waits after it, longer each time: a file that nobody may read,
//! and that is written twenty times a second, is not tried twenty times a second.

use super::{Parked, RetryHint};
use crate::health::Health;
use crate::key::Key;
use cairn_model::{BackOff, FolderId, ProblemCode};
use std::time::Duration;
use tokio::time::Instant;

/// The least time from a failure to the next hurried try, by the number of those that have failed.
const SPACING: BackOff = BackOff {
    first: Duration::from_secs(1),
    most: Duration::from_secs(60),
};

/// A failure for which a step waits.
pub(crate) struct Failure<'a> {
    pub(crate) key: Key,
    pub(crate) path: &'a str,
    pub(crate) code: ProblemCode,
    /// Bytes of the file, where they matter.
    pub(crate) bytes: u64,
    /// The next tries are likely to end the same, unless something changes.
    pub(crate) is_lasting: bool,
}

impl Health {
    /// Returns whether anything of a folder waits after a failure that may be tried sooner.
    pub(crate) fn has_failures(&self, folder: FolderId) -> bool {
        self.parked_of(folder)
            .any(|parked| parked.can_be_hurried(Instant::now()))
    }

    /// Lets what waits in a folder be tried soon where `is_concerned` says that something about its failure has changed.
    /// Returns whether there is any of which the try was not due yet.
    pub(crate) fn hurry(
        &mut self,
        folder: FolderId,
        is_concerned: impl Fn(&Failure<'_>) -> bool,
    ) -> bool {
        let now = Instant::now();
        let mut any = false;
        let parked = self.parked.iter_mut();
        for ((_, key), parked) in parked.filter(|((of, _), _)| *of == folder) {
            if !parked.can_be_hurried(now) || !is_concerned(&parked.failure(*key)) {
                continue;
            }
            let earliest = parked.failed_at + SPACING.after(parked.hurries);
            parked.until = parked.until.min(earliest.max(now));
            // What it fails for next may be something else: its pauses begin anew, unless this happens all the time.
            parked.tries = parked.tries.min(parked.hurries + 1);
            parked.is_hurried = true;
            any = true;
        }
        any
    }
}

impl Parked {
    /// Returns whether it waits, and nothing new has shortened that yet. A file of which a copy was sent waits because it
    /// changes, so nothing of that is new.
    fn can_be_hurried(&self, now: Instant) -> bool {
        self.until > now && !self.is_hurried && !self.is_cooling_down
    }

    fn failure(&self, key: Key) -> Failure<'_> {
        Failure {
            key,
            path: &self.problem.path,
            code: self.problem.code,
            bytes: self.bytes,
            is_lasting: self.retry == RetryHint::Later,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::EngineError;
    use cairn_model::LocalId;

    const FOLDER: FolderId = FolderId(1);
    const FILE: Key = Key::Local(LocalId(1));

    fn fail(health: &mut Health) {
        let denied = EngineError::Disk(std::io::ErrorKind::PermissionDenied.into());
        health.park(FOLDER, FILE, "f".into(), &denied, RetryHint::Later);
    }

    #[tokio::test(start_paused = true)]
    async fn what_may_succeed_now_is_tried_at_once_and_nothing_else_is() {
        let mut health = Health::default();
        for _ in 0..10 {
            fail(&mut health);
        }
        tokio::time::advance(Duration::from_secs(10)).await;
        assert!(!health.hurry(FOLDER, |_| false));
        assert!(!health.hurry(FolderId(2), |_| true));
        assert!(health.is_parked(FOLDER, FILE) && health.tries(FOLDER, FILE) == 10);
        assert!(health.hurry(FOLDER, |failure| failure.path == "f"));
        assert!(!health.is_parked(FOLDER, FILE));
        assert!(!health.hurry(FOLDER, |_| true), "it is tried anyway");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_hinted_all_the_time_is_tried_less_and_less_often() {
        let mut health = Health::default();
        fail(&mut health);
        let mut tries = 0;
        // Ten minutes, with twenty hints a second.
        for _ in 0..12_000 {
            tokio::time::advance(Duration::from_millis(50)).await;
            health.hurry(FOLDER, |_| true);
            if !health.is_parked(FOLDER, FILE) {
                tries += 1;
                fail(&mut health);
            }
        }
        assert!((10..40).contains(&tries), "{tries}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_of_which_a_copy_was_sent_waits_though_it_changes() {
        let mut health = Health::default();
        fail(&mut health);
        health.back_off_after_copy(FOLDER, FILE, 1_000_000_000);
        assert!(!health.hurry(FOLDER, |_| true));
        assert!(health.is_parked(FOLDER, FILE));
    }
}
