//! `cairn restore`: a file or folder as it was, back in its place or as a copy on this disk.

mod copies;
mod deleted;

use crate::app::App;
use crate::cli::dry_run;
use crate::cli::rewind;
use crate::failure::{CommandResult, Context as _, Exit, Failure};
use crate::output::node::NodeView;
use crate::output::progress::Bars;
use crate::output::text::{clean, local_time, now_ms, size};
use crate::past::carry_out::Rewind;
use crate::past::{gap, load, scope};
use crate::remote::verification;
use crate::remote::versions::find_version;
use crate::remote::{Remote, RemoteNode, Within};
use cairn_api::ErrorClass;
use cairn_model::{Kind, NodeId};
use cairn_space::past::{Newer, Past, Scope, content_at, same_path};
use cairn_wire::nodes::{Node, NodeState, Revision};
use copies::copies;
use deleted::{find_deleted, restore_deleted};
use serde_json::json;
use std::path::{Path, PathBuf};

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
    /// Only show what would come back
    #[arg(long, conflicts_with = "to")]
    dry_run: bool,
    #[command(flatten)]
    within: Within,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let remote = Remote::open_at(app, &args.within, &args.path).await?;
    let at_ms = args
        .at
        .as_deref()
        .map(|text| rewind::past_time(app, text))
        .transpose()?;
    let found = find_present(&remote, &args.path).await?;
    match (found, at_ms, &args.version) {
        (found, Some(at_ms), _) => as_of(app, &remote, &args, found, at_ms).await,
        (Some(RemoteNode::Node(node)), None, Some(version)) if node.kind == Kind::File => {
            let revisions = remote.revisions(&node, &node.name).await?;
            let revision = find_version(&revisions, &node.name, version)?;
            one_file(app, &remote, &node, revision, &args).await
        }
        (Some(_), None, None) => Err(Failure::usage(format!(
            "{} is there: say which state with --at TIME or --version N",
            args.path
        ))),
        (None, None, Some(_)) => Err(Failure::usage(format!(
            "there is no {} with versions: bring it back first, with --at TIME",
            args.path
        ))),
        (None, None, None) => {
            // What is in the trash now is known without the past.
            let past = load(&app.home, &remote, Some(now_ms())).await?;
            let one = find_deleted(&remote, &past, &args.path, None)?;
            restore_deleted(app, &remote, &args, &past, one, None).await
        }
        (Some(_), None, Some(_)) => Err(Failure::usage("only files have versions: use --at TIME")),
    }
}

/// The state of a time: of what was at the path then, which may be in the trash or elsewhere now.
async fn as_of(
    app: &App,
    remote: &Remote,
    args: &Args,
    found: Option<RemoteNode>,
    at_ms: i64,
) -> CommandResult {
    let by_id = args.path.parse::<NodeId>().ok();
    // An id is of one file, whatever is elsewhere.
    if let (Some(_), Some(RemoteNode::Node(node))) = (by_id, &found)
        && node.kind == Kind::File
    {
        return file_as_of(app, remote, args, node, at_ms).await;
    }
    let past = load(&app.home, remote, Some(at_ms)).await?;
    let (named, path) = match scope(&past, remote, &args.path, at_ms) {
        Ok((named, path)) => (Some(named), path),
        Err(_) if by_id.is_none() => (None, remote.path(&args.path)?),
        Err(failure) => return Err(failure),
    };
    if named == Some(Scope::All) {
        return folder(app, remote, args, &past, (Scope::All, &path), at_ms).await;
    }
    let named = named.and_then(Scope::top).and_then(|top| past.get(top));
    let one = match named {
        Some(one) if past.existed_at(one, at_ms) => one,
        // What is there now came since: another one may have been deleted from there.
        other => find_deleted(remote, &past, &args.path, Some(at_ms))
            .or_else(|failure| other.ok_or(failure))?,
    };
    if !one.is_active() {
        return restore_deleted(app, remote, args, &past, one, Some(at_ms)).await;
    }
    let is_at = past.path(one.node.id);
    if by_id.is_none() && !same_path(&is_at, &path) {
        app.out.note(format_args!(
            "What was at {} then is at {} now, and stays there.",
            clean(&path),
            clean(&is_at)
        ));
    }
    match one.node.kind {
        Kind::File => file_as_of(app, remote, args, &one.node, at_ms).await,
        Kind::Folder => {
            let part = (Scope::Below(one.node.id), &*is_at);
            folder(app, remote, args, &past, part, at_ms).await
        }
    }
}

