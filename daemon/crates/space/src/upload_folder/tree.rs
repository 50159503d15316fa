//! The local files of a folder's upload, as far as the caller allows reading them.

use crate::LocalMetadata;
use cairn_model::Name;
use cairn_transfer::Source;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The local files of an upload. The implementation decides which of them may be used.
pub trait LocalTree: Send + Sync {
    /// Lists a directory.
    ///
    /// # Errors
    /// As the disk gives them, or that the directory may not be used.
    fn list(&self, dir: &Path) -> io::Result<Vec<LocalEntry>>;

    /// Returns the content of a listed file.
    fn source(&self, path: &Path) -> Arc<dyn Source>;
}

/// One entry of a local directory.
#[derive(Clone, Debug)]
pub struct LocalEntry {
    pub path: PathBuf,
    pub kind: EntryKind,
}

/// The kind of an entry, as far as an upload is concerned.
#[derive(Clone, Debug)]
pub enum EntryKind {
    Folder(Name),
    File(Name, LocalMetadata),
    /// Left out, with the reason.
    Rejected(String),
}
