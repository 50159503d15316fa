//! Download of a folder with everything below it. One file that fails doesn't stop the others.

use super::disk::base_name;
use super::{GB, MB, down, node};
use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::question::quoted;
use cairn_model::{Kind, NodeId};
use cairn_space::Space;
use cairn_wire::nodes::Node;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

const MAX_TOTAL: u64 = 5 * GB;
const WARN_TOTAL: u64 = GB;
/// The number of concurrent downloads.
const AT_ONCE: usize = 5;
/// The number of failures that are reported with their messages.
const MAX_REPORTED_ERRORS: usize = 100;
/// The number of replaced files that a question names.
const MAX_NAMED: usize = 10;

#[derive(Default)]
struct DownloadPlan {
    dirs: Vec<PathBuf>,
    wanted: Vec<(Node, PathBuf)>,
    total: u64,
    skipped: u64,
    failed: Vec<Value>,
}

pub(super) async fn folder(call: &Call) -> ToolResult<Value> {
    let to = call.paths.check(call.arguments.path("output_path")?)?;
    let space = call.services.space().await?;
    let top = node(&space, call, "folder_uuid", Kind::Folder).await?;
    let plan = planned(call, &space, top.id, &to).await?;
    for dir in &plan.dirs {
        std::fs::create_dir_all(dir)
            .map_err(ToolError::local(format!("create `{}`", dir.display())))?;
        call.paths.recheck(dir)?;
    }
    call.progress.set_total(plan.total);
    let (total, skipped) = (plan.total, plan.skipped);
    let (mut downloaded, mut bytes, mut failed) = (0_u64, 0_u64, plan.failed);
    let space = &space;
    let transfers = plan.wanted.into_iter().map(|(node, path)| async move {
        call.progress.set_message(node.name.clone());
        (down::fetch(call, space, &node, &path).await, path)
    });
    let mut transfers = futures_util::stream::iter(transfers).buffer_unordered(AT_ONCE);
    while let Some((result, path)) = transfers.next().await {
        match result {
            Ok(size) => {
                downloaded += 1;
                bytes += size;
            }
            Err(error) => failed.push(error_entry(&path, &error)),
        }
    }
    drop(transfers);
    let failures = failed.len();
    failed.truncate(MAX_REPORTED_ERRORS);
    let mut response = json!({
        "path": to.to_string_lossy(),
        "downloaded": downloaded,
        "skipped": skipped,
        "failed": failures,
        "total_bytes": bytes,
        "errors": failed,
    });
    if total > WARN_TOTAL {
        response["warning"] = json!(format!(
            "the folder has {}, more than 1 GB: consider syncing it with `cairn add`",
            crate::compute::size(total as f64)
        ));
    }
    Ok(response)
}

/// Returns the question whether a download may replace local files, if there are any.
pub(super) async fn replaced(call: &Call) -> ToolResult<Option<String>> {
    let to = call.paths.check(call.arguments.path("output_path")?)?;
    if call.may_replace || !to.exists() {
        return Ok(None);
    }
    let space = call.services.space().await?;
    let top = node(&space, call, "folder_uuid", Kind::Folder).await?;
    let plan = planned(call, &space, top.id, &to).await?;
    let replaced: Vec<_> = plan
        .wanted
        .iter()
        .filter(|(_, path)| path.symlink_metadata().is_ok())
        .map(|(_, path)| quoted(&path.strip_prefix(&to).unwrap_or(path).to_string_lossy()))
        .collect();
    let (first, more) = replaced.split_at(replaced.len().min(MAX_NAMED));
    let more = match more.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Ok((!first.is_empty()).then(|| {
        let count = replaced.len();
        let files = if count == 1 { "file" } else { "files" };
        format!(
            "Replace {count} local {files} in {} with the downloads: {}{more}?",
            quoted(&to.to_string_lossy()),
            first.join(", ")
        )
    }))
}

fn error_entry(path: &Path, error: &ToolError) -> Value {
    json!({ "path": path.to_string_lossy(), "error": error.public_message() })
}

/// Lists the whole tree before anything is written, so that a folder that is too large leaves nothing.
async fn planned(call: &Call, space: &Space, top: NodeId, to: &Path) -> ToolResult<DownloadPlan> {
    let mut plan = DownloadPlan::default();
    let mut seen = HashSet::new();
    let mut waiting = vec![(top, to.to_owned())];
    while let Some((id, dir)) = waiting.pop() {
        if !seen.insert(id) {
            return Err(ToolError::refused(
                "the service's folders contain each other: nothing was downloaded",
            ));
        }
        plan.dirs.push(dir.clone());
        let mut taken = HashSet::new();
        for node in space.api().children(Some(id), None).await? {
            let path = match local_path(call, space, &node, (id, &dir), &mut taken) {
                Ok(path) => path,
                Err(error) => {
                    plan.failed.push(error_entry(&dir.join(&node.name), &error));
                    continue;
                }
            };
            match node.kind {
                Kind::Folder => waiting.push((node.id, path)),
                Kind::File if has_size(&path, node.size) => plan.skipped += 1,
                Kind::File => {
                    plan.total = plan.total.saturating_add(node.size);
                    if plan.total > MAX_TOTAL {
                        return Err(ToolError::refused(format!(
                            "the folder has more than {} GB to download: download the folders in it one by one",
                            MAX_TOTAL / GB
                        )));
                    }
                    plan.wanted.push((node, path));
                }
            }
        }
    }
    tracing::debug!(files = plan.wanted.len(), mb = plan.total / MB, "planned");
    Ok(plan)
}

/// Returns the local path of a child. Whatever the server lists gets a path or an error, so that a download
/// never looks complete when it isn't.
fn local_path(
    call: &Call,
    space: &Space,
    node: &Node,
    (parent, dir): (NodeId, &Path),
    taken: &mut HashSet<String>,
) -> ToolResult<PathBuf> {
    if node.space_id != space.keys().space() || node.parent_id != Some(parent) {
        return Err(ToolError::refused(format!(
            "the service lists `{}` in a folder that it does not belong to",
            node.name
        )));
    }
    let name = base_name(call, &node.name)?;
    call.paths
        .check(&dir.join(unique_name(name.as_str(), taken)))
}

fn has_size(path: &Path, size: u64) -> bool {
    path.symlink_metadata()
        .is_ok_and(|meta| meta.is_file() && meta.len() == size)
}

/// Returns the name, with a number where a case-insensitive disk would confuse it with another.
fn unique_name(name: &str, taken: &mut HashSet<String>) -> String {
    let (stem, ext) = match name.rsplit_once('.') {
        Some((stem, ext)) if !stem.is_empty() => (stem, format!(".{ext}")),
        _ => (name, String::new()),
    };
    let mut chosen = name.to_owned();
    let mut number = 2;
    while !taken.insert(chosen.to_lowercase()) {
        chosen = format!("{stem} ({number}){ext}");
        number += 1;
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_collapse_get_numbers() {
        let mut taken = HashSet::new();
        let names = ["a.txt", "A.txt", "a.TXT", ".x", ".X", "b"];
        let unique_name = names.map(|name| unique_name(name, &mut taken));
        assert_eq!(
            unique_name,
            ["a.txt", "A (2).txt", "a (3).TXT", ".x", ".X (2)", "b"]
        );
    }
}
