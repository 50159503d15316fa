//! Telling a move from a replacement, a new file and a deletion.
//!
//! Order matters: a file that turned up elsewhere under its own identity is a move, wherever its old
//! row is; only what no move explains can be a replacement (editors save by renaming a new file over
//! the old one); only what nothing explains is new, or gone. The name comes before the identity where
//! the file system's identities prove nothing, and where an editor keeps the old file as a backup.

use crate::observe::backups::is_backup_name;
use crate::observe::hash::local_stat;
use crate::observe::mounts::FileSystem;
use crate::observe::same_disk::SameDisk;
use crate::observe::scan::{Depth, Fresh, Scan};
use cairn_index::{IndexError, LocalRow, LocalStat, Skipped};
use cairn_model::{Kind, LocalId, RelPath};
use cairn_platform::FileKind;
use std::collections::BTreeSet;

impl Scan<'_, '_> {
    /// Explains everything that did not match.
    pub(crate) fn match_entries(&mut self) -> Result<(), IndexError> {
        let mut claimed = BTreeSet::new();
        let mut unmatched: Vec<Fresh> = Vec::new();
        loop {
            while let Some(fresh) = self.fresh.pop_front() {
                if self.is_matched(&fresh)? {
                    continue;
                }
                if let Some(row) = self.same_file_elsewhere(&fresh, &claimed)? {
                    if self.is_within(fresh.parent, row.id)? {
                        self.look_again(&row, &fresh);
                        continue;
                    }
                    claimed.insert(row.id);
                    self.record_move(row, &fresh)?;
                } else if fresh.kind == Kind::Folder && self.replaced_row(&fresh)?.is_none() {
                    self.new_row(&fresh)?;
                } else {
                    unmatched.push(fresh);
                }
            }
            // A folder made again under its old name is looked into before files are judged: it may
            // hold what is missing elsewhere.
            let Some(at) = unmatched.iter().position(|f| f.kind == Kind::Folder) else {
                break;
            };
            let fresh = unmatched.remove(at);
            self.match_by_name(&fresh)?;
        }
        for fresh in unmatched {
            self.match_by_name(&fresh)?;
        }
        self.resolve_missing()
    }

    /// Returns whether a directory is another one, or lies in it.
    fn is_within(&self, dir: Option<LocalId>, above: LocalId) -> Result<bool, IndexError> {
        let mut at = dir;
        while let Some(id) = at {
            if id == above {
                return Ok(true);
            }
            at = self.db.local_row(id)?.and_then(|row| row.parent);
        }
        Ok(false)
    }

    /// Leaves a directory to the next scan that was seen in itself: it was moved between two looks at the disk.
    /// One whose name has another owner by now has none to wait under: that is decided at once.
    fn look_again(&mut self, row: &LocalRow, fresh: &Fresh) {
        let before = self.gone.get(&row.id);
        if before.is_some_and(|(before, _)| before.name == row.name) {
            self.gone.remove(&row.id);
        }
        self.found.again.insert(fresh.dir.clone());
    }

    /// Matches what is the same file as nothing that was known: it replaces the row of its name, or is new.
    fn match_by_name(&mut self, fresh: &Fresh) -> Result<(), IndexError> {
        if self.is_matched(fresh)? {
            return Ok(());
        }
        match self.replaced_row(fresh)? {
            Some(row) => self.replace(row, fresh),
            None => self.new_row(fresh),
        }
    }

    /// Returns whether a name is matched already: a directory may have been listed twice, on its own account
    /// and as part of what was moved.
    fn is_matched(&self, fresh: &Fresh) -> Result<bool, IndexError> {
        let row = self.db.child(self.folder.id, fresh.parent, &fresh.name)?;
        Ok(row.is_some_and(|row| {
            row.kind == fresh.kind
                && row.stat.same_file(&local_stat(&fresh.stat))
                && !self.gone.contains_key(&row.id)
        }))
    }

