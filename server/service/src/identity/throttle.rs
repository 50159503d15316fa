//! Counts failed logins, so that passwords can't be guessed by trying.

use crate::error::{Error, Result};
use cairn_store::Store;
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;

/// Wrong passwords for one account from one network within the window, before it has to wait.
pub(super) const MAX_FAILURES: u32 = 10;
/// Wrong passwords for one account from everywhere. Far more than for one network, because whoever
/// reaches it keeps the account's owner out.
pub(super) const MAX_FAILURES_EVERYWHERE: u32 = 200;
/// Wrong passwords from one network for whatever addresses, so that nobody tries one password for many accounts.
/// A network may be a whole company.
pub(super) const MAX_FAILURES_OF_NETWORK: u32 = 100;
/// The time for which a failure counts.
pub(crate) const WINDOW_MS: i64 = 15 * 60 * 1000;
/// Subjects remembered: more than passwords can be checked within the window. Beyond that the oldest
/// is forgotten.
const REMEMBERED: usize = 100_000;

/// The hash of an account's address, or of it and a network: what people type can be of any length.
type Subject = [u8; 32];

fn subject(text: &str) -> Subject {
    Sha256::digest(text).into()
}

/// The failures of one subject.
#[derive(Clone, Copy)]
struct Failures {
    count: u32,
    /// The time of the first.
    since: i64,
}

impl Failures {
    /// # Errors
    /// [`Error::RateLimited`] for as many as `most` within the window.
    fn check(self, most: u32, now: i64) -> Result<()> {
        if self.count < most || self.is_over(now) {
            return Ok(());
        }
        let left = WINDOW_MS - (now - self.since);
        Err(Error::RateLimited {
            endpoint: "the login".into(),
            retry_after: left.unsigned_abs().div_ceil(1000),
        })
    }

    fn is_over(self, now: i64) -> bool {
        now - self.since >= WINDOW_MS
    }
}

/// Failed logins by account, by network, and by both. Servers that share a database count there.
#[derive(Default)]
pub(crate) struct Throttle(Mutex<HashMap<Subject, Failures>>);

impl Throttle {
    /// Refuses a subject that has to wait.
    ///
    /// # Errors
    /// [`Error::RateLimited`] for a subject with `most` failures.
    pub(super) fn check(&self, store: &Store, who: &str, most: u32, now: i64) -> Result<()> {
        if !store.is_shared() {
            return check(&self.0.lock(), who, most, now);
        }
        let found = store.login_failures(&subject(who))?;
        found.map_or(Ok(()), |(count, since)| {
            Failures { count, since }.check(most, now)
        })
    }

    /// Refuses a subject that has to wait, and counts the attempt that it makes as a failure until it turns out
    /// well. Returns the number of failures, this one included.
    ///
    /// # Errors
    /// As [`Throttle::check`].
    pub(super) fn begin_attempt(
        &self,
        store: &Store,
        who: &str,
        most: u32,
        now: i64,
    ) -> Result<u32> {
        if !store.is_shared() {
            let mut all = self.0.lock();
            check(&all, who, most, now)?;
            return Ok(count(&mut all, who, now));
        }
        loop {
            let since = now - WINDOW_MS;
            if let Some(count) = store.count_login_failure(&subject(who), now, since, most)? {
                return Ok(count);
            }
            // Fails, unless somebody else's attempt has turned out well meanwhile.
            self.check(store, who, most, now)?;
        }
    }

    /// Counts a failure.
    ///
    /// # Errors
    /// A database that fails.
    pub(super) fn count_failure(&self, store: &Store, who: &str, now: i64) -> Result<()> {
        if store.is_shared() {
            store.count_login_failure(&subject(who), now, now - WINDOW_MS, u32::MAX)?;
        } else {
            count(&mut self.0.lock(), who, now);
        }
        Ok(())
    }

    /// Forgets all failures in memory.
    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }

    /// Forgets the failures of one subject.
    ///
    /// # Errors
    /// A database that fails.
    pub(crate) fn forget_failures(&self, store: &Store, who: &str) -> Result<()> {
        if store.is_shared() {
            store.forget_login_failures(&subject(who))?;
        } else {
            self.0.lock().remove(&subject(who));
        }
        Ok(())
    }
}

fn check(all: &HashMap<Subject, Failures>, who: &str, most: u32, now: i64) -> Result<()> {
    all.get(&subject(who))
        .map_or(Ok(()), |failures| failures.check(most, now))
}

/// Counts a failure, and returns how many there are.
fn count(all: &mut HashMap<Subject, Failures>, who: &str, now: i64) -> u32 {
    let subject = subject(who);
    if all.len() >= REMEMBERED && !all.contains_key(&subject) {
        all.retain(|_, failures| !failures.is_over(now));
        make_room(all);
    }
    let new = Failures {
        count: 0,
        since: now,
    };
    let failures = all.entry(subject).or_insert(new);
    if failures.is_over(now) {
        *failures = new;
    }
    failures.count += 1;
    failures.count
}

