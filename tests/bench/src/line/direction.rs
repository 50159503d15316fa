//! One direction of a line: what is lost, and when the rest arrives.

use super::Quality;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::time::{Duration, Instant};

/// The longest that a packet waits before it goes out: what waits longer has no room in the queue.
const QUEUE: Duration = Duration::from_millis(100);

/// The state of one direction.
pub(super) struct Direction {
    quality: Quality,
    random: ChaCha8Rng,
    /// The time at which the last packet has left completely.
    free: Option<Instant>,
}

impl Direction {
    pub(super) fn new(quality: Quality, seed: u64) -> Self {
        Self {
            quality,
            random: ChaCha8Rng::seed_from_u64(seed),
            free: None,
        }
    }

    /// Returns when a packet arrives that is sent now; nothing if it is lost.
    pub(super) fn arrival(&mut self, now: Instant, bytes: usize) -> Option<Instant> {
        if self.random.random_range(0.0..1.0) < self.quality.loss {
            return None;
        }
        let begin = self.free.map_or(now, |free| free.max(now));
        if begin.duration_since(now) > QUEUE {
            return None;
        }
        let sending = Duration::from_secs_f64(bytes as f64 * 8.0 / self.quality.bits_per_second);
        let left = begin + sending;
        self.free = Some(left);
        Some(left + self.quality.round_trip / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quality(loss: f64) -> Quality {
        Quality {
            round_trip: Duration::from_millis(100),
            loss,
            bits_per_second: 12e6,
        }
    }

    #[test]
    fn packets_take_half_the_round_trip_and_follow_one_another() {
        let (mut line, now) = (Direction::new(quality(0.0), 1), Instant::now());
        let mut after = || line.arrival(now, 1500).unwrap() - now;
        assert_eq!(after(), Duration::from_millis(51));
        assert_eq!(after(), Duration::from_millis(52));
    }

    #[test]
    fn what_finds_the_queue_full_is_lost() {
        let (mut line, now) = (Direction::new(quality(0.0), 1), Instant::now());
        let came = (0..1000).filter(|_| line.arrival(now, 1500).is_some());
        assert_eq!(came.count(), 101);
        let later = now + Duration::from_millis(50);
        assert!(line.arrival(later, 1500).is_some());
    }

    #[test]
    fn the_named_part_of_the_packets_is_lost() {
        let (mut line, start) = (Direction::new(quality(0.01), 7), Instant::now());
        let lost = (0..100_000).filter(|n| {
            let now = start + Duration::from_millis(2 * n);
            line.arrival(now, 1500).is_none()
        });
        let lost = lost.count();
        assert!((850..1150).contains(&lost), "{lost} of 100,000");
    }
}
