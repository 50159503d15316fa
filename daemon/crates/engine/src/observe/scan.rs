//! A scan of the disk, recorded in one transaction.
//!
//! It lists directories, compares them with the local tree (the rows of the last scan), and hands what does not
//! match to `matching`, which distinguishes moves, replacements, new files and deletions. A directory that
//! can't be listed keeps everything that is known below it.
//!
//! Of many new directories one scan looks into a part, so that no transaction is long; the rest are rows that take no
//! part in syncing until further scans have looked into them.

mod rows;
#[cfg(test)]
mod tests;

use crate::observe::hash::local_stat;
use crate::observe::mounts::FileSystem;
use crate::observe::rules::{RuleMatch, Rules, TEMP_DIR, TRASH_DIR};
use crate::observe::unsettled::{Earlier, UnsettledFile};
use crate::selection;
use cairn_index::{Db, FolderRow, IndexError, LocalRow, LocalStat, Skipped};
use cairn_model::{FolderId, Kind, LocalId, Name, Problem, RelPath};
use cairn_platform::{Disk, Entry, FileKind, Stat};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::path::PathBuf;

/// The part of a folder that a scan covers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Scope {
    Whole,
    /// These directories (relative), and below them what is new or for which there was a hint ("something may have
    /// changed here") of the watcher: a hint for a directory covers everything in it.
    Dirs(Hinted),
    /// One directory with everything below it.
    Below(RelPath),
}

/// Directories with the names in them for which the watcher gave hints.
pub(crate) type Hinted = BTreeMap<RelPath, BTreeSet<Name>>;

/// A name on the disk that is not (yet) matched with a row.
pub(crate) struct Fresh {
    pub(crate) parent: Option<LocalId>,
    pub(crate) dir: RelPath,
    pub(crate) name: Name,
    pub(crate) kind: Kind,
    pub(crate) stat: Stat,
    /// Another file system is mounted there.
    pub(crate) is_mount: bool,
}

impl Fresh {
    pub(crate) fn path(&self) -> RelPath {
        self.dir.join(self.name.clone())
    }
}

/// A directory that stands where its row, as it was before this scan, says.
struct KnownDir {
    row: LocalRow,
    stat: Stat,
}

/// A directory that is being compared.
pub(crate) struct Directory<'a> {
    id: Option<LocalId>,
    path: &'a RelPath,
    pub(crate) file_system: FileSystem,
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
    /// The rules with the rules files as the scan found them, if those below the root have changed.
    pub(crate) rules: Option<Rules>,
    /// Directories whose rules file is gone from this disk and counts on, because the service still has it.
    pub(crate) outliving_rules: BTreeSet<RelPath>,
    /// New directories that are left to the next scan.
    pub(crate) unscanned: BTreeSet<RelPath>,
    /// Files that are recorded when a later scan finds them as they are.
    pub(crate) unsettled: BTreeMap<RelPath, UnsettledFile>,
    /// Names in other pairs of files that have changed.
    pub(crate) elsewhere: BTreeSet<(FolderId, RelPath)>,
}

/// A scan in progress.
pub(crate) struct Scan<'a, 'b> {
    pub(crate) db: &'a Db<'b>,
    pub(crate) disk: &'a dyn Disk,
    pub(crate) folder: &'a FolderRow,
    pub(crate) root: PathBuf,
    /// With the selection at its paths on this disk; it follows a selected folder that was moved.
    pub(crate) rules: Cow<'a, Rules>,
    /// A rules file below the root is another one than was known.
    pub(crate) rules_changed: bool,
    pub(crate) earlier: &'a Earlier,
    /// The number of new names after which new directories are left to the next scan.
    pub(crate) room: usize,
    pub(crate) fresh: VecDeque<Fresh>,
    /// Rows whose name is gone or holds another file now.
    pub(crate) gone: BTreeMap<LocalId, (LocalRow, RelPath)>,
    /// Directories on which another file system is mounted.
    pub(crate) mounts: BTreeSet<LocalId>,
    /// Rows that no scan has looked at while a folder above them was left out.
    pub(crate) left_out: BTreeSet<LocalId>,
    /// New and changed files that may have other names, by their identities.
    pub(crate) several_names: BTreeMap<(u64, u64, Option<i64>), Stat>,
    pub(crate) found: ScanResult,
}

