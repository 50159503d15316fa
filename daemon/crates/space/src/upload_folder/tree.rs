//! The caller's side of a folder's upload: the local files, and somebody who watches.

use crate::LocalFacts;
use cairn_model::Name;
use cairn_transfer::{Progress, Source};
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
    File(Name, LocalFacts),
    /// Left out, with the reason.
    Rejected(String),
}

/// The files whose transfer begins, up or down.
#[derive(Clone, Copy, Debug)]
pub enum Moving<'a> {
    /// One file, by its name.
    File(&'a str),
    /// A number of small files together.
    SmallFiles(usize),
}

/// Receives the progress of a folder on its way up or down.
pub trait FolderProgress: Send + Sync {
    /// Adds the bytes of a file that was found to the expected ones.
    fn expect_bytes(&self, _bytes: u64) {}

    /// Returns the progress of a transfer of so many bytes that begins now.
    fn begin(&self, what: Moving<'_>, bytes: u64) -> Box<dyn Progress>;
}
