//! Copies of earlier versions of files, written to this disk.

use super::copy;
use crate::app::App;
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::text::{clean, count, rfc3339, size};
use crate::remote::Remote;
use cairn_model::NodeId;
use cairn_space::past::{Incomplete, Past, Scope, content_at};
use cairn_wire::nodes::{Node, NodeState};
use serde_json::json;
use std::path::Path;

/// Writes the files of a part of the space, as they were at a time, into a folder of this disk. A file that
/// can't be written holds up no other.
pub(super) async fn copies(
    app: &App,
    remote: &Remote,
    past: &Past,
    scope: Scope,
    at_ms: i64,
    dir: &Path,
) -> CommandResult {
    let (mut files, mut bytes, mut failed) = (0, 0, Vec::new());
    for (below, id) in past.files_at(scope, at_ms) {
        match one(app, remote, past, (&below, id), at_ms, dir).await {
            Ok(written) => {
                bytes += written;
                files += 1;
            }
            Err(failure) if matches!(failure.exit, Exit::Failed | Exit::Decision) => {
                failed.push(Incomplete {
                    path: below,
                    message: failure.message,
                });
            }
            Err(failure) => return Err(failure),
        }
    }
    app.out.line(format_args!(
        "{} written to {}, {}.",
        count(files, "file"),
        dir.display(),
        size(bytes)
    ));
    for one in &failed {
        app.out.line(format_args!(
            "  {}: {}",
            clean(&one.path),
            clean(&one.message)
        ));
    }
    let at = (at_ms < i64::MAX).then(|| rfc3339(at_ms));
    app.out
        .json(&json!({ "to": dir, "files": files, "bytes": bytes, "at": at, "failed": failed }));
    if failed.is_empty() {
        return Ok(());
    }
    let left = count(failed.len() as u64, "file");
    let message = format!("{left} not written: see above");
    Err(Failure::new(Exit::Decision, message).mark_reported())
}

/// Writes one file under the name and into the folder that it had then. Returns its length in bytes.
async fn one(
    app: &App,
    remote: &Remote,
    past: &Past,
    (below, id): (&str, NodeId),
    at_ms: i64,
    dir: &Path,
) -> CommandResult<u64> {
    let one = past
        .get(id)
        .ok_or_else(|| Failure::failed("it is not there any more"))?;
    let revisions = remote.revisions(&one.node, &one.node.name).await?;
    let revision = content_at(&revisions, at_ms)
        .ok_or_else(|| Failure::failed("its version of then is not kept"))?;
    let (target, name) = match below.rsplit_once('/') {
        Some((above, name)) => (dir.join(above), name),
        None => (dir.to_owned(), below),
    };
    let unverified = past
        .with_folders_above(id)
        .filter(|one| !is_or_was_verified(remote, &one.node))
        .map(|one| past.path(one.node.id))
        .collect();
    copy(
        app,
        remote,
        (&one.node, name),
        revision,
        &target,
        unverified,
    )
    .await
}

/// Returns whether a device with the keys has put a node where it is, or was when its folder went to the
/// trash: what goes there with its folder keeps the seal that it had.
fn is_or_was_verified(remote: &Remote, node: &Node) -> bool {
    let before = Node {
        state: NodeState::Active,
        ..node.clone()
    };
    remote.is_verified(node) || remote.is_verified(&before)
}