/// Scans the disk and records what is there. After `most_new` new files and directories, further new directories are
/// left to the next scan.
///
/// # Errors
/// Returns the error of the index. Refusals of the disk are among the result's problems.
pub(crate) fn scan(
    db: &Db<'_>,
    disk: &dyn Disk,
    folder: &FolderRow,
    rules: &Rules,
    scope: &Scope,
    earlier: &Earlier,
    most_new: usize,
) -> Result<ScanResult, IndexError> {
    let rules = selection::local_rules(db, folder, rules)?;
    let mut scan = Scan {
        db,
        disk,
        folder,
        root: PathBuf::from(&folder.root),
        rules,
        rules_changed: false,
        earlier,
        // At least one, so that each scan gets on.
        room: most_new.max(1),
        fresh: VecDeque::new(),
        gone: BTreeMap::new(),
        mounts: db.mounts()?,
        left_out: BTreeSet::new(),
        several_names: BTreeMap::new(),
        found: ScanResult::default(),
    };
    match scope {
        Scope::Whole => scan.visit_root(Depth::All)?,
        Scope::Dirs(dirs) => {
            for (dir, names) in dirs {
                scan.visit_nearest(dir, Depth::Names(names))?;
            }
        }
        Scope::Below(dir) => scan.visit_nearest(dir, Depth::All)?,
    }
    scan.match_entries()?;
    scan.look_at_other_names()?;
    if !matches!(scope, Scope::Below(_)) {
        scan.forget_rules_of_gone_dirs()?;
    }
    let mut found = scan.found;
    if scan.rules_changed {
        found.rules = Some(scan.rules.into_owned());
    }
    Ok(found)
}

/// The known directories below a visited one that are visited, too.
#[derive(Clone, Copy)]
pub(crate) enum Depth<'a> {
    All,
    Names(&'a BTreeSet<Name>),
}

impl Depth<'_> {
    fn includes(self, name: &Name) -> bool {
        match self {
            Self::All => true,
            Self::Names(names) => names.contains(name),
        }
    }
}

impl Scan<'_, '_> {
    /// Visits a directory, or the nearest one above it that is known (it will find the rest).
    fn visit_nearest(&mut self, dir: &RelPath, depth: Depth<'_>) -> Result<(), IndexError> {
        let mut path = dir.clone();
        loop {
            if path.is_root() {
                return self.visit_root(depth);
            }
            if let Some(row) = self.db.local_at(self.folder.id, &path)?
                && row.kind == Kind::Folder
                && let Some(stat) = self.hinted_dir(&row.stat, &path)
            {
                if row.skipped == Skipped::Unscanned {
                    return self.look_into(&row, &stat, &path);
                }
                return self.visit(Some(row.id), &path, FileSystem::of(Some(&stat)), depth);
            }
            path = path.parent().unwrap_or_default();
        }
    }

    fn visit_root(&mut self, depth: Depth<'_>) -> Result<(), IndexError> {
        let stat = self.disk.stat(&self.root);
        let file_system = FileSystem::of(stat.as_ref().ok());
        self.visit(None, &RelPath::root(), file_system, depth)
    }

    /// Returns the stat of what lies at a path if it is the directory that a row describes.
    fn same_dir(&self, known: &LocalStat, path: &RelPath) -> Option<Stat> {
        let found = self.disk.stat(&path.to_path(&self.root)).ok();
        found.filter(|now| now.kind == FileKind::Dir && local_stat(now).same_file(known))
    }

