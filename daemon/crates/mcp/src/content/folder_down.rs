//! A folder with everything below it to this disk. One file that fails doesn't hold up the others.

use super::disk::base_name;
use super::{GB, MB, down, node, path};
use crate::call::Call;
use crate::failure::{Outcome, ToolError};
use cairn_model::{Kind, NodeId};
use cairn_space::Space;
use cairn_wire::nodes::Node;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

const MAX_TOTAL: u64 = 5 * GB;
const WARN_TOTAL: u64 = GB;
/// Files on their way at once.
const AT_ONCE: usize = 5;
/// Of so many failures the messages are told.
const MAX_TOLD: usize = 100;

#[derive(Default)]
struct Plan {
    dirs: Vec<PathBuf>,
    wanted: Vec<(Node, PathBuf)>,
    total: u64,
    skipped: u64,
    failed: Vec<Value>,
}

pub(super) async fn folder(call: &Call) -> Outcome<Value> {
    let to = path::allowed(call.arguments.path("output_path")?)?;
    let space = call.services.space().await?;
    let top = node(&space, call, "folder_uuid", Kind::Folder).await?;
    let plan = planned(call, &space, top.id, &to).await?;
    for dir in &plan.dirs {
        std::fs::create_dir_all(dir)
            .map_err(ToolError::local(format!("make `{}`", dir.display())))?;
        path::still_allowed(dir)?;
    }
    call.progress.expect(plan.total);
    let (total, skipped) = (plan.total, plan.skipped);
    let (mut downloaded, mut bytes, mut failed) = (0_u64, 0_u64, plan.failed);
    let space = &space;
    let transfers = plan.wanted.into_iter().map(|(node, path)| async move {
        call.progress.says(node.name.clone());
        (down::fetch(call, space, &node, &path).await, path)
    });
    let mut transfers = futures_util::stream::iter(transfers).buffer_unordered(AT_ONCE);
    while let Some((result, path)) = transfers.next().await {
        match result {
            Ok(size) => {
                downloaded += 1;
                bytes += size;
            }
            Err(error) => failed.push(failure(&path, &error)),
        }
    }
    drop(transfers);
    let failures = failed.len();
    failed.truncate(MAX_TOLD);
    let mut answer = json!({
        "path": to.to_string_lossy(),
        "downloaded": downloaded,
        "skipped": skipped,
        "failed": failures,
        "total_bytes": bytes,
        "errors": failed,
    });
    if total > WARN_TOTAL {
        answer["warning"] = json!(format!(
            "the folder has {}, more than 1 GB: keep it in sync instead with `cairn add`",
            crate::compute::size(total as f64)
        ));
    }
    Ok(answer)
}

fn failure(path: &Path, error: &ToolError) -> Value {
    json!({ "path": path.to_string_lossy(), "error": error.told() })
}

/// Looks at the whole tree before anything is written, so that a folder that is too large leaves nothing.
async fn planned(call: &Call, space: &Space, top: NodeId, to: &Path) -> Outcome<Plan> {
    let mut plan = Plan::default();
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
        for node in space.children(Some(id)).await? {
            let name = match base_name(call, &node.name) {
                Ok(name) => free(name.as_str(), &mut taken),
                Err(error) => {
                    plan.failed.push(failure(&dir.join(&node.name), &error));
                    continue;
                }
            };
            let path = dir.join(name);
            match node.kind {
                Kind::Folder => waiting.push((node.id, path)),
                Kind::File if has_size(&path, node.size) => plan.skipped += 1,
                Kind::File => {
                    plan.total = plan.total.saturating_add(node.size);
                    if plan.total > MAX_TOTAL {
                        return Err(ToolError::refused(format!(
                            "the folder has more than {} GB to download: take folders in it one by one",
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

fn has_size(path: &Path, size: u64) -> bool {
    path.symlink_metadata()
        .is_ok_and(|meta| meta.is_file() && meta.len() == size)
}

/// The name, with a number where another one on a disk that knows no case is the same.
fn free(name: &str, taken: &mut HashSet<String>) -> String {
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
        let free = names.map(|name| free(name, &mut taken));
        assert_eq!(
            free,
            ["a.txt", "A (2).txt", "a (3).TXT", ".x", ".X (2)", "b"]
        );
    }
}
