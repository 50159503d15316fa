//! `cairn restore`: a file or folder as it was, back in its place or as a copy on this disk.

#[cfg(test)]
mod tests;

mod copies;

use crate::app::App;
use crate::cli::rewind;
use crate::failure::{CommandResult, Context as _, Exit, Failure};
use crate::output::node::NodeView;
use crate::output::progress::Bars;
use crate::output::text::{clean, local_time, size};
use crate::past::carry_out::Rewind;
use crate::past::{load, scope};
use crate::remote::verification;
use crate::remote::{Remote, RemoteNode, Within};
use cairn_model::{Kind, NodeId};
use cairn_space::past::{Newer, Scope, content_at};
use cairn_wire::nodes::{Node, Revision};
use copies::copies;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Digits of an id that name a version.
const MIN_PREFIX: usize = 4;

/// Bring a file or folder back as it was
///
/// Nothing is lost by it: a file's present content stays among its versions, and what was made in a
/// folder since stays beside what comes back. Deleted items come out of the service's trash. With --to
/// nothing changes on the service: a copy is written to this disk.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A path such as /a/b, one in a synced folder, or an id
    path: String,
    /// The time: RFC 3339, `2h ago`, or a local date and time
    #[arg(long, value_name = "TIME", conflicts_with = "version")]
    at: Option<String>,
    /// A version of a file: its number, or the beginning of its id (see `cairn history`)
    #[arg(long, value_name = "N|ID")]
    version: Option<String>,
    /// Write a copy into this folder of this disk instead
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    #[command(flatten)]
    within: Within,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let remote = Remote::open(app, &args.within).await?;
    let at_ms = args
        .at
        .as_deref()
        .map(|text| rewind::past_time(app, text))
        .transpose()?;
    let found = find_present(&remote, &args.path).await?;
    match (found, at_ms, &args.version) {
        (Some(RemoteNode::Node(node)), _, Some(version)) => {
            let revisions = revisions(&remote, &node).await?;
            let revision = find_revision(&revisions, version).ok_or_else(|| {
                Failure::usage(format!(
                    "{} has no version {version}: see `cairn history`",
                    node.name
                ))
            })?;
            one_file(app, &remote, &node, revision, args.to.as_deref()).await
        }
        (Some(RemoteNode::Node(node)), Some(at_ms), None) if node.kind == Kind::File => {
            let revisions = revisions(&remote, &node).await?;
            let revision = revision_at(app, &node, &revisions, at_ms)?;
            one_file(app, &remote, &node, revision, args.to.as_deref()).await
        }
        (Some(_), None, None) => Err(Failure::usage(format!(
            "{} is there: say which state with --at TIME or --version N",
            args.path
        ))),
        (None, _, Some(_)) => Err(Failure::usage(format!(
            "there is no {} with versions: bring it back first, with --at TIME",
            args.path
        ))),
        (Some(_), Some(at_ms), None) => folder(app, &remote, &args, at_ms).await,
        (None, at_ms, None) => restore_deleted(app, &remote, &args, at_ms).await,
        (Some(RemoteNode::Top), _, Some(_)) => {
            Err(Failure::usage("only files have versions: use --at TIME"))
        }
    }
}

/// Finds what is there; `None` for what is not, or is in the trash.
async fn find_present(remote: &Remote, text: &str) -> CommandResult<Option<RemoteNode>> {
    match remote.look_up(text).await {
        Ok(found) => Ok(found),
        Err(failure) if failure.exit == Exit::Failed && text.parse::<NodeId>().is_ok() => Ok(None),
        Err(failure) => Err(failure),
    }
}

async fn revisions(remote: &Remote, node: &Node) -> CommandResult<Vec<Revision>> {
    if node.kind == Kind::Folder {
        return Err(Failure::usage(format!(
            "{} is a folder: only files have versions; use --at TIME",
            node.name
        )));
    }
    let listed = remote.api.revisions(node.id).await;
    listed.context(format_args!("list the versions of {}", node.name))
}

/// Finds the version of a file that was the newest at a time.
fn revision_at<'a>(
    app: &App,
    node: &Node,
    revisions: &'a [Revision],
    at_ms: i64,
) -> CommandResult<&'a Revision> {
    content_at(revisions, at_ms).ok_or_else(|| {
        Failure::failed(format!(
            "{} was not there {}, or its version of then is not kept any more",
            node.name,
            local_time(at_ms, &app.zone)
        ))
    })
}

/// Finds a revision by its number or the beginning of its id.
pub(super) fn find_revision<'a>(revisions: &'a [Revision], text: &str) -> Option<&'a Revision> {
    let numbered = text.parse::<u64>().ok();
    if let Some(found) = revisions.iter().find(|r| Some(r.number) == numbered) {
        return Some(found);
    }
    if text.len() < MIN_PREFIX {
        return None;
    }
    let text = text.to_ascii_lowercase();
    let mut matching = revisions
        .iter()
        .filter(|r| r.id.to_string().starts_with(&text));
    let found = matching.next();
    found.filter(|_| matching.next().is_none())
}

