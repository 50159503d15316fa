//! Several tasks that travel in one request: each has an outcome of its own, and keeps its place.

use crate::error::EngineError;

pub(super) type StepResult = Result<(), EngineError>;

/// One task of a batch: its index, what was found out about it, and how far it has come.
pub(super) struct Part<R, T> {
    pub(super) at: usize,
    pub(super) ready: R,
    pub(super) what: T,
}

/// The outcomes of a batch, in the order of its tasks.
pub(super) struct Outcomes(Vec<Option<StepResult>>);

impl Outcomes {
    /// Looks at each task again; those that are not ready have their outcome.
    pub(super) fn of<T, R>(
        tasks: &[T],
        ready: impl Fn(&T) -> Result<R, EngineError>,
    ) -> (Self, Vec<(usize, R)>) {
        let mut outcomes = Self(tasks.iter().map(|_| None).collect());
        let mut prepared = Vec::new();
        for (at, task) in tasks.iter().enumerate() {
            match ready(task) {
                Ok(ready) => prepared.push((at, ready)),
                Err(error) => outcomes.set(at, Err(error)),
            }
        }
        (outcomes, prepared)
    }

    /// Records the outcome of a task.
    pub(super) fn set(&mut self, at: usize, outcome: StepResult) {
        self.0[at] = Some(outcome);
    }

    /// Returns the parts that have come on; the others have their outcome.
    pub(super) fn keep<R, T>(
        &mut self,
        tried: Vec<(usize, R, Result<T, EngineError>)>,
    ) -> Vec<Part<R, T>> {
        let mut parts = Vec::with_capacity(tried.len());
        for (at, ready, what) in tried {
            match what {
                Ok(what) => parts.push(Part { at, ready, what }),
                Err(error) => self.set(at, Err(error)),
            }
        }
        parts
    }

    /// Returns all outcomes; a task without one was left out of the reply.
    pub(super) fn into_vec(self) -> Vec<StepResult> {
        let short = || Err(EngineError::ShortBatch);
        self.0
            .into_iter()
            .map(|outcome| outcome.unwrap_or_else(short))
            .collect()
    }
}
