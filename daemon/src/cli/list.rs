//! `cairn list`: one folder of the service.

use crate::app::App;
use crate::failure::CommandResult;
use crate::output::node::{FolderTotal, NodeView, join, print_table};
use crate::remote::{Remote, RemoteNode, Within};
use cairn_model::{Kind, NodeId};
use serde_json::json;
use std::collections::HashMap;

/// List a folder on the service, or one file
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A path such as /a/b, or an id
    #[arg(default_value = "/")]
    folder: String,
    /// Add up what each folder has below it
    #[arg(long)]
    sizes: bool,
    #[command(flatten)]
    within: Within,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let remote = Remote::open_at(app, &args.within, &args.folder).await?;
    let place = remote.find(&args.folder).await?;
    let base = remote.path_of_place(&place).await?;
    let nodes: Vec<_> = match &place {
        RemoteNode::Node(file) if file.kind == Kind::File => {
            vec![NodeView::new(file, base.clone())]
        }
        RemoteNode::Top | RemoteNode::Node(_) => {
            let folder = place.folder()?;
            let children = remote.children(folder).await?;
            let has_folders = children.iter().any(|node| node.kind == Kind::Folder);
            let totals = match args.sizes && has_folders {
                true => folder_totals(app, &remote, folder).await,
                false => HashMap::new(),
            };
            let views = children.iter().map(|node| NodeView {
                total: totals.get(&node.id).copied(),
                ..NodeView::new(node, join(&base, &node.name))
            });
            views.collect()
        }
    };
    print_table(
        &app.out,
        &app.zone,
        &nodes,
        |node| node.name.clone(),
        "The folder is empty.",
    );
    app.out.json(&json!({ "path": base, "nodes": nodes }));
    Ok(())
}

/// Asks the server for the sizes of the folders in a folder. A list is worth having without them, too.
async fn folder_totals(
    app: &App,
    remote: &Remote,
    folder: Option<NodeId>,
) -> HashMap<NodeId, FolderTotal> {
    let found = match remote.api.folder_sizes(folder).await {
        Ok(found) => found,
        Err(error) => {
            app.out.note(format_args!(
                "The server gives no sizes of folders: {error}."
            ));
            return HashMap::new();
        }
    };
    if !found.complete {
        app.out
            .note("There is too much in these folders for the server to add it up.");
    }
    let sizes = found.folders.into_iter();
    sizes
        .map(|one| {
            let total = FolderTotal {
                files: one.files,
                bytes: one.bytes,
            };
            (one.node_id, total)
        })
        .collect()
}
