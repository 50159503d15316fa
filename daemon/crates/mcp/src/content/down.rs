//! Download of one file: verified first, then moved into place in one step.

use super::disk::base_name;
use super::{no_content, node, path};
use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use cairn_model::Kind;
use cairn_space::Space;
use cairn_transfer::FileTarget;
use cairn_wire::nodes::Node;
use serde_json::{Value, json};
use std::fs::{File, FileTimes};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

pub(super) async fn file(call: &Call) -> ToolResult<Value> {
    // The place first: it is known without asking anybody.
    let mut to = path::allowed(call.arguments.path("output_path")?)?;
    let space = call.services.space().await?;
    let node = node(&space, call, "file_uuid", Kind::File).await?;
    let name = base_name(call, &node.name);
    if to.is_dir() {
        to.push(name?.as_str());
        path::allowed(&to)?;
    }
    let dir = to.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(dir).map_err(ToolError::local(format!("make `{}`", dir.display())))?;
    call.progress.set_total(node.size);
    let size = fetch(call, &space, &node, &to).await?;
    Ok(json!({
        "file_uuid": node.id,
        "name": node.name,
        "path": to.to_string_lossy(),
        "size": size,
    }))
}

/// Downloads a file's content to a temporary file beside its target and moves it there once verified.
pub(super) async fn fetch(call: &Call, space: &Space, node: &Node, to: &Path) -> ToolResult<u64> {
    let shown = to.display();
    let content = space
        .content(node, None)
        .await?
        .ok_or_else(|| no_content(node))?;
    let dir = to.parent().unwrap_or(Path::new("/"));
    path::still_allowed(dir)?;
    // With the permissions that the user gives to new files.
    let open = |path: &Path| {
        File::options()
            .create_new(true)
            .read(true)
            .write(true)
            .open(path)
    };
    let temp = tempfile::Builder::new()
        .prefix(".cairn-")
        .make_in(dir, open)
        .map_err(ToolError::local(format!("write to `{}`", dir.display())))?;
    let file = temp
        .as_file()
        .try_clone()
        .map_err(ToolError::local(format!("write `{shown}`")))?;
    let target = Arc::new(FileTarget::new(file));
    let manifest = space
        .transfer()
        .download(content, target, &call.progress.file())
        .await?;
    let put = || -> io::Result<()> {
        let millis = u64::try_from(manifest.modified_ms).unwrap_or(0);
        let modified = UNIX_EPOCH + Duration::from_millis(millis);
        temp.as_file()
            .set_times(FileTimes::new().set_modified(modified))?;
        call.services
            .files
            .set_executable(temp.path(), manifest.executable)?;
        temp.as_file().sync_all()?;
        temp.persist(to)?;
        Ok(())
    };
    put().map_err(ToolError::local(format!("write `{shown}`")))?;
    Ok(manifest.size)
}
