//! `cairn versions`: the revisions of a file, and bringing one back.

use crate::app::App;
use crate::cli::download::fetch;
use crate::failure::CommandResult;
use crate::output::node::NodeView;
use crate::output::table::{Align, Table};
use crate::output::text::{clean, local_time, size};
use crate::remote::versions::find_version;
use crate::remote::{Remote, Within, verification};
use cairn_wire::nodes::{Node, Revision};
use serde_json::json;
use std::path::PathBuf;

/// Show, restore or download old versions of a file
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A path such as /a/b, or an id
    node: String,
    /// Make this version's content the newest again; the present one stays in the history
    #[arg(long, value_name = "N|ID", conflicts_with_all = ["download", "out", "force"])]
    restore: Option<String>,
    /// Download this version: its number, or the beginning of its id
    #[arg(long, value_name = "N|ID")]
    download: Option<String>,
    /// With --download: where to
    #[arg(long, short, value_name = "PATH", requires = "download")]
    out: Option<PathBuf>,
    /// With --download: replace a file that is there
    #[arg(long, requires = "download")]
    force: bool,
    #[command(flatten)]
    within: Within,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let remote = Remote::open_at(app, &args.within, &args.node).await?;
    let node = remote.find(&args.node).await?.node()?;
    let revisions = remote.revisions(&node, &args.node).await?;
    if let Some(version) = &args.download {
        let revision = Some(find_version(&revisions, &args.node, version)?.id);
        let out = args.out.as_deref();
        return fetch(app, &remote, &node, revision, out, args.force).await;
    }
    match &args.restore {
        Some(version) => {
            let revision = find_version(&revisions, &args.node, version)?;
            restore(app, &remote, &node, revision).await
        }
        None => list(app, &remote, &node, &revisions).await,
    }
}

/// Makes a version's content the newest again.
async fn restore(app: &App, remote: &Remote, node: &Node, revision: &Revision) -> CommandResult {
    let restored = remote.restore_revision(node, revision).await?;
    let path = remote.path_of(&restored, &mut Default::default()).await?;
    app.out.line(format_args!(
        "{} is as it was in version {}.",
        clean(&path),
        revision.number
    ));
    verification::note_restored(app, &remote.space, &restored, &path);
    app.out
        .json(&json!({ "node": NodeView::new(&restored, path) }));
    Ok(())
}

async fn list(app: &App, remote: &Remote, node: &Node, revisions: &[Revision]) -> CommandResult {
    // Their names are only for people: without them the list shows their ids.
    let devices = remote.api.devices().await.unwrap_or_else(|error| {
        tracing::debug!(%error, "the names of the devices can't be loaded");
        Vec::new()
    });
    let device = |revision: &Revision| {
        let id = revision.device_id?;
        let known = devices.iter().find(|device| device.id == id);
        Some(known.map_or_else(|| id.to_string(), |device| clean(&device.name)))
    };
    let mut table = Table::new(&[
        ("NO", Align::Right),
        ("SIZE", Align::Right),
        ("UPLOADED", Align::Left),
        ("DEVICE", Align::Name),
        ("BY", Align::Left),
        ("ID", Align::Left),
    ]);
    for revision in revisions {
        let mark = if revision.current { " (current)" } else { "" };
        table.row([
            revision.number.to_string(),
            size(revision.size),
            local_time(revision.created_at.0, &app.zone),
            device(revision).unwrap_or_default(),
            revision.uploaded_by.clone(),
            format!("{}{mark}", revision.id),
        ]);
    }
    table.print(&app.out, "The file has no versions.");
    app.out
        .json(&json!({ "node_id": node.id, "versions": revisions }));
    Ok(())
}
