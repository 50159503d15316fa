//! Asks services of the desktop that may never answer.

use std::sync::mpsc;
use std::time::Duration;

/// Runs `work` on a thread of its own and waits at most `patience` for its result; the thread is left
/// behind when it takes longer. `None` also where no thread can be started.
///
/// A thread of its own, so that a blocking client works from inside an async runtime too.
pub(crate) fn within<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    std::thread::Builder::new()
        .name("desktop".to_owned())
        .spawn(move || {
            // Nobody receives any more where the answer came too late.
            let _ = sender.send(work());
        })
        .ok()?;
    receiver.recv_timeout(patience).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_never_comes_is_given_up_on() {
        let (hold, held) = mpsc::channel::<()>();
        let answer = within(Duration::from_millis(1), move || held.recv().is_ok());
        assert_eq!(answer, None);
        drop(hold);
        assert_eq!(within(Duration::from_secs(60), || 7), Some(7));
    }
}