/// One version of one file: as the newest, or as a copy.
async fn one_file(
    app: &App,
    remote: &Remote,
    node: &Node,
    revision: &Revision,
    to: Option<&Path>,
) -> CommandResult {
    if let Some(dir) = to {
        let unverified = remote.space.unverified_path(node).await?;
        let bytes = copy(app, remote, (node, &node.name), revision, dir, unverified).await?;
        let path = dir.join(&node.name).display().to_string();
        app.out
            .line(format_args!("{}  {}", clean(&path), size(bytes)));
        app.out.json(&json!({
            "path": path,
            "bytes": bytes,
            "node_id": node.id,
            "revision_id": revision.id,
        }));
        return Ok(());
    }
    let restored = remote.restore_revision(node, revision).await?;
    let path = remote.path_of(&restored, &mut Default::default()).await?;
    app.out.line(format_args!(
        "{} is as it was in version {}, of {}.",
        clean(&path),
        revision.number,
        local_time(revision.created_at.0, &app.zone)
    ));
    verification::note_restored(app, &remote.space, &restored, &path);
    app.out.json(&json!({
        "path": path,
        "version": revision.number,
        "session": remote.journal.session(),
        "node": NodeView::new(&restored, path.clone()),
    }));
    Ok(())
}

/// Writes a version of a file into a folder of this disk; never over anything.
async fn copy(
    app: &App,
    remote: &Remote,
    (node, name): (&Node, &str),
    revision: &Revision,
    dir: &Path,
    mut unverified: Vec<String>,
) -> CommandResult<u64> {
    std::fs::create_dir_all(dir).context(format_args!("make the folder {}", dir.display()))?;
    let content = remote.content(node, Some(revision.id)).await?;
    if unverified.is_empty() && !remote.space.is_own_content(&content) {
        unverified.push(format!("{} in revision {}", node.name, content.revision));
    }
    verification::check(app, &unverified)?;
    let (to, bars) = (dir.join(name), Bars::new(&app.out));
    let manifest = remote
        .download_file(name, revision.size, content, &to, false, &bars)
        .await?;
    verification::note(app, &unverified);
    Ok(manifest.size)
}

/// A folder as it was: what is missing or changed, beside what was made since.
async fn folder(app: &App, remote: &Remote, args: &Args, at_ms: i64) -> CommandResult {
    let past = load(&app.home, remote).await?;
    let (scope, path) = scope(&past, remote, &args.path, at_ms)?;
    if let Some(dir) = &args.to {
        return copies(app, remote, &past, scope, at_ms, dir).await;
    }
    if args.within.team.is_none() {
        rewind::send_own_changes(app).await?;
    }
    let back = Rewind {
        home: &app.home,
        remote,
        scope,
        at_ms,
        newer: Newer::Keep,
    };
    rewind::carry_out(app, &back, &path, false, true).await
}

/// Something that was deleted.
async fn restore_deleted(
    app: &App,
    remote: &Remote,
    args: &Args,
    at_ms: Option<i64>,
) -> CommandResult {
    let past = load(&app.home, remote).await?;
    let wanted = match args.path.parse::<NodeId>() {
        Ok(id) => past.get(id),
        Err(_) => {
            let path = remote.path(&args.path)?;
            past.deleted_at_path(&path, at_ms)
        }
    };
    let one = wanted.ok_or_else(|| {
        Failure::failed(format!(
            "there is no {} on the service, and none in its trash that fits: see `cairn history`",
            args.path
        ))
    })?;
    let node = &one.node;
    if let Some(dir) = &args.to {
        let at_ms = at_ms.unwrap_or(i64::MAX);
        return copies(app, remote, &past, Scope::Below(node.id), at_ms, dir).await;
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
        return rewind::carry_out(app, &back, &past.path(node.id), false, true).await;
    }
    out_of_trash(app, remote, node, at_ms).await
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
            let revisions = revisions(remote, node).await?;
            Some(revision_at(app, node, &revisions, at_ms)?.clone())
        }
        None => None,
    };
    let mut restored = remote.restore_node(node).await?;
    if let Some(then) = then {
        restored = remote.restore_revision(&restored, &then).await?;
    }
    let path = remote.path_of(&restored, &mut Default::default()).await?;
    app.out.line(format_args!("{} is back.", clean(&path)));
    verification::note_restored(app, &remote.space, &restored, &path);
    app.out.json(&json!({
        "path": path,
        "session": remote.journal.session(),
        "node": NodeView::new(&restored, path.clone()),
    }));
    Ok(())
}
