//! The content tools: file content, encrypted and decrypted on this machine.

mod disk;
mod down;
mod folder_down;
mod folder_up;
mod named;
mod up;

use crate::call::Call;
use crate::error::ToolError;
use crate::question::Asking;
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

pub(crate) fn read(call: Call) -> ToolFuture {
    async move {
        let (space, node) = named::node(&call, "file_uuid", Kind::File).await?;
        let base64 = call.arguments.text("encoding") == Some("base64");
        let (limit, way) = if base64 {
            (MAX_BASE64, "base64")
        } else {
            (MAX_TEXT, "text")
        };
        let too_large = || {
            ToolError::refused(format!(
                "`{}` has {}, more than the {} MiB that can be read as {way}: use download_file",
                node.name,
                exact_size(node.size),
                limit / MIB
            ))
        };
        if node.size > limit {
            return Err(too_large());
        }
        let unverified = space.unverified_path(&node).await?;
        call.services.check_verified(&unverified)?;
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
            "verified": unverified.is_empty(),
        }))
    }
    .boxed()
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
