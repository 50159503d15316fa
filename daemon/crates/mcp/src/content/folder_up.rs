//! Upload of a local folder with matching folders on the service. One file that fails doesn't stop
//! the others.

use super::up;
use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use cairn_model::{Kind, Name, NodeId};
use cairn_space::Space;
use serde_json::{Value, json};
use std::fs::Metadata;
use std::path::{Path, PathBuf};

const MAX_REPORTED_ERRORS: usize = 100;

#[derive(Default)]
struct UploadReport {
    files: u64,
    folders: u64,
    bytes: u64,
    errors: Vec<Value>,
}

impl UploadReport {
    fn failed(&mut self, path: &Path, message: &str) {
        let message = json!({ "path": path.to_string_lossy(), "error": message });
        self.errors.push(message);
    }
}

pub(super) async fn folder(call: &Call) -> ToolResult<Value> {
    let given = call.arguments.path("local_path")?;
    let local = call.paths.check(given)?;
    let shown = given.display();
    let meta = std::fs::metadata(&local).map_err(ToolError::local(format!("read `{shown}`")))?;
    if !meta.is_dir() {
        return Err(ToolError::refused(format!(
            "`{shown}` is not a folder: use upload_file"
        )));
    }
    let name = local.file_name().map(|name| name.to_string_lossy());
    let name = Name::new(name.unwrap_or_default()).map_err(|e| {
        ToolError::refused(format!(
            "the name of `{shown}` is not allowed on the service: {e}"
        ))
    })?;
    let space = call.services.space().await?;
    let parent = up::target(&space, call).await?;
    let mut report = UploadReport::default();
    let top = folder_for(&space, parent, &name, &mut report).await?;
    let recursive = call.arguments.flag("recursive") != Some(false);
    let mut waiting = vec![(local, top)];
    while let Some((dir, node)) = waiting.pop() {
        for (name, path, meta) in entries(call, &dir, &mut report)? {
            if meta.is_dir() {
                if recursive {
                    match folder_for(&space, Some(node), &name, &mut report).await {
                        Ok(below) => waiting.push((path, below)),
                        Err(error) => report.failed(&path, &error.public_message()),
                    }
                }
                continue;
            }
            call.progress.set_message(name.as_str());
            match one(call, &space, &path, &meta, node, &name).await {
                Ok(()) => {
                    report.files += 1;
                    report.bytes += meta.len();
                }
                Err(error) => report.failed(&path, &error.public_message()),
            }
        }
    }
    let failed = report.errors.len();
    report.errors.truncate(MAX_REPORTED_ERRORS);
    Ok(json!({
        "folder_uuid": top,
        "files_uploaded": report.files,
        "folders_created": report.folders,
        "total_bytes": report.bytes,
        "failed": failed,
        "errors": report.errors,
    }))
}

async fn one(
    call: &Call,
    space: &Space,
    path: &Path,
    meta: &Metadata,
    parent: NodeId,
    name: &Name,
) -> ToolResult {
    if meta.is_symlink() {
        return Err(ToolError::refused(
            "it is a symbolic link, and links are not uploaded",
        ));
    }
    up::check(path, meta)?;
    up::send(call, space, path, meta, Some(parent), name)
        .await
        .map(drop)
}

/// Lists a directory by name; reports what can't be uploaded.
fn entries(
    call: &Call,
    dir: &Path,
    report: &mut UploadReport,
) -> ToolResult<Vec<(Name, PathBuf, Metadata)>> {
    let reading = || ToolError::local(format!("read `{}`", dir.display()));
    call.paths.recheck(dir)?;
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(reading())? {
        let path = entry.map_err(reading())?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.and_then(|name| Name::new(name).ok());
        match (name, path.symlink_metadata()) {
            (Some(name), Ok(_)) if name.as_str().starts_with('.') => {
                report.failed(&path, "hidden files and folders are not uploaded");
            }
            (Some(name), Ok(meta)) => found.push((name, path, meta)),
            (None, _) => {
                report.failed(&path, "its name is not UTF-8 or not allowed on the service")
            }
            (_, Err(error)) => report.failed(&path, &error.to_string()),
        }
    }
    found.sort_by(|a, b| a.1.cmp(&b.1));
    Ok(found)
}

async fn folder_for(
    space: &Space,
    parent: Option<NodeId>,
    name: &Name,
    report: &mut UploadReport,
) -> ToolResult<NodeId> {
    match space.child(parent, name).await? {
        Some(node) if node.kind == Kind::Folder => Ok(node.id),
        Some(node) => Err(ToolError::refused(format!(
            "the service has a file `{}` where a folder is needed: rename one of them",
            node.name
        ))),
        None => {
            let node = space.make_folder(parent, name).await?;
            report.folders += 1;
            Ok(node.id)
        }
    }
}
