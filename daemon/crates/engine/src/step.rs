//! Executing the steps of a plan. Each checks its preconditions again before it changes anything, and records what it
//! did in one transaction; after a failure in between, the next scan and plan find what is left.

pub(crate) mod batch;
pub(crate) mod download;
pub(crate) mod local;
pub(crate) mod local_folders;
pub(crate) mod remote;
pub(crate) mod spelling;
pub(crate) mod stable_file;
mod trash_files;
pub(crate) mod trash_local;
pub(crate) mod upload;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::observe::hash::local_stat;
use crate::observe::rules::Rules;
use cairn_index::{Db, FolderRow, IndexError, LocalRow};
use cairn_model::{ActivityKind, LocalId, Name, NodeId, RelPath};
use cairn_plan::{Parent, ParentAndName};
use cairn_platform::Stat;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::watch;

/// The context of every step of a folder.
#[derive(Clone)]
pub(crate) struct Ctx {
    pub(crate) engine: Arc<Engine>,
    pub(crate) folder: Arc<FolderRow>,
    pub(crate) rules: Arc<Rules>,
    pub(crate) pause: watch::Receiver<bool>,
    /// True once the list of steps that is carried out has to end early.
    pub(crate) ended: Option<watch::Receiver<bool>>,
}

impl Ctx {
    pub(crate) fn root(&self) -> &Path {
        Path::new(&self.folder.root)
    }

    pub(crate) fn absolute_path(&self, path: &RelPath) -> PathBuf {
        path.to_path(self.root())
    }

    /// Returns the node of the paired remote folder; `None` at the top of the space.
    pub(crate) fn base(&self) -> Option<NodeId> {
        self.folder.remote_node.flatten()
    }

    /// Returns whether whatever is being carried out should end at the next safe point.
    pub(crate) fn is_interrupted(&self) -> bool {
        // Without a sender the folder is gone.
        let is_set = |flag: &watch::Receiver<bool>| *flag.borrow() || flag.has_changed().is_err();
        self.engine.is_interrupted()
            || is_set(&self.pause)
            || self.ended.as_ref().is_some_and(is_set)
    }

    /// Waits until the folder is paused.
    pub(crate) async fn wait_paused(&self) {
        // The sender goes with the folder, whose transfers are of no use any more then.
        drop(self.pause.clone().wait_for(|paused| *paused).await);
    }

    /// Resolves a place on this disk to its parent's row and its path.
    ///
    /// # Errors
    /// [`EngineError::Stale`] if the parent is not there (any more).
    pub(crate) fn local_place(
        &self,
        db: &Db<'_>,
        to: &ParentAndName,
    ) -> Result<Option<(Option<LocalId>, RelPath)>, IndexError> {
        let parent = match to.parent {
            Parent::Root => return Ok(Some((None, RelPath::root().join(to.name.clone())))),
            Parent::Local(id) => Some(id),
            Parent::Node(node) => db.synced_row(self.folder.id, node)?.map(|s| s.local),
        };
        let Some(parent) = parent else {
            return Ok(None);
        };
        Ok(db
            .local_path(parent)?
            .map(|dir| (Some(parent), dir.join(to.name.clone()))))
    }

    /// Checks that the index knows nothing of a name but the row that is to get it: a name can't be recorded twice, and
    /// the file that had it may be gone from the disk since the last scan.
    ///
    /// # Errors
    /// [`EngineError::Stale`] if it knows something else.
    pub(crate) fn check_free(
        &self,
        parent: Option<LocalId>,
        name: &Name,
        row: Option<LocalId>,
    ) -> Result<(), EngineError> {
        let known = self
            .engine
            .index
            .read(|db| db.child(self.folder.id, parent, name))?;
        match known {
            Some(known) if Some(known.id) != row => Err(EngineError::Stale),
            Some(_) | None => Ok(()),
        }
    }

    /// Checks that a folder, or the root, is the one that the index knows: before something is put into it, and again
    /// before that is recorded. After an unmount the directory below has its path, and what is put there would be
    /// missing, and deleted everywhere, after the next mount.
    ///
    /// # Errors
    /// [`EngineError::Stale`] if it is another one, or the disk's.
    pub(crate) fn check_disk_of(&self, folder: Option<LocalId>) -> Result<(), EngineError> {
        self.check_root()?;
        let Some(folder) = folder else {
            return Ok(());
        };
        let (row, path) = self.local_row(folder)?;
        let stat = self.engine.ports.disk.stat(&self.absolute_path(&path))?;
        if stat.file_id.device == row.stat.device {
            Ok(())
        } else {
            Err(EngineError::Stale)
        }
    }

    /// Checks that the directory at the path of the root is the one that was attached, and returns its stat.
    ///
    /// # Errors
    /// [`EngineError::Stale`] if it is another one, or the disk's.
    pub(crate) fn check_root(&self) -> Result<Stat, EngineError> {
        let stat = self.engine.ports.disk.stat(self.root())?;
        let found = local_stat(&stat).identity();
        match self.folder.root_file.is_none_or(|known| known == found) {
            true => Ok(stat),
            false => Err(EngineError::Stale),
        }
    }

    /// Resolves a place to its parent on the service. Outer `None`: the parent is not there (any more).
    pub(crate) fn remote_parent(
        &self,
        db: &Db<'_>,
        to: &ParentAndName,
    ) -> Result<Option<Option<NodeId>>, IndexError> {
        let node = match to.parent {
            Parent::Root => return Ok(Some(self.base())),
            Parent::Node(node) => Some(node),
            Parent::Local(id) => db.synced_by_local(id)?.map(|s| s.node),
        };
        let Some(node) = node else { return Ok(None) };
        Ok(db.remote_row(node)?.map(|row| Some(row.node)))
    }

    /// Returns the row of something on this disk, and its path.
    ///
    /// # Errors
    /// [`EngineError::Stale`] if it is not there (any more).
    pub(crate) fn local_row(&self, local: LocalId) -> Result<(LocalRow, RelPath), EngineError> {
        let (row, path) = self
            .engine
            .index
            .read(|db| Ok((db.local_row(local)?, db.local_path(local)?)))?;
        let row = row.ok_or(EngineError::Stale)?;
        Ok((row, path.ok_or(EngineError::Stale)?))
    }

    /// Records deletions that were carried out, in one transaction, and announces them. `record` writes one of them, and
    /// returns its path. `device` is the one that has deleted them; `None` is another one, by way of the service.
    pub(crate) fn record_deletions<'a, T>(
        &self,
        device: Option<&str>,
        deleted: &'a [T],
        record: impl Fn(&Db<'_>, &'a T) -> Result<String, IndexError>,
    ) -> Result<(), IndexError> {
        let engine = &self.engine;
        let activities = engine.index.write(|db| {
            let mut activities = Vec::new();
            for one in deleted {
                let (kind, path) = (ActivityKind::Deleted, record(db, one)?);
                let device = device.map(str::to_owned);
                let activity = engine.activity_row(self.folder.id, kind, &path, device, 0);
                db.add_activity(&activity)?;
                activities.push(activity);
            }
            Ok(activities)
        })?;
        for activity in activities {
            engine.count(|c| c.deletes += 1);
            engine.announce(activity);
        }
        Ok(())
    }

    pub(crate) fn path_of(&self, local: LocalId) -> String {
        let path = self
            .engine
            .index
            .read(|db| db.local_path(local))
            .ok()
            .flatten();
        path.map(|p| p.to_string()).unwrap_or_default()
    }
}
