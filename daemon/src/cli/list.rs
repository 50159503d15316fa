//! `cairn list`: one folder of the service.

use crate::app::App;
use crate::failure::CommandResult;
use crate::output::node::{NodeView, join, print_table};
use crate::remote::{Remote, RemoteNode, Within};
use cairn_model::Kind;
use serde_json::json;

/// List a folder on the service, or one file
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A path such as /a/b, or an id
    #[arg(default_value = "/")]
    folder: String,
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
            let children = remote.children(place.folder()?).await?;
            let views = children
                .iter()
                .map(|node| NodeView::new(node, join(&base, &node.name)));
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
