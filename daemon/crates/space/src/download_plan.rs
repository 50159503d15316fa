//! The plan of a folder's download: the directories, the files to fetch, and what is left out.
//!
//! The whole tree is listed before anything is written, so that a folder that is too large, or that
//! contains itself, leaves nothing.

use crate::Space;
use crate::verify::{cycle, path_in};
use cairn_crypto::ContentHasher;
use cairn_model::{ContentHash, Kind, NodeId};
use cairn_transfer::{Download, TransferError};
use cairn_wire::nodes::Node;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Bytes of a local file that are read at a time.
const BLOCK: usize = 256 * 1024;

/// The directories and files of a download.
#[derive(Debug, Default)]
pub struct DownloadPlan {
    /// The folders to be made, parents first.
    pub folders: Vec<PathBuf>,
    pub files: Vec<PlannedFile>,
    /// Sum of the files' lengths, in bytes.
    pub bytes: u64,
    /// Files that are there already, with the same content.
    pub skipped: u64,
    pub rejected: Vec<RejectedName>,
    /// Nodes whose name and parent no seal of a device with the keys covers, or of which this device has seen a later
    /// state, as paths from the top of the space.
    pub unverified: Vec<String>,
}

/// A file to download, and its place on this machine.
#[derive(Clone, Debug)]
pub struct PlannedFile {
    pub node: Node,
    pub to: PathBuf,
}

/// A node that can't be put on this machine; nothing below it is planned.
#[derive(Clone, Debug)]
pub struct RejectedName {
    pub path: PathBuf,
    pub reason: String,
}

/// The reason why no plan was made.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("the folder has more than {limit} bytes to download")]
    TooLarge {
        /// In bytes.
        limit: u64,
    },
    #[error(transparent)]
    Transfer(#[from] TransferError),
}

/// Chooses the path of a node in a local directory from its name on the service and those chosen in the
/// same directory, or returns the reason why there can be none.
pub type LocalPath<'a> =
    dyn Fn(&Path, &str, &mut HashSet<String>) -> Result<PathBuf, String> + Sync + 'a;

impl Space {
    /// Plans the download of a folder (`None`: the whole space) into a directory, with at most `limit`
    /// bytes. Files that are there with the same content are skipped.
    ///
    /// # Errors
    /// [`PlanError::TooLarge`]; [`ApiError::Protocol`](cairn_api::ApiError::Protocol) for folders that contain each other.
    pub async fn plan_download(
        &self,
        folder: Option<NodeId>,
        to: &Path,
        limit: u64,
        local_path: &LocalPath<'_>,
    ) -> Result<DownloadPlan, PlanError> {
        let mut plan = DownloadPlan::default();
        let mut base = String::new();
        if let Some(id) = folder {
            let top = self.node(id).await?;
            let chain = self.chain(&top).await?;
            base = path_in(&chain);
            plan.unverified = self.unverified_paths_in(chain);
        }
        let mut same_size = Vec::new();
        let mut seen = HashSet::new();
        let mut waiting = vec![(folder, to.to_owned(), base)];
        while let Some((id, dir, above)) = waiting.pop() {
            if !seen.insert(id) {
                return Err(cycle().into());
            }
            let mut taken = HashSet::new();
            let children = self.api.children(id, None).await;
            for node in children.map_err(TransferError::from)? {
                let path = format!("{above}/{}", node.name);
                let to = match self.local_path_of(&node, id, &dir, &mut taken, local_path) {
                    Ok(to) => to,
                    Err(reason) => {
                        let path = dir.join(node.name.replace(['/', '\\', '\0'], "_"));
                        plan.rejected.push(RejectedName { path, reason });
                        continue;
                    }
                };
                if !self.is_verified_in(&node, id) {
                    plan.unverified.push(path.clone());
                }
                match node.kind {
                    Kind::Folder if is_in_the_way(&to) => {
                        let reason = "something that is no folder has its place here".to_owned();
                        plan.rejected.push(RejectedName { path: to, reason });
                    }
                    Kind::Folder => waiting.push((Some(node.id), to, path)),
                    Kind::File if has_size(&to, node.size) => {
                        same_size.push(PlannedFile { node, to });
                    }
                    Kind::File => plan.add(PlannedFile { node, to }, limit)?,
                }
            }
            plan.folders.push(dir);
        }
        self.skip_unchanged(&mut plan, same_size, limit).await?;
        Ok(plan)
    }

    /// Returns the local path of a child. Everything that the server lists gets a path or a reason, so that a
    /// download never looks complete when it isn't.
    fn local_path_of(
        &self,
        node: &Node,
        parent: Option<NodeId>,
        dir: &Path,
        taken: &mut HashSet<String>,
        local_path: &LocalPath<'_>,
    ) -> Result<PathBuf, String> {
        if node.space_id != self.keys.space() || node.parent_id != parent {
            return Err("the service lists it in a folder that it does not belong to".to_owned());
        }
        local_path(dir, &node.name, taken)
    }

    /// Adds those of the files to the plan that have other content on this machine.
    async fn skip_unchanged(
        &self,
        plan: &mut DownloadPlan,
        files: Vec<PlannedFile>,
        limit: u64,
    ) -> Result<(), PlanError> {
        let mut with_content: Vec<(PlannedFile, Download)> = Vec::with_capacity(files.len());
        for file in files {
            match self.head(&file.node) {
                Ok(download) => with_content.push((file, download)),
                // Its download says what is wrong with it.
                Err(_) => plan.add(file, limit)?,
            }
        }
        for (file, manifest) in self.transfer.manifests(with_content).await {
            let path = file.to.clone();
            let local = self
                .transfer
                .blocking()
                .run(move || local_hash(&path))
                .await;
            match (manifest, local) {
                (Ok(manifest), Ok(local)) if manifest.hash == local => plan.skipped += 1,
                _ => plan.add(file, limit)?,
            }
        }
        Ok(())
    }
}

impl DownloadPlan {
    fn add(&mut self, file: PlannedFile, limit: u64) -> Result<(), PlanError> {
        self.bytes = self.bytes.saturating_add(file.node.size);
        if self.bytes > limit {
            return Err(PlanError::TooLarge { limit });
        }
        self.files.push(file);
        Ok(())
    }
}

/// Returns whether something lies at the path of a folder that is none. The target of a link is checked when the folder
/// is made.
fn is_in_the_way(path: &Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|meta| !meta.is_dir() && !meta.is_symlink())
}

fn has_size(path: &Path, size: u64) -> bool {
    path.symlink_metadata()
        .is_ok_and(|meta| meta.is_file() && meta.len() == size)
}

pub(crate) fn local_hash(path: &Path) -> io::Result<ContentHash> {
    let mut file = File::open(path)?;
    let mut hasher = ContentHasher::new();
    let mut block = vec![0; BLOCK];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(hasher.finish()),
            read => hasher.update(&block[..read]),
        }
    }
}
