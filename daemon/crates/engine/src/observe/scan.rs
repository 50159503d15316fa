//! One look at the disk, recorded in one transaction.
//!
//! A scan lists directories, compares them with the local tree, and hands what does not match to
//! `matching`, which tells moves from replacements, new files and deletions. A directory that can't
//! be listed keeps everything that is known below it.

#[cfg(test)]
mod tests;

use crate::observe::hash::local_stat;
use crate::observe::rules::{RuleMatch, Rules, TEMP_DIR, TRASH_DIR};
use crate::selection;
use crate::status::Problem;
use cairn_index::{Db, FolderRow, IndexError, LocalRow, LocalStat, Skipped};
use cairn_model::{Kind, LocalId, Name, ProblemCode, RelPath};
use cairn_platform::{Disk, Entry, FileKind, Stat};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};

/// The part of a folder that a scan covers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Scope {
    Whole,
    /// These directories (relative), not what is below them unless it is new.
    Dirs(BTreeSet<RelPath>),
    /// This directory with everything below it.
    Below(RelPath),
}

/// A name on the disk that is not (yet) matched with a row.
pub(crate) struct Fresh {
    pub(crate) parent: Option<LocalId>,
    pub(crate) dir: RelPath,
    pub(crate) name: Name,
    pub(crate) kind: Kind,
    pub(crate) stat: Stat,
}

/// The result of a scan.
#[derive(Debug, Default)]
pub(crate) struct ScanResult {
    /// True if the local tree changed.
    pub(crate) changed: bool,
    pub(crate) problems: Vec<Problem>,
    /// Directories to look at again, because something in them is missing and may only be on its way.
    pub(crate) again: BTreeSet<RelPath>,
    /// Rows whose file is missing since this scan; a later scan that misses them too removes them.
    pub(crate) missing: BTreeSet<LocalId>,
}

/// A scan in progress.
pub(crate) struct Scan<'a, 'b> {
    pub(crate) db: &'a Db<'b>,
    pub(crate) disk: &'a dyn Disk,
    pub(crate) folder: &'a FolderRow,
    pub(crate) root: PathBuf,
    /// With the choice as it is on this disk; it follows a chosen folder that turns up elsewhere.
    pub(crate) rules: Cow<'a, Rules>,
    /// Rows that an earlier scan missed long enough ago to believe it now.
    pub(crate) confirmed_missing: &'a BTreeSet<LocalId>,
    pub(crate) fresh: VecDeque<Fresh>,
    /// Rows whose name is gone or holds another file now.
    pub(crate) gone: BTreeMap<LocalId, (LocalRow, RelPath)>,
    pub(crate) found: ScanResult,
}

/// Scans the disk and records what is there.
///
/// # Errors
/// The index's. What the disk refuses is in the outcome's problems.
pub(crate) fn scan(
    db: &Db<'_>,
    disk: &dyn Disk,
    folder: &FolderRow,
    rules: &Rules,
    scope: &Scope,
    confirmed_missing: &BTreeSet<LocalId>,
) -> Result<ScanResult, IndexError> {
    let rules = selection::local_rules(db, folder, rules)?;
    let mut scan = Scan {
        db,
        disk,
        folder,
        root: PathBuf::from(&folder.root),
        rules,
        confirmed_missing,
        fresh: VecDeque::new(),
        gone: BTreeMap::new(),
        found: ScanResult::default(),
    };
    match scope {
        Scope::Whole => scan.visit(None, &RelPath::root(), true)?,
        Scope::Dirs(dirs) => {
            for dir in dirs {
                scan.visit_nearest(dir, false)?;
            }
        }
        Scope::Below(dir) => scan.visit_nearest(dir, true)?,
    }
    scan.match_entries()?;
    Ok(scan.found)
}

