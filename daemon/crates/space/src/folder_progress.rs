//! The progress of a folder's upload or download, and the batches of its small files.

use cairn_transfer::Progress;

/// Files up to this many bytes are sent and fetched in batches.
pub(crate) const SMALL: u64 = cairn_crypto::MIN_CHUNK as u64;
/// Maximum bytes and number of such files in memory at once: the content of a few requests.
pub(crate) const GROUP_BYTES: u64 = 32 * 1024 * 1024;
pub(crate) const GROUP_FILES: usize = 1024;

/// The files whose transfer begins, up or down.
#[derive(Clone, Copy, Debug)]
pub enum Moving<'a> {
    /// One file, by its name.
    File(&'a str),
    /// A number of small files together.
    SmallFiles(usize),
}

/// Receives the progress of a folder's upload or download.
pub trait FolderProgress: Send + Sync {
    /// Adds the bytes of a file that was found to the expected ones.
    fn expect_bytes(&self, _bytes: u64) {}

    /// Begins a transfer of `bytes` and returns the receiver of its progress.
    fn begin(&self, what: Moving<'_>, bytes: u64) -> Box<dyn Progress>;
}
