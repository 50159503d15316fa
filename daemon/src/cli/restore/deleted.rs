//! Deleted files and folders: restored from the trash or copied to this disk.

use super::copies::copies;
use super::{Args, revision_at};
use crate::app::App;
use crate::cli::dry_run;
use crate::cli::rewind;
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::node::NodeView;
use crate::output::text::clean;
use crate::past::carry_out::Rewind;
use crate::remote::{Remote, verification};
use cairn_model::{Kind, NodeId};
use cairn_space::past::{Newer, Past, PastNode, Scope, same_path};
use cairn_wire::nodes::Node;
use serde_json::json;

/// Finds what was deleted under a path, or has an id.
pub(super) fn find_deleted<'a>(
    remote: &Remote,
    past: &'a Past,
    text: &str,
    at_ms: Option<i64>,
) -> CommandResult<&'a PastNode> {
    let found = match text.parse::<NodeId>() {
        Ok(id) => past.get(id),
        Err(_) => past.deleted_at_path(&remote.path(text)?, at_ms),
    };
    found.ok_or_else(|| {
        Failure::failed(format!(
            "there is no {text} on the service, and none in its trash that fits: see `cairn history`"
        ))
    })
}

/// Restores something that was deleted.
pub(super) async fn restore_deleted(
    app: &App,
    remote: &Remote,
    args: &Args,
    past: &Past,
    one: &PastNode,
    at_ms: Option<i64>,
) -> CommandResult {
    let node = &one.node;
    if let Some(dir) = &args.to {
        let at_ms = at_ms.unwrap_or(i64::MAX);
        return copies(app, remote, past, Scope::Below(node.id), at_ms, dir).await;
    }
    if let Some(deleted) = one.deleted.filter(|deleted| deleted.root != node.id) {
        return Err(Failure::new(
            Exit::Decision,
            format!(
                "{} went to the trash with the folder {}: restore that, or add --to DIR for a copy",
                clean(&past.path(node.id)),
                clean(&past.path(deleted.root))
            ),
        ));
    }
    if let (Some(at_ms), Kind::Folder) = (at_ms, node.kind) {
        let back = Rewind {
            home: &app.home,
            remote,
            scope: Scope::Below(node.id),
            at_ms,
            newer: Newer::Keep,
        };
        let (planned, path) = (back.plan().await?, past.path(node.id));
        return rewind::carry_out(app, &back, planned, &path, args.dry_run, true).await;
    }
    if args.dry_run {
        return show_way_back(app, remote, node, &past.path(node.id)).await;
    }
    out_of_trash(app, remote, node, at_ms).await
}

/// Tells where a node of the trash would come back, which was at a path.
async fn show_way_back(app: &App, remote: &Remote, node: &Node, was: &str) -> CommandResult {
    let (path, lost) = remote.path_back(node).await?;
    let place = if same_path(&path, was) && lost.is_none() {
        String::new()
    } else {
        format!(", to {}", clean(&path))
    };
    let why = lost.map_or_else(String::new, |lost| format!(": {lost}"));
    let line = format!(
        "{} would come out of the service's trash{place}{why}.",
        clean(was)
    );
    dry_run::show(app, line, json!({ "path": path, "id": node.id }))
}

/// Takes a node out of the trash, a file with its content of a time.
async fn out_of_trash(
    app: &App,
    remote: &Remote,
    node: &Node,
    at_ms: Option<i64>,
) -> CommandResult {
    // Before anything is changed: without the version of then nothing is brought back.
    let then = match at_ms {
        Some(at_ms) => {
            let revisions = remote.revisions(node, &node.name).await?;
            Some(revision_at(app, node, &revisions, at_ms)?.clone())
        }
        None => None,
    };
    let back = remote.restore_node(node).await?;
    let mut restored = back.node;
    if let Some(then) = then {
        restored = remote.restore_revision(&restored, &then).await?;
    }
    let path = remote.path_of(&restored, &mut Default::default()).await?;
    app.out.line(format_args!("{} is back.", clean(&path)));
    let folders = remote
        .note_place(app, node, &restored, &back.folders)
        .await?;
    verification::note_restored(app, &remote.space, &restored, &path);
    app.out.json(&json!({
        "path": path,
        "folders_made": folders,
        "session": remote.journal.noted_session(),
        "node": NodeView::new(&restored, path.clone()),
    }));
    Ok(())
}
