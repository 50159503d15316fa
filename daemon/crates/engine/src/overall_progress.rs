//! The progress of all transfers together: the part that is done of what is known, the speed, the time left.
//!
//! Pure: computes from counts and times.

use crate::status::OverallProgress;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;

/// The speed is measured over this time.
const WINDOW: Duration = Duration::from_secs(10);
/// Two counts that are closer say nothing about the speed.
const SPACING: Duration = Duration::from_millis(250);
/// The overhead of a file, whatever its size, as the number of bytes that take the same time.
const BYTES_A_FILE: u64 = 64 * 1024;

/// Files and the bytes in them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Amount {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

impl Amount {
    pub(crate) fn add(&mut self, other: Self) {
        self.files += other.files;
        self.bytes += other.bytes;
    }

    /// Returns the time that the transfer takes, as the number of bytes that take as long.
    fn cost(self) -> u64 {
        self.bytes + self.files * BYTES_A_FILE
    }
}

/// The counts of files and bytes at one time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TransferCounts {
    /// Finished since the engine started.
    pub(crate) finished: Amount,
    /// Queued and running ones.
    pub(crate) left: Amount,
    /// Something is being done, or is about to be.
    pub(crate) active: bool,
}

/// One burst of transfers, from idle to idle.
struct Run {
    /// Finished before.
    before: Amount,
    done: Amount,
    fraction: f64,
    samples: VecDeque<(Instant, Amount)>,
}

#[derive(Default)]
pub(crate) struct ProgressMeter {
    run: Option<Run>,
}

impl ProgressMeter {
    /// Takes the counts at a time; `moving` are the bytes that running transfers have done.
    pub(crate) fn observe(
        &mut self,
        now: Instant,
        counts: &TransferCounts,
        moving: u64,
    ) -> Option<OverallProgress> {
        if counts.left.files == 0 {
            if !counts.active {
                self.run = None;
            }
            return None;
        }
        let run = self.run.get_or_insert_with(|| Run {
            before: counts.finished,
            done: Amount::default(),
            fraction: 0.0,
            samples: VecDeque::new(),
        });
        Some(run.observe(now, counts, moving))
    }
}

impl Run {
    fn observe(&mut self, now: Instant, counts: &TransferCounts, moving: u64) -> OverallProgress {
        let finished = Amount {
            files: counts.finished.files.saturating_sub(self.before.files),
            bytes: counts.finished.bytes.saturating_sub(self.before.bytes),
        };
        let moving = moving.min(counts.left.bytes);
        // What a transfer that failed had done is done again; the figure waits for it.
        self.done.files = self.done.files.max(finished.files);
        self.done.bytes = self.done.bytes.max(finished.bytes + moving);
        let left = Amount {
            files: counts.left.files,
            bytes: (finished.bytes + counts.left.bytes).saturating_sub(self.done.bytes),
        };
        let total = Amount {
            files: self.done.files + left.files,
            bytes: self.done.bytes + left.bytes,
        };
        let fraction = self.done.cost() as f64 / total.cost().max(1) as f64;
        self.fraction = self.fraction.max(fraction);
        let (speed, cost_rate) = self.rates(now);
        OverallProgress {
            files_done: self.done.files,
            files_total: total.files,
            bytes_done: self.done.bytes,
            bytes_total: total.bytes,
            fraction: self.fraction,
            speed,
            time_left: (cost_rate > 0.0).then(|| left.cost() as f64 / cost_rate),
        }
    }

