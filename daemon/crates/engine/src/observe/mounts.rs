//! File systems that are mounted in a folder: which directories lie on another one, and which lack the
//! one that was mounted on them.

use crate::observe::hash::local_stat;
use crate::observe::same_disk::SameDisk;
use crate::observe::scan::{Directory, Scan};
use cairn_index::{IndexError, LocalRow, Skipped};
use cairn_model::{Kind, LocalId, Problem, ProblemCause, RelPath};
use cairn_platform::Stat;

/// The file system of a directory, as far as it is known.
#[derive(Clone, Copy)]
pub(crate) struct FileSystem(Option<(u64, Option<u64>)>);

impl FileSystem {
    /// Returns that of a directory; without a stat it is not known.
    pub(crate) fn of(stat: Option<&Stat>) -> Self {
        Self(stat.map(|stat| (stat.file_id.device, stat.mount)))
    }

    /// Returns whether a child lies in another file system. By the mount where the system tells it: a
    /// subvolume has a device number of its own, too.
    pub(crate) fn is_left_by(self, child: &Stat) -> bool {
        match self.0 {
            Some((_, Some(mount))) if child.mount.is_some() => child.mount != Some(mount),
            Some((device, _)) => child.file_id.device != device,
            None => false,
        }
    }
}

/// Returns whether another file system is mounted on a directory, from the stats of the one that it lies in and its own.
#[must_use]
pub fn is_mount_point(above: &Stat, dir: &Stat) -> bool {
    FileSystem::of(Some(above)).is_left_by(dir)
}

impl Scan<'_, '_> {
    /// Records that another file system is mounted on a directory, or that none is.
    pub(crate) fn set_mount(&mut self, dir: LocalId, is_mount: bool) -> Result<(), IndexError> {
        let changed = if is_mount {
            self.mounts.insert(dir)
        } else {
            self.mounts.remove(&dir)
        };
        if changed {
            self.db.set_mount(dir, is_mount)?;
        }
        Ok(())
    }

    /// Returns whether a directory lacks the file system that was mounted on it, or is hidden by one. Also
    /// records what is mounted now.
    pub(crate) fn is_mount_missing(
        &mut self,
        dir: &Directory<'_>,
        row: &LocalRow,
        path: &RelPath,
        stat: &Stat,
    ) -> Result<bool, IndexError> {
        if row.kind != Kind::Folder {
            return Ok(false);
        }
        let (was, is) = (
            self.mounts.contains(&row.id),
            dir.file_system.is_left_by(stat),
        );
        if row.stat.same_file(&local_stat(stat)) {
            self.set_mount(row.id, is)?;
            return Ok(false);
        }
        if was != is {
            return Ok(true);
        }
        // Numbers of devices change; another disk at the same place holds other files.
        let known = SameDisk {
            db: self.db,
            disk: self.disk,
            folder: self.folder.id,
        };
        Ok(was && !known.holds(Some(row.id), &path.to_path(&self.root))?)
    }

    /// Marks a directory whose file system is not mounted as unmounted, with everything below it: it stays as it
    /// is.
    pub(crate) fn skip_unmounted(
        &mut self,
        row: &LocalRow,
        path: &RelPath,
    ) -> Result<(), IndexError> {
        self.found.problems.push(Problem::new(
            path.to_string(),
            ProblemCause::MountGone,
            "the file system that was mounted here is gone, or another one hides it",
            "mount it as before; until then nothing in it is deleted anywhere. If another disk takes its place: `cairn folders accept-disk PATH`",
        ));
        self.mark_skipped(row.clone(), Skipped::Unmounted)
    }
}