impl Scan<'_, '_> {
    /// Visits a directory, or the nearest one above it that is known (it will find the rest).
    fn visit_nearest(&mut self, dir: &RelPath, deep: bool) -> Result<(), IndexError> {
        let mut path = dir.clone();
        loop {
            if path.is_root() {
                return self.visit(None, &path, deep);
            }
            if let Some(row) = self.db.local_at(self.folder.id, &path)?
                && row.kind == Kind::Folder
                && self.is_same_dir(&row.stat, &path)
            {
                return self.visit(Some(row.id), &path, deep);
            }
            path = path.parent().unwrap_or_default();
        }
    }

    fn is_same_dir(&self, stat: &LocalStat, path: &RelPath) -> bool {
        self.disk
            .stat(&path.to_path(&self.root))
            .is_ok_and(|now| now.kind == FileKind::Dir && local_stat(&now).same_file(stat))
    }

    /// Compares one directory with its rows; `deep`: those below it, too.
    pub(crate) fn visit(
        &mut self,
        dir: Option<LocalId>,
        path: &RelPath,
        deep: bool,
    ) -> Result<(), IndexError> {
        let absolute = path.to_path(&self.root);
        let entries = match self.disk.list(&absolute) {
            Ok(entries) => entries,
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound || path.is_root() {
                    self.problem(path, &error);
                }
                return Ok(());
            }
        };
        let mut rows: BTreeMap<String, LocalRow> = self
            .db
            .children(self.folder.id, dir)?
            .into_iter()
            .map(|row| (row.name.as_str().to_owned(), row))
            .collect();
        let mut keys = BTreeMap::new();
        let mut below = Vec::new();
        for entry in entries {
            let Some(name) = self.readable_name(path, &entry) else {
                continue;
            };
            if dir.is_none() && [TRASH_DIR, TEMP_DIR].contains(&name.as_str()) {
                continue;
            }
            let row = rows.remove(name.as_str());
            if let Some(stay) = self.entry(dir, path, name.clone(), &entry, row)? {
                below.push(stay);
            }
            if let Some(duplicate) = keys.insert(name.key(), name.clone()) {
                self.name_clash(path, &name, &duplicate);
            }
        }
        for row in rows.into_values() {
            self.gone.insert(row.id, (row, path.clone()));
        }
        if deep {
            for (id, name) in below {
                self.visit(Some(id), &path.join(name), true)?;
            }
        }
        Ok(())
    }

    /// One name of a directory. Returns a known directory that is still the same.
    fn entry(
        &mut self,
        dir: Option<LocalId>,
        path: &RelPath,
        name: Name,
        entry: &Entry,
        row: Option<LocalRow>,
    ) -> Result<Option<(LocalId, Name)>, IndexError> {
        let here = path.join(name.clone());
        let stat = match &entry.stat {
            Ok(stat) => *stat,
            Err(error) => {
                self.problem(&here, error);
                if let Some(row) = row {
                    self.hold(row, Skipped::Unreadable)?;
                }
                return Ok(None);
            }
        };
        let kind = match stat.kind {
            FileKind::File => Kind::File,
            FileKind::Dir => Kind::Folder,
            FileKind::Symlink | FileKind::Other => {
                self.skipped(&here, stat.kind);
                if let Some(row) = row {
                    self.hold(row, Skipped::Special)?;
                }
                return Ok(None);
            }
        };
        if matches!(
            self.rules.check(&here, kind == Kind::Folder),
            RuleMatch::Ignored(_)
        ) && !self.is_selected_folder(&here, kind, &stat, row.as_ref())?
        {
            if let Some(row) = row {
                self.hold(row, Skipped::Ignored)?;
            }
            return Ok(None);
        }
        match row {
            Some(row) if row.kind == kind && row.stat.same_file(&local_stat(&stat)) => {
                let id = row.id;
                self.known(row, &stat)?;
                Ok((kind == Kind::Folder).then_some((id, name)))
            }
            other => {
                if let Some(row) = other {
                    self.gone.insert(row.id, (row, path.clone()));
                }
                self.fresh.push_back(Fresh {
                    parent: dir,
                    dir: path.clone(),
                    name,
                    kind,
                    stat,
                });
                Ok(None)
            }
        }
    }

    /// Returns whether an unselected folder takes part all the same. Of two kinds: one that is selected, or above
    /// it, and that a person has renamed; and one that was on the way to what has moved elsewhere.
    fn is_selected_folder(
        &mut self,
        here: &RelPath,
        kind: Kind,
        stat: &Stat,
        row: Option<&LocalRow>,
    ) -> Result<bool, IndexError> {
        if kind != Kind::Folder || !self.rules.is_unchosen(here, true) {
            return Ok(false);
        }
        let stat = local_stat(stat);
        if let Some(row) = row
            && row.kind == kind
            && row.stat.same_file(&stat)
        {
            return Ok(self.db.synced_by_local(row.id)?.is_some());
        }
        for row in self.db.locals_by_file(self.folder.id, &stat)? {
            if row.kind == kind
                && let Some(from) = self.db.local_path(row.id)?
                && !self.is_same_dir(&row.stat, &from)
                && self.rules.to_mut().follow(&from, here)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A row whose file is where it was: record a changed stat.
    pub(crate) fn known(&mut self, row: LocalRow, stat: &Stat) -> Result<(), IndexError> {
        let now = local_stat(stat);
        let executable = row.kind == Kind::File && stat.executable;
        if row.stat == now && row.executable == executable && row.skipped == Skipped::No {
            return Ok(());
        }
        // Skipped until now, or another stat: the hash holds only for the bytes that it was made from.
        let hash = row.hash.filter(|_| row.stat == now);
        self.db.update_local(&LocalRow {
            stat: now,
            executable,
            hash,
            skipped: Skipped::No,
            ..row
        })?;
        self.found.changed = true;
        Ok(())
    }

    fn hold(&mut self, row: LocalRow, skipped: Skipped) -> Result<(), IndexError> {
        if row.skipped != skipped {
            self.db.update_local(&LocalRow { skipped, ..row })?;
            self.found.changed = true;
        }
        Ok(())
    }

    /// Holds a row that is gone from the scan because it is ignored now, not because it was deleted.
    pub(crate) fn hold_if_ignored(
        &mut self,
        row: &LocalRow,
        path: &RelPath,
    ) -> Result<bool, IndexError> {
        let ignored = self.rules.ignores(path, row.kind == Kind::Folder);
        if ignored {
            self.hold(row.clone(), Skipped::Ignored)?;
        }
        Ok(ignored)
    }

    fn readable_name(&mut self, path: &RelPath, entry: &Entry) -> Option<Name> {
        match entry.name.to_str().map(Name::new) {
            Some(Ok(name)) => Some(name),
            Some(Err(_)) | None => {
                self.found.problems.push(Problem {
                    path: shown(path, &entry.name.to_string_lossy()),
                    code: ProblemCode::Name,
                    message: "the name is not valid UTF-8, so it can't be synced".into(),
                    hint: "rename it; until then it stays where it is".into(),
                });
                None
            }
        }
    }

    fn problem(&mut self, path: &RelPath, error: &io::Error) {
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

    fn skipped(&mut self, path: &RelPath, kind: FileKind) {
        let what = if kind == FileKind::Symlink {
            "a symbolic link"
        } else {
            "no regular file or folder"
        };
        self.found.problems.push(Problem {
            path: path.to_string(),
            code: if kind == FileKind::Symlink {
                ProblemCode::Symlink
            } else {
                ProblemCode::Special
            },
            message: format!("it is {what} and is skipped"),
            hint: "nothing to do; add it to .cairnignore to hide this line".into(),
        });
    }

    fn name_clash(&mut self, path: &RelPath, name: &Name, duplicate: &Name) {
        self.found.problems.push(Problem {
            path: shown(path, name.as_str()),
            code: ProblemCode::NameClash,
            message: format!(
                "its name reads the same as {:?} beside it, so only one of the two syncs",
                duplicate.as_str()
            ),
            hint: "rename one of them; both stay where they are".into(),
        });
    }
}

fn shown(dir: &RelPath, name: &str) -> String {
    Path::new(&dir.to_string())
        .join(name)
        .to_string_lossy()
        .into_owned()
}
