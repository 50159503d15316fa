//! `cairn copy`: a copy on the service, in one step and without a transfer.

use crate::app::App;
use crate::cli::from_to::FromTo;
use crate::failure::{CommandResult, Failure};
use crate::output::node::NodeView;
use serde_json::json;

/// Copy a file or folder on the service
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    names: FromTo,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let found = args.names.find(app).await?;
    if found.is_unmoved() {
        let path = found.path_of(&found.node).await?;
        return Err(Failure::usage(format!(
            "source and target are the same, {path}: give the copy another place or name"
        )));
    }
    if args.names.dry_run.is_wanted {
        return found.show(app, "copied").await;
    }
    let copied = found
        .remote
        .copy_node(&found.node, found.parent, &found.name)
        .await?;
    if let Some(warning) = copied.warning() {
        app.out.note(warning);
    }
    let copy = copied.node;
    let path = found.path_of(&copy).await?;
    app.out.line(format_args!(
        "{}  {}",
        crate::output::text::clean(&path),
        copy.id
    ));
    app.out.json(&json!({ "node": NodeView::new(&copy, path) }));
    Ok(())
}