/// Forgets the oldest until one more has room.
fn make_room(all: &mut HashMap<Subject, Failures>) {
    while all.len() >= REMEMBERED {
        let oldest = all.iter().min_by_key(|(_, failures)| failures.since);
        let Some(oldest) = oldest.map(|(subject, _)| *subject) else {
            return;
        };
        all.remove(&oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_store::{Clock, Source};
    use std::sync::Arc;

    fn store() -> Store {
        Store::open(None, Arc::new(Source::new(Clock::System, None))).unwrap()
    }

    #[test]
    fn ten_failures_make_an_address_wait_until_the_window_ends() {
        let (store, throttle) = (store(), Throttle::default());
        for _ in 0..MAX_FAILURES {
            throttle.check(&store, "a", MAX_FAILURES, 1_000).unwrap();
            throttle.count_failure(&store, "a", 1_000).unwrap();
        }
        assert!(matches!(
            throttle.check(&store, "a", MAX_FAILURES, 2_000),
            Err(Error::RateLimited {
                retry_after: 899,
                ..
            })
        ));
        throttle.check(&store, "b", MAX_FAILURES, 2_000).unwrap();
        throttle
            .check(&store, "a", MAX_FAILURES, 1_000 + WINDOW_MS)
            .unwrap();
        throttle
            .count_failure(&store, "a", 1_000 + WINDOW_MS)
            .unwrap();
        throttle
            .check(&store, "a", MAX_FAILURES, 1_000 + WINDOW_MS)
            .unwrap();
        throttle.forget_failures(&store, "a").unwrap();
        assert!(throttle.0.lock().is_empty());
    }

    #[test]
    fn failures_elsewhere_keep_nobody_out_until_there_are_very_many() {
        let (store, throttle) = (store(), Throttle::default());
        for _ in 0..MAX_FAILURES {
            throttle
                .count_failure(&store, "a 192.0.2.xxx", 1_000)
                .unwrap();
            throttle.count_failure(&store, "a", 1_000).unwrap();
        }
        assert!(
            throttle
                .check(&store, "a 192.0.2.xxx", MAX_FAILURES, 1_000)
                .is_err()
        );
        throttle
            .check(&store, "a 198.51.100.xxx", MAX_FAILURES, 1_000)
            .unwrap();
        throttle
            .check(&store, "a", MAX_FAILURES_EVERYWHERE, 1_000)
            .unwrap();
    }

    #[test]
    fn a_network_waits_after_failures_for_many_accounts_and_another_does_not() {
        let (store, throttle) = (store(), Throttle::default());
        for _ in 0..MAX_FAILURES_OF_NETWORK {
            throttle
                .count_failure(&store, "\nnetwork 192.0.2.xxx", 1_000)
                .unwrap();
        }
        let check = |who, now| throttle.check(&store, who, MAX_FAILURES_OF_NETWORK, now);
        assert!(check("\nnetwork 192.0.2.xxx", 1_000).is_err());
        check("\nnetwork 198.51.100.xxx", 1_000).unwrap();
        check("\nnetwork 192.0.2.xxx", 1_000 + WINDOW_MS).unwrap();
    }

    #[test]
    fn an_attempt_counts_until_it_turns_out_well() {
        let (store, throttle) = (store(), Throttle::default());
        for count in 1..=MAX_FAILURES {
            assert_eq!(
                throttle
                    .begin_attempt(&store, "a", MAX_FAILURES, 1_000)
                    .unwrap(),
                count
            );
        }
        assert!(
            throttle
                .begin_attempt(&store, "a", MAX_FAILURES, 1_000)
                .is_err()
        );
        let later = 1_000 + WINDOW_MS;
        assert_eq!(
            throttle
                .begin_attempt(&store, "a", MAX_FAILURES, later)
                .unwrap(),
            1
        );
        throttle.forget_failures(&store, "a").unwrap();
        assert_eq!(
            throttle
                .begin_attempt(&store, "a", MAX_FAILURES, later)
                .unwrap(),
            1
        );
    }

    #[test]
    fn the_memory_of_failures_is_bounded() {
        let (store, throttle) = (store(), Throttle::default());
        throttle.count_failure(&store, "first", 999).unwrap();
        for i in 0..=REMEMBERED {
            throttle
                .count_failure(&store, &i.to_string(), 1_000)
                .unwrap();
        }
        assert_eq!(throttle.0.lock().len(), REMEMBERED);
        throttle.check(&store, "first", 1, 1_000).unwrap();
        assert!(
            throttle
                .check(&store, &REMEMBERED.to_string(), 1, 1_000)
                .is_err()
        );
    }
}
