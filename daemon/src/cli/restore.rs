//! `cairn restore`: a file or folder as it was, back in its place or as a copy on this disk.

mod copies;
mod deleted;

use crate::app::App;
use crate::cli::rewind;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::output::node::NodeView;
use crate::output::progress::Bars;
use crate::output::text::{clean, local_time, size};
use crate::past::carry_out::Rewind;
use crate::past::{load, scope};
use crate::remote::verification;
use crate::remote::versions::find_version;
use crate::remote::{Remote, RemoteNode, Within};
use cairn_api::ErrorClass;
use cairn_model::{Kind, NodeId};
use cairn_space::past::{Newer, content_at};
use cairn_wire::nodes::{Node, NodeState, Revision};
use copies::copies;
use deleted::restore_deleted;
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
        (Some(RemoteNode::Node(node)), _, Some(version)) if node.kind == Kind::File => {
            let revisions = remote.revisions(&node, &node.name).await?;
            let revision = find_version(&revisions, &node.name, version)?;
            one_file(app, &remote, &node, revision, args.to.as_deref()).await
        }
        (Some(RemoteNode::Node(node)), Some(at_ms), None) if node.kind == Kind::File => {
            let revisions = remote.revisions(&node, &node.name).await?;
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
        (Some(_), _, Some(_)) => Err(Failure::usage("only files have versions: use --at TIME")),
    }
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
            "{} was not there {}, or its version of then is not kept any more",
            node.name,
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
