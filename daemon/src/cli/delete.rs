//! `cairn delete`: into the service's trash.

use crate::app::App;
use crate::failure::CommandResult;
use crate::output::text::clean;
use crate::remote::{Remote, Within};
use cairn_model::{Kind, NodeId};
use cairn_space::MAX_DEPTH;
use cairn_wire::nodes::Node;
use serde_json::json;
use std::collections::{HashMap, HashSet};

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
    let remote = Remote::open(app, &args.within).await?;
    // All are found before the first is deleted: a typo deletes nothing.
    let mut nodes = Vec::new();
    for text in &args.nodes {
        nodes.push(remote.find(text).await?.node()?);
    }
    let nodes = find_outermost(&remote, nodes).await?;
    if args.dry_run {
        return show(app, &remote, &nodes).await;
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

/// Leaves out what goes along with another one: it is named twice, or lies in a folder that is named, too.
async fn find_outermost(remote: &Remote, nodes: Vec<Node>) -> CommandResult<Vec<Node>> {
    let named: HashSet<NodeId> = nodes.iter().map(|node| node.id).collect();
    let mut parents: HashMap<NodeId, Option<NodeId>> = HashMap::new();
    let (mut kept, mut seen) = (Vec::new(), HashSet::new());
    for node in nodes {
        let mut above = node.parent_id;
        for _ in 0..MAX_DEPTH {
            let Some(id) = above.filter(|id| !named.contains(id)) else {
                break;
            };
            above = match parents.get(&id) {
                Some(parent) => *parent,
                None => {
                    let parent = remote.space.node(id).await?.parent_id;
                    *parents.entry(id).or_insert(parent)
                }
            };
        }
        if above.is_none() && seen.insert(node.id) {
            kept.push(node);
        }
    }
    Ok(kept)
}

async fn show(app: &App, remote: &Remote, nodes: &[Node]) -> CommandResult {
    let (mut known, mut shown) = (HashMap::new(), Vec::new());
    for node in nodes {
        let path = remote.path_of(node, &mut known).await?;
        app.out.line(format_args!(
            "{} would go to the service's trash{}.",
            clean(&path),
            match node.kind {
                Kind::File => "",
                Kind::Folder => ", with everything in it",
            }
        ));
        shown.push(json!({ "id": node.id, "path": path }));
    }
    app.out
        .json(&json!({ "would_trash": shown, "dry_run": true }));
    Ok(())
}