async fn file_as_of(
    app: &App,
    remote: &Remote,
    args: &Args,
    node: &Node,
    at_ms: i64,
) -> CommandResult {
    let revisions = remote.revisions(node, &node.name).await?;
    let revision = revision_at(app, node, &revisions, at_ms)?;
    one_file(app, remote, node, revision, args).await
}

/// Finds what is there; `None` for what is not, or is in the trash.
async fn find_present(remote: &Remote, text: &str) -> CommandResult<Option<RemoteNode>> {
    let Ok(id) = text.parse::<NodeId>() else {
        return remote.look_up(text).await;
    };
    match remote.api.node(id).await {
        Ok(node) if node.state == NodeState::Trashed => Ok(None),
        Ok(node) => {
            remote.space.check(&node)?;
            Ok(Some(RemoteNode::Node(Box::new(node))))
        }
        Err(error) if error.class() == ErrorClass::Missing => Ok(None),
        Err(error) => Err(error).context(format_args!("find {text}")),
    }
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
            "{} was not there at {}, or its version of then is not kept any more: see `cairn history`",
            clean(&node.name),
            local_time(at_ms, &app.zone)
        ))
    })
}

/// One version of one file: as the newest, or as a copy.
async fn one_file(
    app: &App,
    remote: &Remote,
    node: &Node,
    revision: &Revision,
    args: &Args,
) -> CommandResult {
    if args.dry_run {
        let path = remote.path_of(node, &mut Default::default()).await?;
        let line = format!(
            "{} would be as it was in version {}, of {}.",
            clean(&path),
            revision.number,
            local_time(revision.created_at.0, &app.zone)
        );
        let document = json!({
            "path": path,
            "version": revision.number,
            "revision_id": revision.id,
        });
        return dry_run::show(app, line, document);
    }
    if let Some(dir) = &args.to {
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
        "session": remote.journal.noted_session(),
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
    unverified: Vec<String>,
) -> CommandResult<u64> {
    std::fs::create_dir_all(dir).context(format_args!("make the folder {}", dir.display()))?;
    let content = remote.content(node, Some(revision.id)).await?;
    let unverified = verification::check_content(app, node, &content, unverified)?;
    let (to, bars) = (dir.join(name), Bars::new(&app.out));
    if to.symlink_metadata().is_ok() {
        return Err(Failure::new(
            Exit::Decision,
            format!(
                "{} exists already: choose another folder with --to",
                clean(&to.display().to_string())
            ),
        ));
    }
    let manifest = remote
        .download_file(name, revision.size, content, &to, false, &bars)
        .await?;
    verification::note(app, &unverified);
    Ok(manifest.size)
}

/// A folder as it was: what is missing or changed, beside what was made since.
async fn folder(
    app: &App,
    remote: &Remote,
    args: &Args,
    past: &Past,
    (scope, path): (Scope, &str),
    at_ms: i64,
) -> CommandResult {
    let top = scope.top().and_then(|top| past.get(top));
    if top.is_some_and(|one| !past.existed_at(one, at_ms)) {
        return Err(Failure::failed(format!(
            "{} was not there at {}: see `cairn history`",
            clean(path),
            local_time(at_ms, &app.zone)
        )));
    }
    if let Some(dir) = &args.to {
        if let Some(warning) = gap(past, Some(at_ms), &app.zone) {
            app.out.note(warning);
        }
        return copies(app, remote, past, scope, at_ms, dir).await;
    }
    if !args.dry_run {
        rewind::send_own_changes(app).await?;
    }
    let back = Rewind {
        home: &app.home,
        remote,
        scope,
        at_ms,
        newer: Newer::Keep,
    };
    let planned = back.plan().await?;
    rewind::carry_out(app, &back, planned, path, args.dry_run, true).await
}
