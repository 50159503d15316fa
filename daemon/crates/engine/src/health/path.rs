//! The problems of one path.

use super::{FolderPart, Health};
use cairn_model::{FolderId, Problem};
use std::time::Duration;
use tokio::time::Instant;

/// The problem of a path, and the next try.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PathProblem {
    pub(crate) problem: Problem,
    /// Failed tries in a row; 0 where nothing was tried.
    pub(crate) tries: u32,
    /// Time until it is tried again.
    pub(crate) next_try: Option<Duration>,
}

impl Health {
    /// Returns the problem of a folder as a whole that keeps everything in it from syncing.
    pub(crate) fn of_folder(&self, folder: FolderId) -> Option<&Problem> {
        [FolderPart::Root, FolderPart::Remote]
            .into_iter()
            .find_map(|part| self.folders.get(&(folder, part)))
    }

    /// Returns the problem of exactly this path, also one that the status does not show yet.
    pub(crate) fn of_path(&self, folder: FolderId, path: &str) -> Option<PathProblem> {
        let parked = self
            .parked
            .iter()
            .find(|((of, _), parked)| *of == folder && parked.problem.path == path);
        if let Some((_, parked)) = parked {
            return Some(PathProblem {
                problem: parked.problem.clone(),
                tries: parked.tries,
                next_try: Some(parked.until.saturating_duration_since(Instant::now())),
            });
        }
        let refused = self
            .refused
            .iter()
            .find(|((_, of), problem)| *of == folder && problem.path == path);
        let blocked = || {
            let mut places = self.blocked_places.iter();
            places.find(|((of, _), problem)| *of == folder && problem.path == path)
        };
        let scanned = || self.scanned.get(&folder)?.get(path);
        let problem = refused
            .map(|(_, problem)| problem)
            .or_else(|| blocked().map(|(_, problem)| problem))
            .or_else(scanned)?;
        Some(PathProblem {
            problem: problem.clone(),
            tries: 0,
            next_try: None,
        })
    }

    /// Returns the number of problems below a path, as the status shows them.
    pub(crate) fn count_below(&self, folder: FolderId, path: &str) -> u64 {
        let below = |problem: &Problem| match path {
            "" => !problem.path.is_empty(),
            _ => problem
                .path
                .strip_prefix(path)
                .is_some_and(|rest| rest.starts_with('/')),
        };
        self.problems(folder).iter().filter(|p| below(p)).count() as u64
    }
}
