//! The progress of a folder on its way up or down, and the small files of it that travel together.

use cairn_transfer::Progress;

/// Files up to this many bytes travel together.
pub(crate) const SMALL: u64 = cairn_crypto::MIN_CHUNK as u64;
/// Maximum bytes and number of them in memory at once: a few requests' worth.
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

/// Receives the progress of a folder on its way up or down.
pub trait FolderProgress: Send + Sync {
    /// Adds the bytes of a file that was found to the expected ones.
    fn expect_bytes(&self, _bytes: u64) {}

    /// Returns the progress of a transfer of so many bytes that begins now.
    fn begin(&self, what: Moving<'_>, bytes: u64) -> Box<dyn Progress>;
}
