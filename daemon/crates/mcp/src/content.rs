//! The content tools: file content, encrypted and decrypted on this machine.

mod disk;
mod down;
mod folder_down;
mod folder_up;
mod up;

use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::question::Asking;
use crate::tool::ToolFuture;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cairn_api::ApiError;
use cairn_model::{Kind, NodeId};
use cairn_space::Space;
use cairn_transfer::MemoryTarget;
use cairn_wire::nodes::{Node, NodeState};
use futures_util::FutureExt as _;
use serde_json::json;
use std::sync::Arc;

const MB: u64 = 1024 * 1024;
const GB: u64 = 1024 * MB;
const MAX_TEXT: u64 = 10 * MB;
const MAX_BASE64: u64 = 50 * MB;
const MAX_UPLOAD: u64 = 500 * MB;

pub(crate) fn read(call: Call) -> ToolFuture {
    async move {
        let space = call.services.space().await?;
        let node = node(&space, &call, "file_uuid", Kind::File).await?;
        let base64 = call.arguments.text("encoding") == Some("base64");
        let (limit, way) = if base64 {
            (MAX_BASE64, "base64")
        } else {
            (MAX_TEXT, "text")
        };
        let too_large = || {
            ToolError::refused(format!(
                "`{}` has {}, more than the {} MB that can be read as {way}: use download_file",
                node.name,
                exact_size(node.size),
                limit / MB
            ))
        };
        if node.size > limit {
            return Err(too_large());
        }
        call.progress.set_total(node.size);
        let content = space
            .content(&node, None)
            .await?
            .ok_or_else(|| no_content(&node))?;
        let target = Arc::new(MemoryTarget::default());
        let manifest = space
            .transfer()
            .download(content, target.clone(), &call.progress.file())
            .await?;
        if manifest.size > limit {
            return Err(too_large());
        }
        let bytes = target.take();
        let (size, name) = (bytes.len(), crate::clean::text(&node.name));
        let content = if base64 {
            STANDARD.encode(&bytes)
        } else {
            String::from_utf8(bytes).map_err(|_| {
                ToolError::refused(format!(
                    "`{name}` is not text: read it with encoding base64, or use download_file"
                ))
            })?
        };
        Ok(json!({
            "file_uuid": node.id,
            "name": name,
            "size": size,
            "encoding": way,
            "content": content,
            "verified": space.unverified_path(&node).await?.is_empty(),
        }))
    }
    .boxed()
}

pub(crate) fn replaced_file(call: &Call) -> Asking<'_> {
    down::replaced(call).boxed()
}

pub(crate) fn replaced_files(call: &Call) -> Asking<'_> {
    folder_down::replaced(call).boxed()
}

pub(crate) fn download_file(call: Call) -> ToolFuture {
    async move { down::file(&call).await }.boxed()
}

pub(crate) fn download_folder(call: Call) -> ToolFuture {
    async move { folder_down::folder(&call).await }.boxed()
}

pub(crate) fn upload_file(call: Call) -> ToolFuture {
    async move { up::file(&call).await }.boxed()
}

pub(crate) fn upload_folder(call: Call) -> ToolFuture {
    async move { folder_up::folder(&call).await }.boxed()
}

/// Returns the node that an argument names, if it is of the right kind and not in the trash.
async fn node(space: &Space, call: &Call, argument: &str, kind: Kind) -> ToolResult<Node> {
    let id: NodeId = call.arguments.id(argument)?;
    // A name that can't be one is the concern of whoever uses it: downloads reduce it to its base name.
    let node = match space.api().node(id).await {
        Err(ApiError::NotFound { .. } | ApiError::Forbidden { .. })
            if call.services.is_in_team(id).await =>
        {
            return Err(ToolError::refused(
                "it is in a team's space, whose content these tools don't open: use the command line, `cairn download` or `cairn upload` with --team",
            ));
        }
        node => node?,
    };
    if node.space_id != space.keys().space() {
        return Err(ToolError::refused(format!(
            "`{}` belongs to another space, whose keys are not open here",
            node.name
        )));
    }
    if node.state == NodeState::Trashed {
        return Err(ToolError::refused(format!(
            "`{}` is in the trash: restore_from_trash brings it back",
            node.name
        )));
    }
    match (node.kind, kind) {
        (Kind::Folder, Kind::File) => Err(ToolError::refused(format!(
            "`{}` is a folder: use download_folder, or list_files to see what is in it",
            node.name
        ))),
        (Kind::File, Kind::Folder) => Err(ToolError::refused(format!(
            "`{}` is a file, but a folder is needed",
            node.name
        ))),
        (Kind::File, Kind::File) | (Kind::Folder, Kind::Folder) => Ok(node),
    }
}

/// Formats a size exactly, so that it never looks like the limit that it is just above.
fn exact_size(size: u64) -> String {
    if size.is_multiple_of(MB) {
        format!("{} MB", size / MB)
    } else {
        format!("{size} bytes")
    }
}

fn no_content(node: &Node) -> ToolError {
    ToolError::refused(format!("the service has no content of `{}`", node.name))
}