    /// Returns the same as [`Self::same_dir`], and reports a directory that the disk refuses: what the hint was about is
    /// still to be found.
    fn hinted_dir(&mut self, known: &LocalStat, path: &RelPath) -> Option<Stat> {
        match self.disk.stat(&path.to_path(&self.root)) {
            Ok(now) if now.kind == FileKind::Dir && local_stat(&now).same_file(known) => Some(now),
            Ok(_) => None,
            Err(error) => {
                let is_gone = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
                if !is_gone.contains(&error.kind()) {
                    self.problem(path, &error);
                }
                None
            }
        }
    }

    /// Compares one directory with its rows, and those below it as far as `depth` says.
    pub(crate) fn visit(
        &mut self,
        dir: Option<LocalId>,
        path: &RelPath,
        file_system: FileSystem,
        depth: Depth<'_>,
    ) -> Result<(), IndexError> {
        let Some(entries) = self.list(path) else {
            return Ok(());
        };
        if self.leave_out_home(dir, &entries)? {
            return Ok(());
        }
        let depth = self.depth_by_rules(path, &entries, depth)?;
        let at = Directory {
            id: dir,
            path,
            file_system,
        };
        let mut special = Vec::new();
        let mut rows = self.rows_by_name(dir)?;
        let mut keys = BTreeMap::new();
        let mut below = Vec::new();
        for entry in entries {
            let Some(name) = self.readable_name(path, &entry, &mut rows) else {
                continue;
            };
            if dir.is_none() && [TRASH_DIR, TEMP_DIR].contains(&name.as_str()) {
                continue;
            }
            let row = rows.remove(name.as_str());
            let known = row.as_ref().map(|row| row.id);
            if let Some(stay) = self.entry(&at, name.clone(), &entry, row, &mut special)? {
                below.push(stay);
            }
            if let Some(other) = keys.insert(name.key(), (name.clone(), known)) {
                self.name_duplicates(path, (name, known), other)?;
            }
        }
        let was_left_out = dir.is_some_and(|dir| self.left_out.contains(&dir));
        if was_left_out {
            self.left_out.extend(rows.values().map(|row| row.id));
        }
        let gone = rows.into_values().map(|row| (row.id, (row, path.clone())));
        self.gone.extend(gone);
        self.report_special(path, special);
        for KnownDir { row, stat } in below {
            if was_left_out {
                self.left_out.insert(row.id);
            }
            if row.skipped == Skipped::Unscanned {
                self.look_into(&row, &stat, &path.join(row.name.clone()))?;
            } else if depth.includes(&row.name) {
                let inside = path.join(row.name);
                let file_system = FileSystem::of(Some(&stat));
                self.visit(Some(row.id), &inside, file_system, Depth::All)?;
            }
        }
        Ok(())
    }

    /// Looks into a directory that an earlier scan has left, unless this one leaves it, too.
    fn look_into(&mut self, row: &LocalRow, stat: &Stat, path: &RelPath) -> Result<(), IndexError> {
        if self.leaves_to_next(path) {
            return Ok(());
        }
        self.update_known_row(row, stat, path)?;
        self.visit(Some(row.id), path, FileSystem::of(Some(stat)), Depth::All)
    }

