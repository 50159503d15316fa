//! The results of steps that are carried out together: each has one of its own.

use crate::error::EngineError;
use std::iter;

pub(crate) type StepResult = Result<(), EngineError>;

/// Each task with what a stage has made of it.
pub(super) type Stage<T, P> = Vec<(T, Result<P, EngineError>)>;

/// The results of a batch so far: each task with its own, in the order in which they became known.
pub(super) struct BatchResults<T>(Vec<(T, StepResult)>);

impl<T> BatchResults<T> {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    /// Records the result of a task.
    pub(super) fn set(&mut self, task: T, result: StepResult) {
        self.0.push((task, result));
    }

    /// Records the failures of a stage, and returns the tasks that go on with what the stage has made.
    pub(super) fn proceed<P>(
        &mut self,
        stage: impl IntoIterator<Item = (T, Result<P, EngineError>)>,
    ) -> Vec<(T, P)> {
        let mut going_on = Vec::new();
        for (task, result) in stage {
            match result {
                Ok(made) => going_on.push((task, made)),
                Err(error) => self.set(task, Err(error)),
            }
        }
        going_on
    }

    /// Records that the index failed tasks that it was to record together. The first has the error, so that it is
    /// reported once.
    pub(super) fn fail_unrecorded(
        &mut self,
        tasks: impl IntoIterator<Item = T>,
        error: impl Into<EngineError>,
    ) {
        let errors = iter::once(error.into()).chain(iter::repeat_with(|| EngineError::NotRecorded));
        let failed = tasks.into_iter().zip(errors);
        self.0
            .extend(failed.map(|(task, error)| (task, Err(error))));
    }

    pub(super) fn into_vec(self) -> Vec<(T, StepResult)> {
        self.0
    }
}

impl<T> Extend<(T, StepResult)> for BatchResults<T> {
    fn extend<I: IntoIterator<Item = (T, StepResult)>>(&mut self, results: I) {
        self.0.extend(results);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_index::IndexError;

    #[test]
    fn each_task_keeps_the_result_of_the_stage_at_which_it_failed() {
        let mut results = BatchResults::new();
        let first = [("a", Ok(1)), ("b", Err(EngineError::Stale)), ("c", Ok(3))];
        let going_on = results.proceed(first);
        assert_eq!(going_on, [("a", 1), ("c", 3)]);
        let second = going_on.into_iter().map(|(task, n)| match n {
            1 => (task, Err(EngineError::NotRecorded)),
            n => (task, Ok(n)),
        });
        let done = results.proceed(second);
        results.extend(done.into_iter().map(|(task, _)| (task, Ok(()))));
        let all = results.into_vec();
        assert!(matches!(
            all[..],
            [
                ("b", Err(EngineError::Stale)),
                ("a", Err(EngineError::NotRecorded)),
                ("c", Ok(()))
            ]
        ));
    }

    #[test]
    fn an_error_of_the_record_is_reported_once() {
        let mut results = BatchResults::new();
        results.fail_unrecorded(["a", "b", "c"], IndexError::DiskFull);
        let all = results.into_vec();
        assert!(matches!(
            all[..],
            [
                ("a", Err(EngineError::Index(IndexError::DiskFull))),
                ("b", Err(EngineError::NotRecorded)),
                ("c", Err(EngineError::NotRecorded))
            ]
        ));
    }
}
