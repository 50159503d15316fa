//! Local files as the content tools use them.

use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::local_paths::LocalPaths;
use crate::quote::{quote, quote_path};
use crate::services::LocalFiles;
use cairn_model::Name;
use cairn_space::LocalMetadata;
use cairn_transfer::{Source, SourceReader};
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

pub(super) const MIB: u64 = 1024 * 1024;
pub(super) const GIB: u64 = 1024 * MIB;
/// The largest file that a tool uploads.
const MAX_UPLOAD: u64 = 500 * MIB;

/// A file to upload whose path is checked again each time it is opened.
pub(super) struct CheckedSource {
    pub(super) path: PathBuf,
    pub(super) allowed: LocalPaths,
}

impl Source for CheckedSource {
    fn open(&self) -> io::Result<Box<dyn SourceReader>> {
        let file = File::open(&self.path)?;
        self.allowed
            .recheck(&self.path)
            .map_err(|e| io::Error::new(io::ErrorKind::PermissionDenied, e.to_string()))?;
        Ok(Box::new(file))
    }
}

/// Returns the metadata of a local file that is uploaded with its content.
pub(super) fn local_metadata(
    files: &dyn LocalFiles,
    path: &Path,
    meta: &Metadata,
) -> LocalMetadata {
    let milliseconds = |span: Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    let modified = meta.modified().ok();
    let modified = modified.map(|time| match time.duration_since(UNIX_EPOCH) {
        Ok(since) => milliseconds(since),
        // The file is older than that.
        Err(before) => -milliseconds(before.duration()),
    });
    LocalMetadata {
        size: meta.len(),
        modified_ms: modified.unwrap_or(0),
        executable: files.executable(path),
    }
}

/// Refuses anything but regular files, and files that are too large.
pub(super) fn check_uploadable(path: &Path, meta: &Metadata) -> ToolResult {
    let shown = quote_path(path);
    if !meta.is_file() {
        return Err(ToolError::refused(format!("{shown} is not a regular file")));
    }
    if meta.len() > MAX_UPLOAD {
        return Err(ToolError::refused(format!(
            "{shown} has {}, more than the {} MiB that a tool uploads: use `cairn upload` or `cairn add`",
            exact_size(meta.len()),
            MAX_UPLOAD / MIB
        )));
    }
    Ok(())
}

/// Returns the last component of a name from the server, if this system allows it.
pub(super) fn base_name(call: &Call, name: &str) -> ToolResult<Name> {
    let clean = crate::clean::text(name);
    // Elsewhere a backslash is a character of names like others.
    let is_separator = |c| c == '/' || (cfg!(windows) && c == '\\');
    let base = clean.rsplit(is_separator).next().unwrap_or_default();
    let bad = |why: String| {
        ToolError::refused(format!(
            "{} can't be a file's name here: {why}",
            quote(name)
        ))
    };
    let name = Name::new(base).map_err(|e| bad(e.to_string()))?;
    call.services.files.check_name(&name).map_err(bad)?;
    Ok(name)
}

/// Formats a size exactly, so that it never looks like the limit that it is just above.
pub(super) fn exact_size(size: u64) -> String {
    if size.is_multiple_of(MIB) {
        format!("{} MiB", size / MIB)
    } else {
        format!("{size} bytes")
    }
}
