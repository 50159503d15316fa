//! Calls with a time limit to services of the desktop, which may never return.

use std::sync::mpsc;
use std::time::Duration;

/// Runs `work` on a thread of its own and waits at most `timeout` for its result; the thread is left
/// behind when it takes longer. Returns `None` then, and also where no thread can be started.
///
/// The thread lets a blocking client work inside an async runtime too.
pub(crate) fn run_with_timeout<T: Send + 'static>(
    timeout: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    std::thread::Builder::new()
        .name("desktop".to_owned())
        .spawn(move || {
            // Nobody receives any more if the result comes too late.
            let _ = sender.send(work());
        })
        .ok()?;
    receiver.recv_timeout(timeout).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_never_returns_is_given_up() {
        let (sender, receiver) = mpsc::channel::<()>();
        let result = run_with_timeout(Duration::from_millis(1), move || receiver.recv().is_ok());
        assert_eq!(result, None);
        drop(sender);
        assert_eq!(run_with_timeout(Duration::from_secs(60), || 7), Some(7));
    }
}
