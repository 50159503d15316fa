//! `cairn delete`: into the service's trash.

use crate::app::App;
use crate::failure::CommandResult;
use crate::output::text::clean;
use crate::remote::{Remote, Within};
use serde_json::json;

/// Move files or folders into the service's trash
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Paths such as /a/b, or ids
    #[arg(required = true)]
    nodes: Vec<String>,
    #[command(flatten)]
    within: Within,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let remote = Remote::open(app, &args.within).await?;
    // All are found before the first is deleted: a typo deletes nothing.
    let mut nodes = Vec::new();
    for text in &args.nodes {
        nodes.push(remote.find(text).await?.node()?);
    }
    let within = args.within.team.as_ref();
    let within = within.map_or_else(String::new, |team| format!(" --team '{}'", clean(team)));
    for node in &nodes {
        remote.trash_node(node).await?;
        app.out.line(format_args!(
            "{} is in the trash; `cairn trash restore --remote{within} {}` brings it back.",
            clean(&node.name),
            node.id
        ));
    }
    let ids: Vec<_> = nodes.iter().map(|node| node.id).collect();
    app.out.json(&json!({ "trashed": ids }));
    Ok(())
}