    /// Lists a directory; one that can't be listed is reported, but for one that has gone.
    fn list(&mut self, path: &RelPath) -> Option<Vec<Entry>> {
        match self.disk.list(&path.to_path(&self.root)) {
            Ok(entries) => Some(entries),
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound || path.is_root() {
                    self.problem(path, &error);
                }
                None
            }
        }
    }

    fn rows_by_name(&self, dir: Option<LocalId>) -> Result<BTreeMap<String, LocalRow>, IndexError> {
        let rows = self.db.children(self.folder.id, dir)?.into_iter();
        Ok(rows
            .map(|row| (row.name.as_str().to_owned(), row))
            .collect())
    }

    /// Leaves a new directory to the next scan if this one has found much that is new. While something is missing,
    /// everything is looked into: it may have been moved there.
    pub(crate) fn leaves_to_next(&mut self, dir: &RelPath) -> bool {
        let is_left = self.room == 0 && self.gone.is_empty();
        if is_left {
            self.found.unscanned.insert(dir.clone());
        }
        is_left
    }

    /// Compares one name of a directory. Returns a known directory that is still the same.
    fn entry(
        &mut self,
        dir: &Directory<'_>,
        name: Name,
        entry: &Entry,
        row: Option<LocalRow>,
        special: &mut Vec<(Name, FileKind)>,
    ) -> Result<Option<KnownDir>, IndexError> {
        let path = dir.path.join(name.clone());
        let stat = match &entry.stat {
            Ok(stat) => *stat,
            Err(error) => {
                self.problem(&path, error);
                self.mark_if_known(row, Skipped::Unreadable)?;
                return Ok(None);
            }
        };
        let kind = kind_of(&stat);
        if matches!(
            self.rules.check(&path, kind == Kind::Folder),
            RuleMatch::Ignored(_)
        ) && !self.is_selected_folder(&path, kind, &stat, row.as_ref())?
        {
            self.mark_if_known(row, Skipped::Ignored)?;
            return Ok(None);
        }
        if matches!(stat.kind, FileKind::Symlink | FileKind::Other) {
            special.push((name.clone(), stat.kind));
            self.record_special(dir, name, &stat, row)?;
            return Ok(None);
        }
        if self.is_still_home(&path, kind, row.as_ref()) {
            return Ok(None);
        }
        if kind == Kind::Folder
            && let Some(row) = &row
            && self.is_mount_missing(dir, row, &path, &stat)?
        {
            self.skip_unmounted(row, &path)?;
            return Ok(None);
        }
        self.compare_regular(dir, (name, &path), &stat, row)
    }

    /// Compares a regular file or a directory with the row of its name. Returns a known directory that is
    /// still the same.
    fn compare_regular(
        &mut self,
        dir: &Directory<'_>,
        (name, path): (Name, &RelPath),
        stat: &Stat,
        row: Option<LocalRow>,
    ) -> Result<Option<KnownDir>, IndexError> {
        let kind = kind_of(stat);
        match row {
            Some(row) if row.kind == kind && row.stat.same_file(&local_stat(stat)) => {
                if row.skipped == Skipped::Ignored {
                    self.left_out.insert(row.id);
                }
                // What no scan has looked into stays so until one does.
                if row.skipped != Skipped::Unscanned {
                    self.update_known_row(&row, stat, path)?;
                }
                Ok((kind == Kind::Folder).then_some(KnownDir { row, stat: *stat }))
            }
            other => {
                if let Some(row) = other {
                    self.gone.insert(row.id, (row, dir.path.clone()));
                }
                self.room = self.room.saturating_sub(1);
                self.fresh.push_back(Fresh {
                    parent: dir.id,
                    dir: dir.path.clone(),
                    name,
                    kind,
                    is_mount: kind == Kind::Folder && dir.file_system.is_left_by(stat),
                    stat: *stat,
                });
                Ok(None)
            }
        }
    }

    /// Returns whether a folder that is not selected by its path is synced all the same. There are two kinds: a
    /// selected folder, or one above it, that a person has renamed; and one that was above a selected folder that
    /// has moved elsewhere.
    fn is_selected_folder(
        &mut self,
        path: &RelPath,
        kind: Kind,
        stat: &Stat,
        row: Option<&LocalRow>,
    ) -> Result<bool, IndexError> {
        if kind != Kind::Folder || !self.rules.is_unchosen(path, true) {
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
                && self.same_dir(&row.stat, &from).is_none()
                && (stat.identity().is_proof() || self.has_content_of(&row, path)?)
                && self.rules.to_mut().follow(&from, path)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns the kind that a row has; whatever is no directory counts as a file.
fn kind_of(stat: &Stat) -> Kind {
    match stat.kind {
        FileKind::Dir => Kind::Folder,
        FileKind::File | FileKind::Symlink | FileKind::Other => Kind::File,
    }
}
