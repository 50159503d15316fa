//! Download of one file: verified first, then moved into place in one step.

use super::disk::base_name;
use super::named::{self, no_content};
use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::quote::quote_path;
use cairn_model::{Kind, NodeId};
use cairn_space::{DownloadTarget, DownloadTargetError, SetExecutable, Space};
use cairn_wire::nodes::Node;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub(super) async fn file(call: &Call) -> ToolResult<Value> {
    // The local path first: it is checked without any request.
    let output = output(call)?;
    let (space, node) = named::node(call, "file_uuid", Kind::File).await?;
    let unverified = space.unverified_path(&node).await?;
    call.services.check_verified(&unverified)?;
    let to = target(call, output, &node)?;
    place(call, &to, &|_, _| Ok(()))
        .check()
        .map_err(not_placed_error)?;
    let dir = to.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(dir)
        .map_err(ToolError::local(format!("create {}", quote_path(dir))))?;
    call.progress.set_total(node.size);
    let size = fetch(call, &space, &node, &to).await?;
    Ok(json!({
        "file_uuid": node.id,
        "name": node.name,
        "path": to.to_string_lossy(),
        "size": size,
        "verified": unverified.is_empty(),
    }))
}

/// Returns the question whether a download may replace a local file, if there is one.
pub(super) async fn replace_question(call: &Call) -> ToolResult<Option<String>> {
    if call.may_replace {
        return Ok(None);
    }
    let output = output(call)?;
    let to = match &output {
        Output::File(path) => path.clone(),
        Output::Folder(_) => {
            let id: NodeId = call.arguments.id("file_uuid")?;
            let (_, node) = call.services.node_with_keys(id).await?;
            target(call, output, &node)?
        }
    };
    Ok(to.symlink_metadata().ok().map(|meta| {
        call.subject.note_file(to.clone(), &meta);
        format!(
            "Replace the local file {} ({}) with the download?",
            quote_path(&to),
            cairn_model::size::binary(meta.len())
        )
    }))
}

/// The local path of a download, as the call names it.
enum Output {
    File(PathBuf),
    Folder(PathBuf),
}

fn output(call: &Call) -> ToolResult<Output> {
    let given = call.arguments.path("output_path")?;
    let path = call.paths.check(given)?;
    let named_as_folder = given.to_string_lossy().ends_with(std::path::is_separator);
    check_shown_whole(&path)?;
    Ok(if named_as_folder || path.is_dir() {
        Output::Folder(path)
    } else {
        Output::File(path)
    })
}

/// Refuses a local path that the result can't name: it would lead to nothing without its invisible characters.
pub(super) fn check_shown_whole(path: &Path) -> ToolResult {
    let is_shown_whole = path
        .to_str()
        .is_some_and(|text| crate::clean::text(text) == text);
    if is_shown_whole {
        return Ok(());
    }
    Err(ToolError::refused(format!(
        "the local path {} has invisible characters, which no answer shows: choose one without them",
        quote_path(path)
    )))
}

/// Returns the path of the downloaded file.
fn target(call: &Call, output: Output, node: &Node) -> ToolResult<PathBuf> {
    match output {
        Output::File(path) => Ok(path),
        Output::Folder(path) => {
            let path = path.join(base_name(call, &node.name)?.as_str());
            call.paths.check(&path)
        }
    }
}

/// Returns the place of a download: a file that is there is replaced if a person agreed or the settings allow it.
fn place<'a>(
    call: &Call,
    to: &'a Path,
    set_executable: &'a SetExecutable<'a>,
) -> DownloadTarget<'a> {
    DownloadTarget {
        to,
        replace: call.replaced_files(),
        set_executable,
    }
}

pub(super) fn not_placed_error(error: DownloadTargetError) -> ToolError {
    match error {
        DownloadTargetError::Exists(to) => ToolError::refused(format!(
            "{} exists already and nobody could be asked whether to replace it: choose another path, or start the server with --overwrite",
            quote_path(&to)
        )),
        DownloadTargetError::Changed(to) => ToolError::refused(format!(
            "{} was changed after the person agreed to replace it, and stays as it is: call again to have them asked about what it is now",
            quote_path(&to)
        )),
        DownloadTargetError::NoFile(to) => ToolError::refused(format!(
            "{} is a device, a pipe or a folder, and no file: choose another path",
            quote_path(&to)
        )),
        DownloadTargetError::NoContent(_) => ToolError::Quoting(error.to_string()),
        DownloadTargetError::Folder { dir, source } => {
            ToolError::local(format!("write to {}", quote_path(&dir)))(source)
        }
        DownloadTargetError::File { to, source } => {
            ToolError::local(format!("write {}", quote_path(&to)))(source)
        }
        DownloadTargetError::Transfer(error) => error.into(),
    }
}

/// Downloads a file's content to its place on this machine.
async fn fetch(call: &Call, space: &Space, node: &Node, to: &Path) -> ToolResult<u64> {
    let content = space
        .content(node, None)
        .await?
        .ok_or_else(|| no_content(node))?;
    call.paths.recheck(to.parent().unwrap_or(Path::new("/")))?;
    let files = &call.services.files;
    let set_executable = |path: &Path, executable| files.set_executable(path, executable);
    let manifest = space
        .download_to(
            content,
            place(call, to, &set_executable),
            &call.progress.file(),
        )
        .await
        .map_err(not_placed_error)?;
    Ok(manifest.size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_no_answer_shows_is_refused() {
        for shown in [
            "/a/b.txt",
            "/a/日本語.txt",
            "/a/👩\u{200d}👧.png",
            "/a/می\u{200c}خواهم",
        ] {
            assert!(check_shown_whole(Path::new(shown)).is_ok(), "{shown}");
        }
        for hidden in ["/a/x\u{200b}y.txt", "/a\u{202e}/b.txt", "/a/\u{feff}b"] {
            let refused = check_shown_whole(Path::new(hidden)).unwrap_err();
            assert!(refused.to_string().contains("invisible"), "{refused}");
        }
    }
}