    /// Returns the bytes a second, and the cost a second, over the last seconds.
    fn rates(&mut self, now: Instant) -> (f64, f64) {
        let last = self.samples.back();
        if last.is_none_or(|(at, _)| now.duration_since(*at) >= SPACING) {
            self.samples.push_back((now, self.done));
        }
        while self
            .samples
            .front()
            .is_some_and(|(at, _)| now.duration_since(*at) > WINDOW)
        {
            self.samples.pop_front();
        }
        let Some((since, first)) = self.samples.front() else {
            return (0.0, 0.0);
        };
        let seconds = now.duration_since(*since).as_secs_f64();
        if seconds < SPACING.as_secs_f64() {
            return (0.0, 0.0);
        }
        let a_second = |done: u64, before: u64| done.saturating_sub(before) as f64 / seconds;
        (
            a_second(self.done.bytes, first.bytes),
            a_second(self.done.cost(), first.cost()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(files: u64, bytes: u64) -> Amount {
        Amount { files, bytes }
    }

    fn counts(finished: Amount, left: Amount) -> TransferCounts {
        TransferCounts {
            finished,
            left,
            active: true,
        }
    }

    #[test]
    fn the_part_that_is_done_never_falls() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut meter = ProgressMeter::default();
        let mut seen = Vec::new();
        // An earlier run finished 3 files. Then 100 files of 1 MB; in the middle 400 more are found; one
        // transfer fails and begins again.
        for (second, finished, left, moving) in [
            (0, 0, 100, 0),
            (1, 10, 90, 500_000),
            (2, 50, 50, 0),
            (3, 60, 440, 900_000),
            (4, 60, 440, 0),
            (5, 400, 100, 0),
            (6, 499, 1, 0),
        ] {
            let finished = amount(3 + finished, 1_000_000 * (3 + finished));
            let left = amount(left, 1_000_000 * left);
            let progress = meter.observe(at(second), &counts(finished, left), moving);
            seen.push(progress.unwrap());
        }
        for pair in seen.windows(2) {
            assert!(pair[0].fraction <= pair[1].fraction, "{seen:#?}");
            assert!(pair[0].files_done <= pair[1].files_done, "{seen:#?}");
            assert!(pair[0].bytes_done <= pair[1].bytes_done, "{seen:#?}");
        }
        assert_eq!((seen[1].files_done, seen[1].files_total), (10, 100));
        assert_eq!(seen[1].bytes_done, 10_500_000);
        assert_eq!((seen[3].files_done, seen[3].files_total), (60, 500));
        let last = seen[6];
        assert_eq!((last.files_done, last.files_total), (499, 500));
        assert!(last.fraction > 0.99 && last.fraction < 1.0);
    }

    #[test]
    fn speed_and_time_left_are_those_of_the_last_seconds() {
        let begin = Instant::now();
        let mut meter = ProgressMeter::default();
        let mut last = None;
        // A minute without progress, then a megabyte a second.
        for second in 0..80u64 {
            let done = second.saturating_sub(60) * 1_000_000;
            let now = counts(amount(0, 0), amount(1, 100_000_000));
            last = meter.observe(begin + Duration::from_secs(second), &now, done);
        }
        let last = last.unwrap();
        assert!((last.speed - 1_000_000.0).abs() < 1.0, "{last:?}");
        let left = last.time_left.unwrap();
        assert!((left - 81.0).abs() < 1.0, "{last:?}");
    }

    #[test]
    fn work_after_a_rest_is_counted_anew() {
        let now = Instant::now();
        let mut meter = ProgressMeter::default();
        meter.observe(now, &counts(amount(0, 0), amount(10, 100)), 0);
        let pause = counts(amount(10, 100), Amount::default());
        assert_eq!(meter.observe(now, &pause, 0), None);
        // Between two plans, so it goes on.
        let more = meter.observe(now, &counts(amount(10, 100), amount(10, 100)), 0);
        assert_eq!(more.unwrap().files_total, 20);
        let rest = TransferCounts {
            active: false,
            ..counts(amount(20, 200), Amount::default())
        };
        assert_eq!(meter.observe(now, &rest, 0), None);
        let anew = meter.observe(now, &counts(amount(20, 200), amount(5, 50)), 0);
        assert_eq!(
            (anew.unwrap().files_done, anew.unwrap().files_total),
            (0, 5)
        );
    }
}
