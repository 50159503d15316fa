//! `cairn move`: another place or name on the service, in one step.

use crate::app::App;
use crate::cli::from_to::FromTo;
use crate::failure::CommandResult;
use crate::output::node::NodeView;
use serde_json::json;

/// Move or rename a file or folder on the service
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    names: FromTo,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let found = args.names.find(app).await?;
    if args.names.dry_run.is_wanted {
        return found.show(app, "moved").await;
    }
    let moved = match found.is_there_already() {
        true => found.node.clone(),
        false => {
            let remote = &found.remote;
            remote
                .move_node(&found.node, found.parent, &found.name)
                .await?
        }
    };
    let path = found.path_of(&moved).await?;
    app.out.line(crate::output::text::clean(&path));
    app.out
        .json(&json!({ "node": NodeView::new(&moved, path) }));
    Ok(())
}
