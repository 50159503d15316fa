//! Waiting for a condition: the only place of the harness that looks at a clock.
//!
//! Everything that a test waits for is asked for here until it holds; no test sleeps.

use anyhow::{Result, bail};
use std::thread;
use std::time::{Duration, Instant};

/// The time limit of a condition that depends on a sync (the scenarios allow 120 s).
pub const SYNC: Duration = Duration::from_secs(120);
/// The time limit for a process to start or to end.
pub const PROCESS: Duration = Duration::from_secs(30);
/// Between two looks: far below what a person or a test notices.
const STEP: Duration = Duration::from_millis(10);

/// Polls until the probe gives a value.
///
/// # Errors
/// The probe's own error at once, or the name of the condition when the limit has passed.
pub fn until<T>(
    what: &str,
    limit: Duration,
    mut probe: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    let start = Instant::now();
    loop {
        if let Some(value) = probe()? {
            return Ok(value);
        }
        if start.elapsed() > limit {
            bail!("waited {limit:?} in vain: {what}");
        }
        thread::sleep(STEP);
    }
}

/// Polls until the condition holds.
///
/// # Errors
/// As [`until`].
pub fn holds(
    what: &str,
    limit: Duration,
    mut condition: impl FnMut() -> Result<bool>,
) -> Result<()> {
    until(what, limit, || Ok(condition()?.then_some(())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_that_never_holds_is_named_in_the_error() {
        let error =
            holds("the moon is cheese", Duration::from_millis(1), || Ok(false)).unwrap_err();
        assert!(error.to_string().contains("the moon is cheese"));
    }

    #[test]
    fn a_probe_is_asked_until_it_answers() {
        let mut left = 3;
        let value = until("three looks", PROCESS, || {
            left -= 1;
            Ok((left == 0).then_some("there"))
        });
        assert_eq!(value.unwrap(), "there");
    }
}
