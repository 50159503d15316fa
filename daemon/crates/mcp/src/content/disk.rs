//! Local files as the content tools use them.

use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::local_paths::LocalPaths;
use cairn_model::Name;
use cairn_space::LocalFacts;
use cairn_transfer::{Source, SourceReader};
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

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

pub(super) fn facts(call: &Call, path: &Path, meta: &Metadata) -> LocalFacts {
    let modified = meta
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .and_then(|since| i64::try_from(since.as_millis()).ok());
    LocalFacts {
        size: meta.len(),
        modified_ms: modified.unwrap_or(0),
        executable: call.services.files.executable(path),
    }
}

/// Returns the last component of a name from the server, if this system allows it.
pub(super) fn base_name(call: &Call, name: &str) -> ToolResult<Name> {
    let clean = crate::clean::text(name);
    let base = clean.rsplit(['/', '\\']).next().unwrap_or_default();
    let bad =
        |why: String| ToolError::refused(format!("`{name}` can't be a file's name here: {why}"));
    let name = Name::new(base).map_err(|e| bad(e.to_string()))?;
    call.services.files.acceptable(&name).map_err(bad)?;
    Ok(name)
}
