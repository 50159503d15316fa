//! The content tools: file content, encrypted and decrypted on this machine.

mod disk;
mod down;
mod folder_down;
mod folder_up;
mod named;
mod up;

use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::node_paths;
use crate::question::Asking;
use crate::quote::quote;
use crate::tool::ToolFuture;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cairn_model::Kind;
use cairn_transfer::MemoryTarget;
use disk::{MIB, exact_size};
use futures_util::FutureExt as _;
use named::no_content;
use serde_json::json;
use std::sync::Arc;

const MAX_TEXT: u64 = 10 * MIB;
const MAX_BASE64: u64 = 50 * MIB;

/// Returns a file's content: that of the version that the call names, if it does, else the present one.
pub(crate) fn read(call: Call) -> ToolFuture {
    async move {
        let (space, node) = named::node(&call, "file_uuid", Kind::File).await?;
        let base64 = call.arguments.text("encoding") == Some("base64");
        let (limit, way) = match base64 {
            true => (MAX_BASE64, "base64"),
            false => (MAX_TEXT, "text"),
        };
        let too_large = |size| {
            ToolError::refused(format!(
                "{} has {}, more than the {} MiB that can be read as {way}: use download_file",
                quote(&node.name),
                exact_size(size),
                limit / MIB
            ))
        };
        let version = named::version(&call, &space, &node).await?;
        let size = version.as_ref().map_or(node.size, |version| version.size);
        if size > limit {
            return Err(too_large(size));
        }
        let unverified = space.unverified_path(&node).await?;
        call.services.check_verified(&unverified)?;
        call.progress.set_total(size);
        let content = space
            .content(&node, version.as_ref().map(|version| version.id))
            .await?
            .ok_or_else(|| no_content(&node))?;
        let target = Arc::new(MemoryTarget::default());
        let manifest = space
            .transfer()
            .download(content, target.clone(), &call.progress.file())
            .await?;
        if manifest.size > limit {
            return Err(too_large(manifest.size));
        }
        let bytes = target.take();
        let (size, name) = (bytes.len(), crate::clean::text(&node.name));
        let content = content_text(bytes, &name, base64)?;
        // The content stays as it is: it may be copied, or compared.
        let hides_something = !base64 && crate::clean::hides_something(&content);
        let mut document = json!({
            "file_uuid": node.id,
            "name": name,
            "size": size,
            "encoding": way,
            "content": content,
            "verified": unverified.is_empty(),
        });
        if hides_something {
            document[node_paths::HIDDEN] = json!(true);
        }
        if let Some(version) = version {
            document["version"] = json!(version.number);
            document["created_at"] = json!(version.created_at);
        }
        Ok(document)
    }
    .boxed()
}

/// Returns the text that stands for a content in a result.
fn content_text(bytes: Vec<u8>, name: &str, base64: bool) -> ToolResult<String> {
    if base64 {
        return Ok(STANDARD.encode(&bytes));
    }
    String::from_utf8(bytes).map_err(|_| {
        ToolError::refused(format!(
            "{} is not text: read it with encoding base64, or use download_file",
            quote(name)
        ))
    })
}

pub(crate) fn replaced_file(call: &Call) -> Asking<'_> {
    down::replace_question(call).boxed()
}

pub(crate) fn replaced_files(call: &Call) -> Asking<'_> {
    folder_down::replace_question(call).boxed()
}

pub(crate) fn download_file(call: Call) -> ToolFuture {
    async move { down::file(&call).await }.boxed()
}

pub(crate) fn download_folder(call: Call) -> ToolFuture {
    async move { folder_down::download(&call).await }.boxed()
}

pub(crate) fn upload_file(call: Call) -> ToolFuture {
    async move { up::file(&call).await }.boxed()
}

pub(crate) fn upload_folder(call: Call) -> ToolFuture {
    async move { folder_up::upload(&call).await }.boxed()
}
