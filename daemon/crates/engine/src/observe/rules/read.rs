//! Reading rules files from the disk.

use crate::error::Changing;
pub(crate) use cairn_model::IGNORE_FILE;
use cairn_platform::Disk;
use std::io::{self, Read as _};
use std::path::Path;

/// The largest part of a rules file that is read; a longer one is cut off there.
pub(super) const MAX_RULES_LEN: usize = 1024 * 1024;
const MAX_RULES: u64 = MAX_RULES_LEN as u64;

/// Reads the text of the rules file of the directory at `dir`; without one it is empty.
///
/// # Errors
/// Returns the error of the disk, or one for a file that is written meanwhile: half of it would let through what the
/// rest forbids.
pub(crate) fn read_text(disk: &dyn Disk, dir: &Path) -> io::Result<String> {
    let mut file = match disk.open(&dir.join(IGNORE_FILE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        other => other?,
    };
    let before = file.stat()?;
    let mut bytes = Vec::new();
    (&mut file).take(MAX_RULES).read_to_end(&mut bytes)?;
    if file.stat()?.key() != before.key() || (bytes.len() as u64) < before.size.min(MAX_RULES) {
        return Err(io::Error::other(Changing));
    }
    Ok(text_of(&bytes))
}

/// Returns the text of a rules file's bytes. Bytes that are not valid UTF-8 match no character of a name.
pub(crate) fn text_of(bytes: &[u8]) -> String {
    let length = bytes.len().min(MAX_RULES_LEN);
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}
