//! The first merge of a local folder with one on the service, computed before it is made: uploads, downloads,
//! equal files and files with two versions. Nothing is changed or transferred.

use crate::Space;
use crate::download_plan::local_hash;
use crate::verify::cycle;
use cairn_model::{Kind, Name, NameKey, NodeId, RelPath};
use cairn_transfer::{Download, TransferError};
use cairn_wire::nodes::Node;
use std::collections::{BTreeMap, HashSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// The most paths of each kind that are named.
const EXAMPLES: usize = 10;

/// The folder of the service that a merge is with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RemoteFolder {
    /// The merge makes it.
    Absent,
    /// The top of the space, which is no node.
    Root,
    Node(NodeId),
}

impl RemoteFolder {
    /// Returns the parent id of its children; `None` without a folder.
    #[must_use]
    pub fn parent(self) -> Option<Option<NodeId>> {
        match self {
            Self::Absent => None,
            Self::Root => Some(None),
            Self::Node(id) => Some(Some(id)),
        }
    }
}

/// Files of one kind.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FileCount {
    pub files: u64,
    pub bytes: u64,
    /// Paths of the first ones, below the folder.
    pub examples: Vec<String>,
}

impl FileCount {
    /// Counts one more.
    pub fn add(&mut self, path: &RelPath, bytes: u64) {
        self.files += 1;
        self.bytes += bytes;
        if self.examples.len() < EXAMPLES {
            self.examples.push(path.to_string());
        }
    }
}

/// The result of a preview.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MergePreview {
    /// Files on this disk alone.
    pub local: FileCount,
    /// Files on the service alone.
    pub remote: FileCount,
    /// On both sides with the same content.
    pub equal: FileCount,
    /// On both sides with different contents, or a file on one and a folder on the other.
    pub different: FileCount,
    /// Here, but of no kind that syncs, or with a name or rights that forbid it.
    pub skipped: FileCount,
}

/// Decides whether a path below the folder is left out; the second is true for a folder.
pub type LeftOut<'a> = dyn Fn(&RelPath, bool) -> bool + Sync + 'a;

/// A folder on one side or both.
struct FolderPair {
    path: RelPath,
    local: Option<PathBuf>,
    remote: RemoteFolder,
}

/// A file of the same size on both sides.
struct SameSize {
    path: RelPath,
    local: PathBuf,
    bytes: u64,
}

struct PreviewWalk<'a> {
    left_out: &'a LeftOut<'a>,
    found: MergePreview,
    waiting: Vec<FolderPair>,
    same_size: Vec<(SameSize, Node)>,
}

impl Space {
    /// Previews the first merge of a local folder with a folder of the service.
    ///
    /// # Errors
    /// The network's; [`ApiError::Protocol`](cairn_api::ApiError::Protocol) for folders that contain each
    /// other. Files that can't be read here are counted as skipped.
    pub async fn preview_merge(
        &self,
        local: &Path,
        remote: RemoteFolder,
        left_out: &LeftOut<'_>,
    ) -> Result<MergePreview, TransferError> {
        let mut walk = PreviewWalk {
            left_out,
            found: MergePreview::default(),
            waiting: vec![FolderPair {
                path: RelPath::default(),
                // It is made only when the pair is added.
                local: local.is_dir().then(|| local.to_owned()),
                remote,
            }],
            same_size: Vec::new(),
        };
        let mut seen = HashSet::new();
        while let Some(folder) = walk.waiting.pop() {
            let mut nodes = BTreeMap::new();
            if let Some(id) = folder.remote.parent() {
                if !seen.insert(id) {
                    return Err(cycle());
                }
                for node in self.children(id).await? {
                    if let Ok(name) = Name::new(node.name.clone()) {
                        nodes.insert(name.key(), (name, node));
                    }
                }
            }
            walk.visit(&folder, nodes);
        }
        self.compare(&mut walk).await;
        Ok(walk.found)
    }

