//! `cairn delete`: into the service's trash.

use crate::app::App;
use crate::cli::dry_run;
use crate::failure::CommandResult;
use crate::output::text::clean;
use crate::remote::{Remote, Within};
use cairn_model::Kind;
use cairn_wire::nodes::Node;
use serde_json::json;
use std::collections::HashMap;

/// Move files or folders into the service's trash
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Paths such as /a/b, or ids
    #[arg(required = true)]
    nodes: Vec<String>,
    /// Only show what would go there
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    within: Within,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let first = args.nodes.first().map_or("", String::as_str);
    let within = args.within.or_of(app, first)?;
    let remote = Remote::open(app, &within).await?;
    // All are found before the first is deleted: a typo deletes nothing.
    let mut nodes = Vec::new();
    for text in &args.nodes {
        nodes.push(remote.find(text).await?.node()?);
    }
    let nodes = remote.space.find_outermost(nodes).await?;
    if args.dry_run {
        return show(app, &remote, &nodes).await;
    }
    let within = within.team.as_ref();
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

async fn show(app: &App, remote: &Remote, nodes: &[Node]) -> CommandResult {
    let (mut known, mut shown) = (HashMap::new(), Vec::new());
    let mut lines = Vec::new();
    for node in nodes {
        let path = remote.path_of(node, &mut known).await?;
        lines.push(format!(
            "{} would go to the service's trash{}.",
            clean(&path),
            match node.kind {
                Kind::File => "",
                Kind::Folder => ", with everything in it",
            }
        ));
        shown.push(json!({ "id": node.id, "path": path }));
    }
    dry_run::show(app, lines.join("\n"), json!({ "would_trash": shown }))
}
