//! The threads for heavy computing and file access: threads of their own, or the caller's, so that
//! a simulation on one thread stays deterministic.

/// The place at which blocking work runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Blocking {
    /// On the runtime's blocking threads.
    #[default]
    Threads,
    /// On the thread that polls.
    Inline,
}

impl Blocking {
    /// Runs the work to its end; a panic in it goes on in the caller.
    pub async fn run<T: Send + 'static>(self, work: impl FnOnce() -> T + Send + 'static) -> T {
        match self {
            Self::Inline => work(),
            Self::Threads => match tokio::task::spawn_blocking(work).await {
                Ok(result) => result,
                Err(error) => match error.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    // The runtime is shutting down: nobody waits for the result any more.
                    Err(_) => std::future::pending().await,
                },
            },
        }
    }
}