    /// Returns the row of the very same file, if its old place does not hold it any more.
    fn same_file_elsewhere(
        &self,
        fresh: &Fresh,
        claimed: &BTreeSet<LocalId>,
    ) -> Result<Option<LocalRow>, IndexError> {
        let stat = local_stat(&fresh.stat);
        for row in self.db.locals_by_file(self.folder.id, &stat)? {
            if row.kind != fresh.kind {
                continue;
            }
            // One that was found elsewhere a moment ago may have been moved on since.
            let is_found = claimed.contains(&row.id) || !self.gone.contains_key(&row.id);
            let missing = !is_found || !self.stands_at_its_row(&row)?;
            if !missing || !self.can_be_moved_to(&row, fresh)? || self.is_backup(&row, fresh)? {
                continue;
            }
            // A file that was never synced and is renamed over one that was is how editors save:
            // it is that file's new content.
            let over = self.db.child(self.folder.id, fresh.parent, &fresh.name)?;
            let saves = row.kind == Kind::File
                && self.db.synced_by_local(row.id)?.is_none()
                && match over {
                    Some(target) => {
                        target.id != row.id
                            && target.kind == Kind::File
                            && self.db.synced_by_local(target.id)?.is_some()
                            && self.gone.contains_key(&target.id)
                    }
                    None => false,
                };
            if !saves {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    /// Returns whether a file was only given the name of a backup beside a new file of its own name. That is how some
    /// editors save: what has the name now is its new content, and the backup is a new file.
    fn is_backup(&self, row: &LocalRow, fresh: &Fresh) -> Result<bool, IndexError> {
        let is_beside = row.kind == Kind::File && row.parent == fresh.parent;
        let is_replaced = self.gone.contains_key(&row.id);
        if !is_beside || !is_replaced || !is_backup_name(fresh.name.as_str(), row.name.as_str()) {
            return Ok(false);
        }
        let Some(path) = self.db.local_path(row.id)? else {
            return Ok(false);
        };
        let there = self.disk.stat(&path.to_path(&self.root));
        let Some(there) = there.ok().filter(|there| there.kind == FileKind::File) else {
            return Ok(false);
        };
        // A file that was in sync under another name has come there by a move.
        for other in self
            .db
            .locals_by_file(self.folder.id, &local_stat(&there))?
        {
            if other.id == row.id || self.db.synced_by_local(other.id)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether a row whose identity a new name has can be the same file. If identities prove
    /// nothing, the file that had the name is more likely to be there, and a move changes neither size
    /// nor time.
    fn can_be_moved_to(&self, row: &LocalRow, fresh: &Fresh) -> Result<bool, IndexError> {
        if self.is_on_absent_disk(row)? {
            return Ok(false);
        }
        if row.stat.identity().is_proof() {
            return Ok(true);
        }
        let stat = local_stat(&fresh.stat);
        match row.kind {
            _ if self
                .replaced_row(fresh)?
                .is_some_and(|own| own.id != row.id) =>
            {
                Ok(false)
            }
            Kind::File => Ok((row.stat.size, row.stat.mtime) == (stat.size, stat.mtime)),
            Kind::Folder => self.has_content_of(row, &fresh.path()),
        }
    }

    /// Returns whether a directory at a path holds what the index knows in a folder.
    pub(crate) fn has_content_of(
        &self,
        row: &LocalRow,
        path: &RelPath,
    ) -> Result<bool, IndexError> {
        let known = SameDisk {
            db: self.db,
            disk: self.disk,
            folder: self.folder.id,
        };
        known.holds_something(Some(row.id), &path.to_path(&self.root))
    }

    /// Returns whether a row is in a file system that is not mounted: its files can't be elsewhere.
    fn is_on_absent_disk(&self, row: &LocalRow) -> Result<bool, IndexError> {
        let mut at = Some(row.clone());
        while let Some(row) = at {
            if row.skipped == Skipped::Unmounted {
                return Ok(true);
            }
            at = match row.parent {
                Some(parent) => self.db.local_row(parent)?,
                None => None,
            };
        }
        Ok(false)
    }

    fn stands_at_its_row(&self, row: &LocalRow) -> Result<bool, IndexError> {
        let Some(path) = self.db.local_path(row.id)? else {
            return Ok(false);
        };
        Ok(self
            .disk
            .stat(&path.to_path(&self.root))
            .is_ok_and(|stat| local_stat(&stat).same_file(&row.stat)))
    }

    /// Returns the row of that name and kind whose own file is nowhere else.
    fn replaced_row(&self, fresh: &Fresh) -> Result<Option<LocalRow>, IndexError> {
        Ok(self
            .db
            .child(self.folder.id, fresh.parent, &fresh.name)?
            .filter(|row| row.kind == fresh.kind && self.gone.contains_key(&row.id)))
    }

    fn record_move(&mut self, row: LocalRow, fresh: &Fresh) -> Result<(), IndexError> {
        self.gone.remove(&row.id);
        self.note_names(&fresh.stat);
        self.make_room(fresh, row.id)?;
        let id = row.id;
        let mut stat = local_stat(&fresh.stat);
        let is_unchanged = row.stat == stat && stat.identity().is_proof();
        let mut hash = row.hash.filter(|_| is_unchanged);
        // The move is recorded, and its content when that is settled.
        if row.stat != stat && self.is_unsettled(&fresh.path(), &fresh.stat) {
            let LocalStat {
                size, mtime, ctime, ..
            } = row.stat;
            (stat, hash) = (
                LocalStat {
                    size,
                    mtime,
                    ctime,
                    ..stat
                },
                row.hash,
            );
        }
        self.db.update_local(&LocalRow {
            parent: fresh.parent,
            name: fresh.name.clone(),
            stat,
            executable: fresh.kind == Kind::File && fresh.stat.executable.unwrap_or(row.executable),
            hash,
            skipped: Skipped::No,
            ..row
        })?;
        self.found.changed = true;
        if fresh.kind == Kind::Folder {
            self.visit_fresh(id, fresh)?;
        }
        Ok(())
    }

    fn replace(&mut self, row: LocalRow, fresh: &Fresh) -> Result<(), IndexError> {
        self.gone.remove(&row.id);
        let id = row.id;
        self.update_known_row(&row, &fresh.stat, &fresh.path())?;
        self.set_mount(id, fresh.is_mount)?;
        if fresh.kind == Kind::Folder {
            self.visit_fresh(id, fresh)?;
        }
        Ok(())
    }

    fn new_row(&mut self, fresh: &Fresh) -> Result<(), IndexError> {
        if self.is_unsettled(&fresh.path(), &fresh.stat) {
            return Ok(());
        }
        self.note_names(&fresh.stat);
        self.make_room(fresh, LocalId(0))?;
        let is_folder = fresh.kind == Kind::Folder;
        let is_left = is_folder && self.leaves_to_next(&fresh.path());
        let id = self.db.insert_local(&LocalRow {
            id: LocalId(0),
            folder: self.folder.id,
            parent: fresh.parent,
            name: fresh.name.clone(),
            kind: fresh.kind,
            stat: local_stat(&fresh.stat),
            executable: !is_folder && self.executable_bit(fresh)?,
            hash: None,
            skipped: match is_left {
                true => Skipped::Unscanned,
                false => Skipped::No,
            },
        })?;
        self.found.changed = true;
        if fresh.is_mount {
            self.set_mount(id, true)?;
        }
        if is_folder && !is_left {
            self.visit_fresh(id, fresh)?;
        }
        Ok(())
    }

    /// Returns the executable bit of a new file. A disk that keeps none leaves the service's as it is.
    fn executable_bit(&self, fresh: &Fresh) -> Result<bool, IndexError> {
        if let Some(executable) = fresh.stat.executable {
            return Ok(executable);
        }
        let parent = match fresh.parent {
            Some(folder) => self.db.synced_by_local(folder)?.map(|s| Some(s.node)),
            None => self.folder.remote_node,
        };
        let Some(parent) = parent else {
            return Ok(false);
        };
        let same_name = self.db.remote_children_by_key(parent, &fresh.name)?;
        Ok(same_name
            .iter()
            .any(|remote| remote.kind == Kind::File && remote.executable))
    }

    /// Looks into a directory that was matched.
    fn visit_fresh(&mut self, id: LocalId, fresh: &Fresh) -> Result<(), IndexError> {
        let path = fresh.path();
        let file_system = FileSystem::of(Some(&fresh.stat));
        self.visit(Some(id), &path, file_system, Depth::All)
    }

    /// Frees the name for `new`: the row that had it is elsewhere (a move will find it) or gone.
    fn make_room(&mut self, fresh: &Fresh, new: LocalId) -> Result<(), IndexError> {
        match self.db.child(self.folder.id, fresh.parent, &fresh.name)? {
            Some(row) if row.id != new => {
                self.db.move_local_aside(row.id)?;
                // Its name is not its own any more: unless it is found elsewhere, it is gone.
                self.gone
                    .entry(row.id)
                    .or_insert_with(|| (row, fresh.dir.clone()));
                Ok(())
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Decides about what is still missing: gone if an earlier scan missed it too, or if its name has a new owner;
    /// otherwise looked for once more, because it may be on its way to a place that this scan had already passed. A
    /// file that was deleted while it was not synced was deleted on this device alone: it is forgotten, and comes
    /// back when it is synced again.
    fn resolve_missing(&mut self) -> Result<(), IndexError> {
        for (id, (row, dir)) in std::mem::take(&mut self.gone) {
            let path = dir.join(row.name.clone());
            let owner = self.db.child(self.folder.id, row.parent, &row.name)?;
            let displaced = owner.is_none_or(|owner| owner.id != id);
            let is_ignored = !displaced && self.mark_if_ignored(&row, &path)?;
            if !displaced && row.kind == Kind::Folder && self.db.has_mount(self.folder.id, id)? {
                if !is_ignored {
                    self.skip_unmounted(&row, &path)?;
                }
                continue;
            }
            // It may be in a directory that is left to the next scan.
            let is_confirmed =
                self.found.unscanned.is_empty() && self.earlier.confirmed_missing.contains(&id);
            if !displaced && (self.left_out.contains(&id) || (is_ignored && is_confirmed)) {
                self.db.forget_local(self.folder.id, id)?;
                self.found.changed = true;
            } else if displaced || is_confirmed {
                self.db.remove_local(self.folder.id, id)?;
                self.found.changed = true;
            } else if self.db.synced_by_local(id)?.is_none() && row.kind == Kind::File {
                // Never synced: nothing hangs on it.
                self.db.remove_local(self.folder.id, id)?;
                self.found.changed = true;
            } else {
                self.found.missing.insert(id);
                self.found
                    .again
                    .insert(if dir.is_root() { RelPath::root() } else { dir });
            }
        }
        Ok(())
    }
}
