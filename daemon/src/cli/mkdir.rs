//! `cairn mkdir`: folders on the service.

use crate::app::App;
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::node::NodeView;
use crate::remote::{Remote, Within};
use serde_json::json;

/// Make a folder on the service
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A path such as /a/b
    path: String,
    /// Also make the folders above it, and succeed if it exists already
    #[arg(long, short)]
    parents: bool,
    #[command(flatten)]
    within: Within,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let remote = Remote::open_at(app, &args.within, &args.path).await?;
    let (node, created) = if args.parents {
        let (place, made) = remote.ensure_folder(&args.path).await?;
        (place.node()?, made.len())
    } else {
        let (parent, name) = remote.find_new(&args.path).await?;
        if remote.child(parent, name.as_str()).await?.is_some() {
            return Err(Failure::new(
                Exit::Decision,
                format!("{} is there already: choose another name", args.path),
            ));
        }
        (remote.make_folder(parent, &name).await?, 1)
    };
    let path = remote.path_of(&node, &mut Default::default()).await?;
    app.out.line(format_args!(
        "{}  {}",
        crate::output::text::clean(&path),
        node.id
    ));
    app.out
        .json(&json!({ "created": created, "node": NodeView::new(&node, path) }));
    Ok(())
}
