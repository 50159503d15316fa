//! The problems of a folder: all of them, or grouped by their cause.

use super::Health;
use crate::full_disk::FullDisk;
use crate::key::Key;
use crate::status::ProblemGroup;
use cairn_model::{FolderId, Problem, ProblemCause, ProblemCode, ProblemValues};
use std::collections::{BTreeMap, BTreeSet};

/// The detail of a full disk on which bytes are free.
const NO_MORE_FILES: &str = "it has no room for more files, however small they are";

/// A problem, and the bytes of the file that waits because of it.
type Waiting<'a> = (&'a Problem, u64);

/// Code, cause and advice, which the problems of a group have in common.
type Shared<'a> = (ProblemCode, ProblemCause, &'a str);

impl Health {
    /// Records why a parked file doesn't fit on the disk.
    pub(crate) fn set_full(&mut self, folder: FolderId, key: Key, full: FullDisk) {
        let Some(parked) = self.parked.get_mut(&(folder, key)) else {
            return;
        };
        match full {
            FullDisk::Bytes { wanted, free } => {
                parked.bytes = wanted;
                self.free.insert(folder, free);
            }
            FullDisk::Files => {
                let values = ProblemValues::of_detail(NO_MORE_FILES.to_owned());
                parked.problem = parked.problem.clone().with(values);
                self.free.remove(&folder);
            }
        }
    }

    /// Returns whether something of a folder waits because it didn't fit on the disk.
    pub(crate) fn is_disk_full(&self, folder: FolderId) -> bool {
        let mut parked = self.parked.iter().filter(|((of, _), _)| *of == folder);
        parked.any(|(_, parked)| parked.problem.code == ProblemCode::DiskFull)
    }

    /// Returns the bytes that a folder's disk had free when something didn't fit last.
    pub(crate) fn free_bytes(&self, folder: FolderId) -> Option<u64> {
        self.free.get(&folder).copied()
    }

    /// Returns all problems of a folder, in order.
    pub(crate) fn problems(&self, folder: FolderId) -> Vec<Problem> {
        let all: BTreeSet<&Problem> = self.all(folder).map(|(problem, _)| problem).collect();
        all.into_iter().cloned().collect()
    }

    /// Returns the problems of a folder by cause, in the order of their first ones, with at most `examples` each.
    pub(crate) fn groups(&self, folder: FolderId, examples: usize) -> Vec<ProblemGroup> {
        let mut groups: BTreeMap<Shared<'_>, (u64, BTreeSet<&Problem>, u64)> = BTreeMap::new();
        for (problem, bytes) in self.all(folder) {
            let key = (problem.code, problem.cause, problem.hint.as_str());
            let (count, first, sum) = groups.entry(key).or_default();
            // The scan and a step may report the same.
            if !first.insert(problem) {
                continue;
            }
            *count += 1;
            *sum += bytes;
            if first.len() > examples {
                first.pop_last();
            }
        }
        let mut groups: Vec<_> = groups
            .into_iter()
            .map(
                |((code, cause, hint), (count, first, bytes))| ProblemGroup {
                    code,
                    cause,
                    hint: hint.to_owned(),
                    count,
                    bytes,
                    examples: first.into_iter().cloned().collect(),
                },
            )
            .collect();
        groups.sort_by(|one, other| one.examples.cmp(&other.examples));
        groups
    }

    fn all(&self, folder: FolderId) -> impl Iterator<Item = Waiting<'_>> {
        let of_folder = self
            .folders
            .iter()
            .filter(move |((of, _), _)| *of == folder)
            .map(|(_, problem)| problem);
        let scanned = self
            .scanned
            .get(&folder)
            .into_iter()
            .flat_map(BTreeMap::values);
        let refused = self
            .refused
            .iter()
            .filter(move |((_, of), _)| *of == folder)
            .map(|(_, problem)| problem);
        let blocked_places = self
            .blocked_places
            .iter()
            .filter(move |((of, _), _)| *of == folder)
            .map(|(_, problem)| problem);
        let parked = self
            .parked
            .iter()
            .filter(move |((of, _), parked)| *of == folder && parked.is_reported)
            .map(|(_, parked)| (&parked.problem, parked.bytes));
        of_folder
            .chain(scanned)
            .chain(refused)
            .chain(blocked_places)
            .map(|problem| (problem, 0))
            .chain(parked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::EngineError;
    use crate::health::RetryHint;
    use cairn_model::LocalId;
    use std::io;

    const FOLDER: FolderId = FolderId(1);

    fn park_full(health: &mut Health, number: i64) {
        let error = EngineError::Disk(io::Error::new(
            io::ErrorKind::StorageFull,
            "can't write to /home/a/.cairn-tmp/1-2: No space left on device (os error 28)",
        ));
        let key = Key::Local(LocalId(number));
        health.park(
            FOLDER,
            key,
            format!("f{number:05}"),
            &error,
            RetryHint::Later,
        );
        let full = FullDisk::Bytes {
            wanted: 10,
            free: 7,
        };
        health.set_full(FOLDER, key, full);
    }

    #[test]
    fn thousands_of_one_cause_are_a_number_and_examples() {
        let mut health = Health::default();
        for number in 0..14_881 {
            park_full(&mut health, number);
        }
        let denied = EngineError::Disk(io::ErrorKind::PermissionDenied.into());
        let key = Key::Local(LocalId(-1));
        health.park(FOLDER, key, "a".into(), &denied, RetryHint::Later);
        let groups = health.groups(FOLDER, 5);
        let shown: Vec<_> = groups
            .iter()
            .map(|group| (group.code, group.count, group.bytes, group.examples.len()))
            .collect();
        assert_eq!(
            shown,
            [
                (ProblemCode::Unreadable, 1, 0, 1),
                (ProblemCode::DiskFull, 14_881, 148_810, 5)
            ]
        );
        let paths: Vec<_> = groups[1].examples.iter().map(|p| &*p.path).collect();
        assert_eq!(paths, ["f00000", "f00001", "f00002", "f00003", "f00004"]);
        assert_eq!(health.free_bytes(FOLDER), Some(7));
        assert_eq!(health.problems(FOLDER).len(), 14_882);
    }

    #[test]
    fn a_full_disk_is_reported_without_temporary_files_and_numbers_of_errors() {
        let mut health = Health::default();
        park_full(&mut health, 1);
        let message = &health.problems(FOLDER)[0].message;
        assert_eq!(message, "there is no room for it on this disk");
    }

    #[test]
    fn a_disk_without_room_for_more_files_shows_no_free_bytes() {
        let mut health = Health::default();
        park_full(&mut health, 1);
        let key = Key::Local(LocalId(2));
        let full = EngineError::Disk(io::ErrorKind::StorageFull.into());
        health.park(FOLDER, key, "f".into(), &full, RetryHint::Later);
        health.set_full(FOLDER, key, FullDisk::Files);
        assert_eq!(health.free_bytes(FOLDER), None);
        let detail = health.problems(FOLDER)[0].values.detail.clone();
        assert_eq!(detail.as_deref(), Some(NO_MORE_FILES));
    }
}
