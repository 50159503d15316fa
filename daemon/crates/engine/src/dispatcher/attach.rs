//! Attaching folder pairs to their remote folders.

use super::Dispatcher;
use crate::error::EngineError;
use crate::health::FolderPart;
use crate::node_rows::{folder_seal, remote_row};
use crate::observe::hash::local_stat;
use crate::step::Ctx;
use cairn_index::FolderRow;
use cairn_model::{FolderId, Kind, NodeId, RelPath};
use cairn_wire::nodes::CreateNode;
use std::path::Path;
use std::sync::Arc;

impl Dispatcher {
    /// Attaches every pair that has no remote folder yet.
    ///
    /// # Errors
    /// Failures that keep every pair from being attached.
    pub(super) async fn attach_new_folders(&mut self) -> Result<(), EngineError> {
        let new: Vec<FolderId> = self
            .folders
            .values()
            .filter(|f| f.row.remote_node.is_none())
            .map(|f| f.row.id)
            .collect();
        for id in new {
            self.try_attach(id).await?;
        }
        Ok(())
    }

    /// Attaches a pair to its remote folder. A pair for which that fails gets a problem and waits; all others go
    /// on.
    async fn try_attach(&mut self, id: FolderId) -> Result<(), EngineError> {
        let problem = match self.attach(id).await {
            Ok(()) => None,
            Err(error) if error.concerns_all() => return Err(error),
            Err(error) => Some(error.problem(String::new())),
        };
        if let Some(folder) = self.folders.get_mut(&id) {
            folder.unattachable = problem.is_some();
        }
        self.engine
            .health()
            .set_folder_problem(id, FolderPart::Remote, problem);
        Ok(())
    }

    async fn attach(&mut self, id: FolderId) -> Result<(), EngineError> {
        if !self.check_root(id) {
            return Ok(());
        }
        let Some(folder) = self.folders.get(&id) else {
            return Ok(());
        };
        let row = Arc::clone(&folder.row);
        let node = self.find_or_create(&row).await?;
        let stat = self.engine.ports.disk.stat(Path::new(&row.root))?;
        let file = local_stat(&stat);
        let attached = self.engine.index.write(|db| {
            db.attach_folder(id, node, file.identity())?;
            let row = db.folder(id)?;
            if let Some(row) = &row {
                db.mark_differing(row)?;
            }
            Ok(row)
        })?;
        if let (Some(folder), Some(attached)) = (self.folders.get_mut(&id), attached) {
            folder.row = Arc::new(attached);
            folder.plan_due = true;
        }
        Ok(())
    }

    /// Returns the node of a pair's remote path; folders on the way that are missing are created.
    async fn find_or_create(&self, row: &FolderRow) -> Result<Option<NodeId>, EngineError> {
        let path = RelPath::parse(row.remote_path.trim_matches('/')).map_err(|why| {
            EngineError::Protocol(format!("the remote path {:?}: {why}", row.remote_path))
        })?;
        let mut at: Option<NodeId> = None;
        for name in path.names() {
            let known = self
                .engine
                .index
                .read(|db| db.remote_children_by_key(at, name))?;
            at = match known.first() {
                Some(found) if found.kind == Kind::Folder => Some(found.node),
                Some(_) => {
                    return Err(EngineError::RemoteIsFile(row.remote_path.clone()));
                }
                None => Some(self.create_remote_folder(at, name.as_str()).await?),
            };
        }
        Ok(at)
    }

    async fn create_remote_folder(
        &self,
        parent: Option<NodeId>,
        name: &str,
    ) -> Result<NodeId, EngineError> {
        let id = self.engine.new_node();
        let seal = folder_seal(&self.engine.keys, id, parent, name);
        let folder = CreateNode {
            id: Some(id),
            parent_id: parent,
            kind: Kind::Folder,
            name: name.to_owned(),
            seal: Some(seal),
        };
        let node = self.engine.api.create_folder(&folder).await?;
        let (row, _) = remote_row(&self.engine.keys, &node)
            .map_err(|why| EngineError::Protocol(why.into()))?;
        self.engine
            .index
            .write(|db| db.put_remote(&db.folders()?, &row))?;
        Ok(row.node)
    }

    /// Checks that the remote folder of a pair still exists, and follows it to where it is now. A folder without
    /// it halts: what is here was not deleted one by one, and there is nowhere to upload to. Returns whether it goes on.
    pub(super) fn check_remote_root(&mut self, ctx: &Ctx) -> bool {
        let id = ctx.folder.id;
        // The plan meets a failure of the index too, and reports it.
        let gone = ctx.base().is_some_and(|node| {
            let row = self.engine.index.read(|db| db.remote_row(node));
            row.is_ok_and(|row| row.is_none())
        });
        let problem = gone.then(|| {
            EngineError::RemoteGone(ctx.folder.remote_path.clone()).problem(String::new())
        });
        self.engine
            .health()
            .set_folder_problem(id, FolderPart::Remote, problem);
        if let Some(folder) = self.folders.get_mut(&id) {
            folder.unattachable = gone;
        }
        if let Some(node) = ctx.base()
            && let Ok(Some(path)) = self.engine.index.read(|db| db.remote_path(node))
        {
            self.follow_remote_folder(id, &format!("/{path}"));
        }
        !gone
    }

    /// Records that the remote folder of a pair was renamed or moved: people are shown where it is, and an index
    /// that has to be built again must not create the former folder.
    fn follow_remote_folder(&mut self, id: FolderId, path: &str) {
        let Some(folder) = self.folders.get_mut(&id) else {
            return;
        };
        if folder.row.remote_path == path {
            return;
        }
        let moved = self
            .engine
            .index
            .write(|db| db.move_remote_folder(id, path));
        match moved {
            Ok(()) => {
                tracing::info!(from = %folder.row.remote_path, to = %path, "the remote folder was moved");
                Arc::make_mut(&mut folder.row).remote_path = path.to_owned();
            }
            Err(error) => tracing::warn!(%error, "the remote folder's new path is not recorded"),
        }
    }
}
