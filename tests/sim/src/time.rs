//! Simulated time, passed on purpose. The runtime's clock is paused: nothing here waits for the machine's.

use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The interval between two checks of a condition.
const STEP: Duration = Duration::from_millis(100);

/// Runs a simulation to its end in one thread, with the clock paused: time passes where everybody waits.
///
/// # Panics
/// If the machine has no runtime for it.
pub fn simulate<T>(simulation: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime")
        .block_on(simulation)
}

/// Lets simulated time pass.
pub async fn pass(time: Duration) {
    sleep(time).await;
}

/// Lets simulated time pass until a condition holds; returns whether it did within the time given.
pub async fn until(condition: impl Fn() -> bool, within: Duration) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < within {
        if condition() {
            return true;
        }
        sleep(STEP).await;
    }
    false
}
