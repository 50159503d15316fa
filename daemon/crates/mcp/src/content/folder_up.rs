//! Upload of a local folder with matching folders on the service. One file that fails doesn't stop
//! the others.

use super::disk::{CheckedSource, check_uploadable, local_metadata};
use super::named;
use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::local_paths::LocalPaths;
use crate::progress::Reporter;
use crate::quote::quote_path;
use crate::services::LocalFiles;
use cairn_model::Name;
use cairn_space::{
    EntryKind, FailedUpload, FolderProgress, FolderUpload, LocalEntry, LocalFolder, LocalTree,
    Moving, NotUploaded,
};
use cairn_transfer::{Progress, Source};
use serde_json::{Value, json};
use std::io;
use std::path::Path;
use std::sync::Arc;

const MAX_REPORTED_ERRORS: usize = 100;

pub(super) async fn upload(call: &Call) -> ToolResult<Value> {
    let given = call.arguments.path("local_path")?;
    let local = call.paths.check(given)?;
    let shown = quote_path(given);
    let meta = std::fs::metadata(&local).map_err(ToolError::local(format!("read {shown}")))?;
    if !meta.is_dir() {
        return Err(ToolError::refused(format!(
            "{shown} is not a folder: use upload_file"
        )));
    }
    let name = local.file_name().map(|name| name.to_string_lossy());
    let name = Name::new(name.unwrap_or_default()).map_err(|e| {
        ToolError::refused(format!(
            "the name of {shown} is not allowed on the service: {e}"
        ))
    })?;
    let (space, parent) = named::folder(call).await?;
    let upload = FolderUpload {
        local: &local,
        tree: Arc::new(AllowedFiles::of(call)),
        recursive: call.arguments.flag("recursive") != Some(false),
        progress: &call.progress,
    };
    let done = space.upload_folder(upload, parent, &name).await?;
    let failed = done.failed.len();
    let errors = done.failed.into_iter().take(MAX_REPORTED_ERRORS);
    Ok(json!({
        "folder_uuid": done.folder,
        "files_uploaded": done.files,
        // Their content was there already.
        "files_unchanged": done.unchanged,
        "folders_created": done.folders,
        "total_bytes": done.bytes,
        "failed": failed,
        "errors": errors.map(error_entry).collect::<Vec<_>>(),
    }))
}

fn error_entry(failed: FailedUpload) -> Value {
    let error = match failed.reason {
        NotUploaded::Transfer(error) => ToolError::from(error),
        reason
        @ (NotUploaded::Rejected(_) | NotUploaded::Unreadable(_) | NotUploaded::Changing) => {
            ToolError::Quoting(reason.to_string())
        }
    };
    json!({ "path": failed.path.to_string_lossy(), "error": error.public_message() })
}

/// The local files that tools may use.
pub(super) struct AllowedFiles {
    paths: LocalPaths,
    files: Arc<dyn LocalFiles>,
}

impl LocalTree for AllowedFiles {
    fn list(&self, dir: &Path) -> io::Result<Vec<LocalEntry>> {
        self.check(dir)?;
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(dir)? {
            let path = entry?.path();
            let kind = self.kind(&path);
            entries.push(LocalEntry { path, kind });
        }
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(entries)
    }

    fn source(&self, path: &Path) -> Arc<dyn Source> {
        Arc::new(CheckedSource {
            path: path.to_owned(),
            allowed: self.paths.clone(),
        })
    }
}

impl LocalFolder for AllowedFiles {
    fn check(&self, dir: &Path) -> io::Result<()> {
        self.paths
            .recheck(dir)
            .map_err(|e| io::Error::new(io::ErrorKind::PermissionDenied, e.to_string()))
    }

    fn set_executable(&self, path: &Path, executable: bool) -> io::Result<()> {
        self.files.set_executable(path, executable)
    }

    fn sync_all(&self, dir: &Path) -> io::Result<()> {
        self.files.sync_all(dir)
    }
}

impl AllowedFiles {
    pub(super) fn of(call: &Call) -> Self {
        Self {
            paths: call.paths.clone(),
            files: call.services.files.clone(),
        }
    }

    fn kind(&self, path: &Path) -> EntryKind {
        let rejected = |reason: &str| EntryKind::Rejected(reason.to_owned());
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(name) = name.and_then(|name| Name::new(name).ok()) else {
            return rejected("its name is not UTF-8 or not allowed on the service");
        };
        if name.as_str().starts_with('.') {
            return rejected("hidden files and folders are not uploaded");
        }
        let meta = match path.symlink_metadata() {
            Ok(meta) => meta,
            Err(error) => return EntryKind::Rejected(error.to_string()),
        };
        if meta.is_symlink() {
            return rejected("it is a symbolic link, and links are not uploaded");
        }
        if self.paths.is_private(path) {
            return rejected("Cairn keeps files of its own there: they are not uploaded");
        }
        if meta.is_dir() {
            return EntryKind::Folder(name);
        }
        match check_uploadable(path, &meta) {
            Ok(()) => EntryKind::File(name, local_metadata(self.files.as_ref(), path, &meta)),
            Err(error) => EntryKind::Rejected(error.to_string()),
        }
    }
}

impl FolderProgress for Reporter {
    fn expect_bytes(&self, bytes: u64) {
        self.add_total(bytes);
    }

    fn begin(&self, what: Moving<'_>, _bytes: u64) -> Box<dyn Progress> {
        match what {
            Moving::File(name) => self.set_message(name),
            Moving::SmallFiles(files) => self.set_message(format!("{files} small files")),
        }
        Box::new(self.file())
    }
}
