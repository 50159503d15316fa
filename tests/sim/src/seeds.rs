//! The seeds that a test runs, which the environment can choose.

use std::ops::Range;

/// Returns a variable of the environment, if it is set.
#[must_use]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns the seeds to run: that of `CAIRN_SIM_SEED`, those of `CAIRN_SIM_SEEDS` (`N` or `A..B`), or so many as is
/// usual.
///
/// # Panics
/// If a variable holds no number.
#[must_use]
pub fn seeds(default: u64) -> Range<u64> {
    let number = |text: &str| text.parse::<u64>().expect("a number");
    if let Some(one) = variable("CAIRN_SIM_SEED") {
        return number(&one)..number(&one) + 1;
    }
    match variable("CAIRN_SIM_SEEDS") {
        Some(seeds) => match seeds.split_once("..") {
            Some((first, end)) => number(first)..number(end),
            None => 0..number(&seeds),
        },
        None => 0..default,
    }
}
