//! Counts failed logins, so that passwords can't be guessed by trying.

use crate::error::{Error, Result};
use parking_lot::Mutex;
use std::collections::HashMap;

/// Wrong passwords for one account from one network within the window, before it has to wait.
pub(super) const MAX_FAILURES: u32 = 10;
/// Wrong passwords for one account from everywhere. Far more than for one network, because whoever
/// reaches it keeps the account's owner out.
pub(super) const MAX_FAILURES_EVERYWHERE: u32 = 200;
const WINDOW_MS: i64 = 15 * 60 * 1000;
/// Addresses remembered; beyond that, old windows are forgotten.
const REMEMBERED: usize = 10_000;

/// Failed logins by account, and by account and network: their number, and the time of the first.
#[derive(Default)]
pub(crate) struct Throttle(Mutex<HashMap<String, (u32, i64)>>);

impl Throttle {
    /// Refuses a subject that has to wait.
    ///
    /// # Errors
    /// [`Error::RateLimited`] for a subject with `most` failures.
    pub(super) fn check(&self, subject: &str, most: u32, now: i64) -> Result<()> {
        let failures = self.0.lock();
        match failures.get(subject) {
            Some((count, since)) if *count >= most && now - since < WINDOW_MS => {
                let left = (WINDOW_MS - (now - since)).unsigned_abs().div_ceil(1000);
                Err(Error::RateLimited {
                    endpoint: "the login".into(),
                    retry_after: left,
                })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Counts a failure.
    pub(super) fn failed(&self, email: &str, now: i64) {
        let mut failures = self.0.lock();
        if failures.len() >= REMEMBERED {
            failures.retain(|_, (_, since)| now - *since < WINDOW_MS);
        }
        let entry = failures.entry(email.to_owned()).or_insert((0, now));
        if now - entry.1 >= WINDOW_MS {
            *entry = (0, now);
        }
        entry.0 += 1;
    }

    /// Forgets all failures.
    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }

    /// Forgets the failures of one subject.
    pub(super) fn succeeded(&self, email: &str) {
        self.0.lock().remove(email);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_failures_make_an_address_wait_until_the_window_ends() {
        let throttle = Throttle::default();
        for _ in 0..MAX_FAILURES {
            throttle.check("a", MAX_FAILURES, 1_000).unwrap();
            throttle.failed("a", 1_000);
        }
        assert!(matches!(
            throttle.check("a", MAX_FAILURES, 2_000),
            Err(Error::RateLimited {
                retry_after: 899,
                ..
            })
        ));
        throttle.check("b", MAX_FAILURES, 2_000).unwrap();
        throttle
            .check("a", MAX_FAILURES, 1_000 + WINDOW_MS)
            .unwrap();
        throttle.failed("a", 1_000 + WINDOW_MS);
        throttle
            .check("a", MAX_FAILURES, 1_000 + WINDOW_MS)
            .unwrap();
        throttle.succeeded("a");
        assert!(throttle.0.lock().is_empty());
    }

    #[test]
    fn failures_elsewhere_keep_nobody_out_until_there_are_very_many() {
        let throttle = Throttle::default();
        for _ in 0..MAX_FAILURES {
            throttle.failed("a 192.0.2.xxx", 1_000);
            throttle.failed("a", 1_000);
        }
        assert!(
            throttle
                .check("a 192.0.2.xxx", MAX_FAILURES, 1_000)
                .is_err()
        );
        throttle
            .check("a 198.51.100.xxx", MAX_FAILURES, 1_000)
            .unwrap();
        throttle.check("a", MAX_FAILURES_EVERYWHERE, 1_000).unwrap();
    }
}
