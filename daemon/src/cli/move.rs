//! `cairn move`: another place or name on the service, in one step.

use crate::app::App;
use crate::failure::Outcome;
use crate::output::node::NodeView;
use crate::remote::{Remote, Within};
use serde_json::json;

/// Move or rename a file or folder on the service
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A path such as /a/b, or an id
    from: String,
    /// A folder to move it into, or a path that is free
    to: String,
    #[command(flatten)]
    within: Within,
}

pub(super) async fn run(app: &App, args: Args) -> Outcome {
    let remote = Remote::open(app, &args.within).await?;
    let node = remote.find(&args.from).await?.node()?;
    let (parent, name) = remote.destination(&args.to, &node).await?;
    let moved = remote.move_node(&node, parent, &name).await?;
    let path = remote.path_of(&moved, &mut Default::default()).await?;
    app.out.line(crate::output::text::clean(&path));
    app.out
        .json(&json!({ "node": NodeView::new(&moved, path) }));
    Ok(())
}
