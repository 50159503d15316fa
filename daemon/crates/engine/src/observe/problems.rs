//! Reports of a scan: names that can't be synced, and what the disk refuses.

use crate::observe::scan::Scan;
use crate::observe::unsynced::name_of_row;
use cairn_index::{IndexError, LocalRow};
use cairn_model::{LocalId, Name, Problem, ProblemCause, ProblemValues, RelPath};
use cairn_platform::{Entry, FileKind};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// From more of them in one directory, symbolic links and the like are reported in one line.
const SHOWN_SPECIAL: usize = 3;

impl Scan<'_, '_> {
    /// Returns the name of an entry; one that is not UTF-8 is reported. If a row stands for such an entry, because it
    /// keeps its folder here, it is taken out of the `rows` of the directory that are looked for.
    pub(crate) fn readable_name(
        &mut self,
        path: &RelPath,
        entry: &Entry,
        rows: &mut BTreeMap<String, LocalRow>,
    ) -> Option<Name> {
        match entry.name.to_str().map(Name::new) {
            Some(Ok(name)) => Some(name),
            Some(Err(_)) | None => {
                if let Some(name) = name_of_row(&entry.name) {
                    rows.remove(name.as_str());
                }
                self.found.problems.push(Problem::new(
                    display_path(path, &entry.name.to_string_lossy()),
                    ProblemCause::NameNotText,
                    "the name is not valid UTF-8, so it can't be synced",
                    "rename it; until then it stays where it is",
                ));
                None
            }
        }
    }

    /// Reports what the disk refuses at a path.
    pub(crate) fn problem(&mut self, path: &RelPath, error: &io::Error) {
        let (cause, hint) = if error.kind() == io::ErrorKind::PermissionDenied {
            (
                ProblemCause::Unreadable,
                "give this user the right to read it; nothing below it is deleted meanwhile",
            )
        } else {
            (
                ProblemCause::Disk,
                "check the disk; nothing below it is deleted meanwhile",
            )
        };
        let problem = Problem::new(path.to_string(), cause, error.to_string(), hint);
        // No more is to be said of a missing right.
        let problem = if cause == ProblemCause::Disk {
            problem.with(ProblemValues::of_detail(error.to_string()))
        } else {
            problem
        };
        self.found.problems.push(problem);
    }

    /// Reports symbolic links and the like: a few by name, many in one line.
    pub(crate) fn report_special(&mut self, dir: &RelPath, special: Vec<(Name, FileKind)>) {
        const HINT: &str = "nothing to do; add it to .cairnignore to hide this line";
        let cause = |kind| match kind {
            FileKind::Symlink => ProblemCause::Symlink,
            FileKind::File | FileKind::Dir | FileKind::Other => ProblemCause::Special,
        };
        if special.len() > SHOWN_SPECIAL
            && let Some((_, kind)) = special.first()
        {
            let number = special.len();
            self.found.problems.push(Problem::new(
                dir.to_string(),
                cause(*kind),
                format!("{number} symbolic links and special files in this folder are skipped"),
                HINT,
            ));
            return;
        }
        for (name, kind) in special {
            let what = match kind {
                FileKind::Symlink => "a symbolic link",
                FileKind::File | FileKind::Dir | FileKind::Other => "no regular file or folder",
            };
            self.found.problems.push(Problem::new(
                dir.join(name).to_string(),
                cause(kind),
                format!("it is {what} and is skipped"),
                HINT,
            ));
        }
    }

    /// Reports the one of two names of a directory that compare equal that isn't synced: of two new ones, the later.
    pub(crate) fn name_duplicates(
        &mut self,
        path: &RelPath,
        later: (Name, Option<LocalId>),
        earlier: (Name, Option<LocalId>),
    ) -> Result<(), IndexError> {
        let is_synced = match later.1 {
            Some(local) => self.db.synced_by_local(local)?.is_some(),
            None => false,
        };
        let (name, duplicate) = match is_synced {
            true => (earlier.0, later.0),
            false => (later.0, earlier.0),
        };
        let problem = Problem::new(
            display_path(path, name.as_str()),
            ProblemCause::NameReadsSame,
            format!(
                "its name reads the same as {:?} beside it, so only one of the two syncs",
                duplicate.as_str()
            ),
            "rename one of them; both stay where they are",
        );
        let values = ProblemValues::of_name(duplicate.as_str());
        self.found.problems.push(problem.with(values));
        Ok(())
    }
}

fn display_path(dir: &RelPath, name: &str) -> String {
    Path::new(&dir.to_string())
        .join(name)
        .to_string_lossy()
        .into_owned()
}
