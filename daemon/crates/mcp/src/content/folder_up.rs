//! A folder of this disk to the service, with matching folders there. One file that fails doesn't hold
//! up the others.

use super::{path, up};
use crate::call::Call;
use crate::failure::{Outcome, ToolError};
use cairn_model::{Kind, Name, NodeId};
use cairn_space::Space;
use serde_json::{Value, json};
use std::fs::Metadata;
use std::path::{Path, PathBuf};

const MAX_TOLD: usize = 100;

#[derive(Default)]
struct Done {
    files: u64,
    folders: u64,
    bytes: u64,
    errors: Vec<Value>,
}

impl Done {
    fn failed(&mut self, path: &Path, message: &str) {
        let message = json!({ "path": path.to_string_lossy(), "error": message });
        self.errors.push(message);
    }
}

pub(super) async fn folder(call: &Call) -> Outcome<Value> {
    let said = call.arguments.path("local_path")?;
    let local = path::allowed(said)?;
    let shown = said.display();
    let meta = std::fs::metadata(&local).map_err(ToolError::local(format!("read `{shown}`")))?;
    if !meta.is_dir() {
        return Err(ToolError::refused(format!(
            "`{shown}` is no folder: use upload_file"
        )));
    }
    let name = local.file_name().map(|name| name.to_string_lossy());
    let name = Name::new(name.unwrap_or_default()).map_err(|e| {
        ToolError::refused(format!(
            "`{shown}` has no name that the service can have: {e}"
        ))
    })?;
    let space = call.services.space().await?;
    let parent = up::target(&space, call).await?;
    let mut done = Done::default();
    let top = folder_for(&space, parent, &name, &mut done).await?;
    let recursive = call.arguments.flag("recursive") != Some(false);
    let mut waiting = vec![(local, top)];
    while let Some((dir, node)) = waiting.pop() {
        for (name, path, meta) in entries(&dir, &mut done)? {
            if meta.is_dir() {
                if recursive {
                    match folder_for(&space, Some(node), &name, &mut done).await {
                        Ok(below) => waiting.push((path, below)),
                        Err(error) => done.failed(&path, &error.told()),
                    }
                }
                continue;
            }
            call.progress.says(name.as_str());
            match one(call, &space, &path, &meta, node, &name).await {
                Ok(()) => {
                    done.files += 1;
                    done.bytes += meta.len();
                }
                Err(error) => done.failed(&path, &error.told()),
            }
        }
    }
    let failed = done.errors.len();
    done.errors.truncate(MAX_TOLD);
    Ok(json!({
        "folder_uuid": top,
        "files_uploaded": done.files,
        "folders_created": done.folders,
        "total_bytes": done.bytes,
        "failed": failed,
        "errors": done.errors,
    }))
}

async fn one(
    call: &Call,
    space: &Space,
    path: &Path,
    meta: &Metadata,
    parent: NodeId,
    name: &Name,
) -> Outcome {
    if meta.is_symlink() {
        return Err(ToolError::refused(
            "it is a symbolic link: links are left out",
        ));
    }
    up::check(path, meta)?;
    up::send(call, space, path, meta, Some(parent), name)
        .await
        .map(drop)
}

/// What lies in a directory, by name; what can't be uploaded is noted.
fn entries(dir: &Path, done: &mut Done) -> Outcome<Vec<(Name, PathBuf, Metadata)>> {
    let reading = || ToolError::local(format!("read `{}`", dir.display()));
    path::still_allowed(dir)?;
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(reading())? {
        let path = entry.map_err(reading())?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.and_then(|name| Name::new(name).ok());
        match (name, path.symlink_metadata()) {
            (Some(name), Ok(meta)) => found.push((name, path, meta)),
            (None, _) => done.failed(
                &path,
                "its name is no UTF-8, or none that the service can have",
            ),
            (_, Err(error)) => done.failed(&path, &error.to_string()),
        }
    }
    found.sort_by(|a, b| a.1.cmp(&b.1));
    Ok(found)
}

async fn folder_for(
    space: &Space,
    parent: Option<NodeId>,
    name: &Name,
    done: &mut Done,
) -> Outcome<NodeId> {
    match space.child(parent, name).await? {
        Some(node) if node.kind == Kind::Folder => Ok(node.id),
        Some(node) => Err(ToolError::refused(format!(
            "there is a file `{}` on the service where a folder has to go: rename one of them",
            node.name
        ))),
        None => {
            let node = space.make_folder(parent, name).await?;
            done.folders += 1;
            Ok(node.id)
        }
    }
}
