//! Download of a folder with everything below it. One file that fails doesn't stop the others.

use super::disk::{GIB, MIB, base_name};
use super::folder_up::AllowedFiles;
use super::{down, named};
use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::quote::quote_path;
use cairn_model::NodeId;
use cairn_space::{DownloadPlan, FailedDownload, FolderDownload, PlanError, Space};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

const MAX_TOTAL: u64 = 5 * GIB;
const WARN_TOTAL: u64 = GIB;
/// The number of failures that are reported with their messages.
const MAX_REPORTED_ERRORS: usize = 100;
/// The number of replaced files that a question names.
const MAX_NAMED: usize = 10;

pub(super) async fn download(call: &Call) -> ToolResult<Value> {
    let to = call.paths.check(call.arguments.path("output_path")?)?;
    down::check_shown_whole(&to)?;
    let (space, top) = named::folder(call).await?;
    let (plan, renamed) = plan_download(call, &space, top, &to).await?;
    call.services.check_verified(&plan.unverified)?;
    let local = Arc::new(AllowedFiles::of(call));
    plan.make_folders(local.as_ref())
        .map_err(down::not_placed_error)?;
    call.progress.set_total(plan.bytes);
    let download = FolderDownload {
        to: &to,
        files: plan.files,
        local,
        replace: call.replaced_files(),
        progress: &call.progress,
    };
    let done = space.download_folder(download).await?;
    let rejected = plan
        .rejected
        .into_iter()
        .map(|name| json!({ "path": name.path.to_string_lossy(), "error": name.reason }));
    let mut failed: Vec<Value> = rejected.collect();
    failed.extend(done.failed.into_iter().map(error_entry));
    let failures = failed.len();
    failed.truncate(MAX_REPORTED_ERRORS);
    let mut response = json!({
        "path": to.to_string_lossy(),
        "downloaded": done.files,
        "skipped": plan.skipped,
        "failed": failures,
        "total_bytes": done.bytes,
        "unverified": plan.unverified.len(),
        "errors": failed,
    });
    if !renamed.is_empty() {
        response["renamed"] = json!(renamed);
    }
    if plan.bytes > WARN_TOTAL {
        response["warning"] = json!(format!(
            "the folder has {}, more than 1 GiB: consider syncing it with `cairn add`",
            cairn_model::size::binary(plan.bytes)
        ));
    }
    Ok(response)
}

/// Returns the question whether a download may replace local files, if there are any.
pub(super) async fn replace_question(call: &Call) -> ToolResult<Option<String>> {
    let to = call.paths.check(call.arguments.path("output_path")?)?;
    down::check_shown_whole(&to)?;
    if call.may_replace || !to.exists() {
        return Ok(None);
    }
    let (space, top) = named::folder(call).await?;
    let (plan, _) = plan_download(call, &space, top, &to).await?;
    let replaced: Vec<_> = plan
        .files
        .iter()
        .filter_map(|file| {
            let path = &file.to;
            call.subject
                .note_file(path.clone(), &path.symlink_metadata().ok()?);
            Some(quote_path(path.strip_prefix(&to).unwrap_or(path)))
        })
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
            quote_path(&to),
            first.join(", ")
        )
    }))
}

fn error_entry(failed: FailedDownload) -> Value {
    let error = down::not_placed_error(failed.reason);
    json!({ "path": failed.path.to_string_lossy(), "error": error.public_message() })
}

/// Plans the download, with names that this system can have; returns it with the names that others have here.
async fn plan_download(
    call: &Call,
    space: &Space,
    top: Option<NodeId>,
    to: &Path,
) -> ToolResult<(DownloadPlan, Vec<Value>)> {
    let renamed = Mutex::new(Vec::new());
    let local_path = |dir: &Path, name: &str, taken: &mut HashSet<String>| {
        let mut path = || {
            let local = unique_name(base_name(call, name)?.as_str(), taken);
            let path = call.paths.check(&dir.join(&local))?;
            let mut renamed = renamed.lock();
            if local != name && renamed.len() < MAX_REPORTED_ERRORS {
                renamed.push(json!({ "name": name, "path": path.to_string_lossy() }));
            }
            Ok(path)
        };
        path().map_err(|error: ToolError| error.public_message())
    };
    let plan = space.plan_download(top, to, MAX_TOTAL, &local_path).await;
    let plan = plan.map_err(|error| match error {
        PlanError::Transfer(error) => error.into(),
        PlanError::TooLarge { limit } => ToolError::refused(format!(
            "the folder has more than {} GiB to download: download the folders in it one by one",
            limit / GIB
        )),
    })?;
    tracing::debug!(files = plan.files.len(), mib = plan.bytes / MIB, "planned");
    Ok((plan, renamed.into_inner()))
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
