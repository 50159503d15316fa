//! Upload of one local file.

use super::disk::{CheckedSource, check_uploadable, local_metadata};
use super::named;
use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::quote::{quote, quote_path};
use cairn_model::Name;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) async fn file(call: &Call) -> ToolResult<Value> {
    let given = call.arguments.path("local_path")?;
    let local = call.paths.check(given)?;
    let shown = quote_path(given);
    let meta = std::fs::metadata(&local).map_err(ToolError::local(format!("read {shown}")))?;
    if meta.is_dir() {
        return Err(ToolError::refused(format!(
            "{shown} is a folder: use upload_folder"
        )));
    }
    check_uploadable(&local, &meta)?;
    let own = || {
        // The name that was said, not that of what a link leads to.
        let last = given.file_name().or(local.file_name());
        last.map(|name| name.to_string_lossy().into_owned())
    };
    let name = call
        .arguments
        .text("file_name")
        .map(str::to_owned)
        .or_else(own)
        .unwrap_or_default();
    let name = Name::new(name.as_str()).map_err(|e| {
        ToolError::argument(format!(
            "file_name can't be {}: {e}; choose another",
            quote(&name)
        ))
    })?;
    let (space, parent) = named::folder(call).await?;
    call.progress.set_total(meta.len());
    let source = Arc::new(CheckedSource {
        path: local.clone(),
        allowed: call.paths.clone(),
    });
    let facts = local_metadata(call.services.files.as_ref(), &local, &meta);
    let progress = call.progress.file();
    let node = space
        .upload(source, facts, parent, &name, &progress)
        .await?;
    Ok(json!({
        "file_uuid": node.id,
        "name": node.name,
        "size": node.size,
        "folder_uuid": node.parent_id,
        "version_id": node.revision_id,
    }))
}
