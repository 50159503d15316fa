//! `cairn versions`: the revisions of a file, and bringing one back.

use crate::app::App;
use crate::cli::download::fetch;
use crate::failure::{Doing as _, Failure, Outcome};
use crate::output::node::NodeView;
use crate::output::table::{Align, Table};
use crate::output::text::{local_time, size};
use crate::remote::{Remote, Within};
use cairn_model::{Kind, RevisionId};
use cairn_wire::nodes::Node;
use serde_json::json;
use std::path::PathBuf;

/// Show, restore or download old versions of a file
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A path such as /a/b, or an id
    node: String,
    /// Make this revision's content the newest again; the present one stays in the history
    #[arg(long, value_name = "ID", conflicts_with_all = ["download", "out", "force"])]
    restore: Option<RevisionId>,
    /// Download this revision
    #[arg(long, value_name = "ID")]
    download: Option<RevisionId>,
    /// With --download: where to
    #[arg(long, short, value_name = "PATH", requires = "download")]
    out: Option<PathBuf>,
    /// With --download: replace a file that is there
    #[arg(long, requires = "download")]
    force: bool,
    #[command(flatten)]
    within: Within,
}

pub(super) async fn run(app: &App, args: Args) -> Outcome {
    let remote = Remote::open(app, &args.within).await?;
    if args.download.is_some() {
        return fetch(
            app,
            &remote,
            &args.node,
            args.download,
            args.out.as_deref(),
            args.force,
        )
        .await;
    }
    let node = remote.find(&args.node).await?.node()?;
    if node.kind == Kind::Folder {
        return Err(Failure::usage(format!(
            "{} is a folder: only files have versions",
            args.node
        )));
    }
    match args.restore {
        Some(revision) => restore(app, &remote, &args.node, &node, revision).await,
        None => list(app, &remote, &args.node, &node).await,
    }
}

/// Makes a revision's content the newest again.
async fn restore(
    app: &App,
    remote: &Remote,
    named: &str,
    node: &Node,
    revision: RevisionId,
) -> Outcome {
    let listed = remote.api.revisions(node.id).await;
    let revisions = listed.doing(format_args!("list the versions of {named}"))?;
    let found = revisions.iter().find(|one| one.id == revision);
    let found =
        found.ok_or_else(|| Failure::usage(format!("{named} has no revision {revision}")))?;
    let restored = remote.restore_revision(node, found).await?;
    let path = remote.path_of(&restored, &mut Default::default()).await?;
    app.out.line(format_args!(
        "{} is as it was in revision {revision}.",
        crate::output::text::clean(&path)
    ));
    app.out
        .json(&json!({ "node": NodeView::new(&restored, path) }));
    Ok(())
}

async fn list(app: &App, remote: &Remote, named: &str, node: &Node) -> Outcome {
    let revisions = remote
        .api
        .revisions(node.id)
        .await
        .doing(format_args!("list the versions of {named}"))?;
    let mut table = Table::new(&[
        ("NO", Align::Right),
        ("SIZE", Align::Right),
        ("UPLOADED", Align::Left),
        ("BY", Align::Left),
        ("REVISION", Align::Left),
    ]);
    for revision in &revisions {
        let mark = if revision.current { " (current)" } else { "" };
        table.row([
            revision.number.to_string(),
            size(revision.size),
            local_time(revision.created_at.0, app.offset),
            revision.uploaded_by.clone(),
            format!("{}{mark}", revision.id),
        ]);
    }
    table.print(&app.out, "The file has no versions.");
    app.out
        .json(&json!({ "node_id": node.id, "versions": revisions }));
    Ok(())
}
