//! Reports of a scan: names that can't be synced, and what the disk refuses.

use crate::observe::scan::Scan;
use cairn_model::{Name, Problem, ProblemCode, RelPath};
use cairn_platform::{Entry, FileKind};
use std::io;
use std::path::Path;

/// From more of them in one directory, symbolic links and the like are reported in one line.
const SHOWN_SPECIAL: usize = 3;

impl Scan<'_, '_> {
    /// Returns the name of an entry; one that is not UTF-8 is reported.
    pub(crate) fn readable_name(&mut self, path: &RelPath, entry: &Entry) -> Option<Name> {
        match entry.name.to_str().map(Name::new) {
            Some(Ok(name)) => Some(name),
            Some(Err(_)) | None => {
                self.found.problems.push(Problem {
                    path: display_path(path, &entry.name.to_string_lossy()),
                    code: ProblemCode::Name,
                    message: "the name is not valid UTF-8, so it can't be synced".into(),
                    hint: "rename it; until then it stays where it is".into(),
                });
                None
            }
        }
    }

    /// Reports what the disk refuses at a path.
    pub(crate) fn problem(&mut self, path: &RelPath, error: &io::Error) {
        let (code, hint) = if error.kind() == io::ErrorKind::PermissionDenied {
            (
                ProblemCode::Unreadable,
                "give this user the right to read it; nothing below it is deleted meanwhile",
            )
        } else {
            (
                ProblemCode::Disk,
                "check the disk; nothing below it is deleted meanwhile",
            )
        };
        self.found.problems.push(Problem {
            path: path.to_string(),
            code,
            message: error.to_string(),
            hint: hint.into(),
        });
    }

    /// Reports symbolic links and the like: a few by name, many in one line.
    pub(crate) fn report_special(&mut self, dir: &RelPath, special: Vec<(Name, FileKind)>) {
        const HINT: &str = "nothing to do; add it to .cairnignore to hide this line";
        let code = |kind| match kind {
            FileKind::Symlink => ProblemCode::Symlink,
            FileKind::File | FileKind::Dir | FileKind::Other => ProblemCode::Special,
        };
        if special.len() > SHOWN_SPECIAL
            && let Some((_, kind)) = special.first()
        {
            self.found.problems.push(Problem {
                path: dir.to_string(),
                code: code(*kind),
                message: format!(
                    "{} symbolic links and special files in this folder are skipped",
                    special.len()
                ),
                hint: HINT.into(),
            });
            return;
        }
        for (name, kind) in special {
            let what = match kind {
                FileKind::Symlink => "a symbolic link",
                FileKind::File | FileKind::Dir | FileKind::Other => "no regular file or folder",
            };
            self.found.problems.push(Problem {
                path: dir.join(name).to_string(),
                code: code(kind),
                message: format!("it is {what} and is skipped"),
                hint: HINT.into(),
            });
        }
    }

    /// Reports two names of a directory that compare equal.
    pub(crate) fn name_duplicates(&mut self, path: &RelPath, name: &Name, duplicate: &Name) {
        self.found.problems.push(Problem {
            path: display_path(path, name.as_str()),
            code: ProblemCode::NameClash,
            message: format!(
                "its name reads the same as {:?} beside it, so only one of the two syncs",
                duplicate.as_str()
            ),
            hint: "rename one of them; both stay where they are".into(),
        });
    }
}

fn display_path(dir: &RelPath, name: &str) -> String {
    Path::new(&dir.to_string())
        .join(name)
        .to_string_lossy()
        .into_owned()
}