    /// Compares the contents of files of the same size.
    async fn compare(&self, walk: &mut PreviewWalk<'_>) {
        let mut with_content: Vec<(SameSize, Download)> = Vec::new();
        for (file, node) in std::mem::take(&mut walk.same_size) {
            match self.head(&node) {
                Ok(download) => with_content.push((file, download)),
                // Nobody can tell, so both would be kept.
                Err(_) => walk.found.different.add(&file.path, file.bytes),
            }
        }
        for (file, manifest) in self.transfer.manifests(with_content).await {
            let path = file.local.clone();
            let blocking = self.transfer.blocking();
            let local = blocking.run(move || local_hash(&path)).await;
            let kind = match (manifest, local) {
                (Ok(manifest), Ok(local)) if manifest.hash == local => &mut walk.found.equal,
                (_, Err(_)) => &mut walk.found.skipped,
                (_, Ok(_)) => &mut walk.found.different,
            };
            kind.add(&file.path, file.bytes);
        }
    }
}

impl PreviewWalk<'_> {
    fn visit(&mut self, folder: &FolderPair, mut nodes: BTreeMap<NameKey, (Name, Node)>) {
        for (name, local, meta) in self.entries(folder) {
            let path = folder.path.join(name.clone());
            let remote = nodes.remove(&name.key()).map(|(_, node)| node);
            if (self.left_out)(&path, meta.is_dir()) {
                continue;
            }
            match remote {
                Some(node) if meta.is_dir() && node.kind == Kind::Folder => {
                    self.waiting.push(FolderPair {
                        path,
                        local: Some(local),
                        remote: RemoteFolder::Node(node.id),
                    });
                }
                Some(node) if meta.is_file() && node.kind == Kind::File => {
                    self.both_files(path, local, meta.len(), node);
                }
                Some(_) => self.found.different.add(&path, 0),
                None if meta.is_dir() => self.waiting.push(FolderPair {
                    path,
                    local: Some(local),
                    remote: RemoteFolder::Absent,
                }),
                None => self.found.local.add(&path, meta.len()),
            }
        }
        for (name, node) in nodes.into_values() {
            let path = folder.path.join(name);
            if (self.left_out)(&path, node.kind == Kind::Folder) {
                continue;
            }
            match node.kind {
                Kind::Folder => self.waiting.push(FolderPair {
                    path,
                    local: None,
                    remote: RemoteFolder::Node(node.id),
                }),
                Kind::File => self.found.remote.add(&path, node.size),
            }
        }
    }

    fn both_files(&mut self, path: RelPath, local: PathBuf, bytes: u64, node: Node) {
        if bytes != node.size {
            self.found.different.add(&path, bytes);
            return;
        }
        self.same_size.push((SameSize { path, local, bytes }, node));
    }

    /// Lists the files and folders of a local folder, in order; the rest is counted as skipped.
    fn entries(&mut self, folder: &FolderPair) -> Vec<(Name, PathBuf, Metadata)> {
        let Some(local) = &folder.local else {
            return Vec::new();
        };
        let Ok(listing) = std::fs::read_dir(local) else {
            self.found.skipped.add(&folder.path, 0);
            return Vec::new();
        };
        let mut entries = Vec::new();
        for entry in listing.flatten() {
            let name = entry.file_name();
            let name = name.to_str().and_then(|name| Name::new(name).ok());
            let meta = entry.path().symlink_metadata().ok();
            let usual = |meta: &Metadata| meta.is_file() || meta.is_dir();
            match (name, meta) {
                (Some(name), Some(meta)) if usual(&meta) => {
                    entries.push((name, entry.path(), meta));
                }
                (Some(name), _) => {
                    let path = folder.path.join(name);
                    if !(self.left_out)(&path, false) {
                        self.found.skipped.add(&path, 0);
                    }
                }
                (None, _) => self.found.skipped.add(&folder.path, 0),
            }
        }
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        entries
    }
}
