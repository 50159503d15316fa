//! Requests that this server has taken from shared buckets in advance, so that not each of them costs a statement.
//!
//! A requester that asks slowly is counted one by one. One that asks again and again gets twice as many in advance each
//! time, up to a sixteenth of what is left in the bucket. Requests that are not used within a second are lost for it,
//! until the bucket has filled up again: all servers together never let through more than the limit.

use super::Key;
use parking_lot::Mutex;
use std::collections::HashMap;

/// Requests in advance at most.
const MOST: u32 = 64;
/// The part of a bucket that is taken at once at most, as a divisor of what is left in it.
const SHARE: u32 = 16;
/// The time for which they may be used, in milliseconds.
const KEPT_MS: i64 = 1_000;
/// Allotments that are kept before those whose time is over are forgotten.
const SWEEP_THRESHOLD: usize = 10_000;

/// Requests of one bucket that were taken in advance.
#[derive(Clone, Copy)]
struct Allotment {
    until_ms: i64,
    taken: u32,
    unused: u32,
    /// Requests that are left in the bucket.
    remaining: u32,
}

/// The allotments of this server, by bucket.
#[derive(Default)]
pub(super) struct Allotments(Mutex<HashMap<Key, Allotment>>);

/// The way in which one request is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Lets it through, since it was taken in advance; so many more would be.
    Admitted { remaining: u32 },
    /// Takes so many requests from the bucket.
    Take(u32),
}

impl Allotments {
    pub(super) fn next(&self, key: &Key, now_ms: i64) -> Next {
        let mut all = self.0.lock();
        let Some(allotment) = all.get_mut(key).filter(|one| now_ms < one.until_ms) else {
            return Next::Take(1);
        };
        if let Some(unused) = allotment.unused.checked_sub(1) {
            allotment.unused = unused;
            let remaining = allotment.remaining + unused;
            return Next::Admitted { remaining };
        }
        let share = allotment.remaining / SHARE;
        Next::Take((allotment.taken * 2).min(share).clamp(1, MOST))
    }

    /// Notes requests that were taken from a bucket, of which one is let through now; returns how many more would be.
    pub(super) fn note(&self, key: Key, now_ms: i64, taken: u32, remaining: u32) -> u32 {
        let mut all = self.0.lock();
        if all.len() >= SWEEP_THRESHOLD {
            all.retain(|_, one| now_ms < one.until_ms);
        }
        let unused = taken.saturating_sub(1);
        let allotment = Allotment {
            until_ms: now_ms + KEPT_MS,
            taken,
            unused,
            remaining,
        };
        all.insert(key, allotment);
        remaining + unused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = [1; 16];

    /// Takes from a bucket that holds `remaining`, and returns how many times that was needed for some requests.
    fn takes(all: &Allotments, remaining: &mut u32, requests: u32, step_ms: i64) -> u32 {
        let mut takes = 0;
        for number in 0..requests {
            let now = i64::from(number) * step_ms;
            if let Next::Take(count) = all.next(&KEY, now) {
                takes += 1;
                *remaining -= count;
                all.note(KEY, now, count, *remaining);
            }
        }
        takes
    }

    #[test]
    fn who_asks_often_is_counted_by_the_dozen_and_who_asks_seldom_one_by_one() {
        let mut remaining = 100_000;
        assert!(takes(&Allotments::default(), &mut remaining, 6_400, 0) < 110);
        assert!((93_536..=93_600).contains(&remaining), "{remaining}");
        let mut remaining = 1_000;
        assert_eq!(takes(&Allotments::default(), &mut remaining, 10, 1_000), 10);
        assert_eq!(remaining, 990);
    }

    #[test]
    fn a_bucket_that_is_nearly_empty_is_counted_exactly() {
        let all = Allotments::default();
        for left in (0..16).rev() {
            assert_eq!(all.next(&KEY, 0), Next::Take(1));
            assert_eq!(all.note(KEY, 0, 1, left), left);
        }
    }

    #[test]
    fn the_remaining_requests_are_those_of_the_bucket_and_those_in_advance() {
        let all = Allotments::default();
        assert_eq!(all.note(KEY, 0, 1, 999), 999);
        assert_eq!(all.next(&KEY, 1), Next::Take(2));
        assert_eq!(all.note(KEY, 1, 2, 997), 998);
        assert_eq!(all.next(&KEY, 2), Next::Admitted { remaining: 997 });
        // What was not used in time is lost.
        all.note(KEY, 2, 4, 993);
        assert_eq!(all.next(&KEY, 1_002), Next::Take(1));
    }
}
