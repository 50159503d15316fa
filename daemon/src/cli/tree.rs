//! `cairn tree`: a folder of the service with everything below it.

use crate::app::App;
use crate::cli::number::at_least_one;
use crate::failure::CommandResult;
use crate::output::node::{NodeView, join};
use crate::output::text::{clean, count, size};
use crate::remote::{Remote, Within};
use cairn_model::{Kind, NodeId};
use serde_json::json;
use std::collections::{HashMap, HashSet};

/// Show a folder on the service with everything below it
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A path such as /a/b, or an id
    #[arg(default_value = "/")]
    folder: String,
    /// Number of levels
    #[arg(long, value_name = "LEVELS", allow_negative_numbers = true, default_value_t = 20, value_parser = at_least_one)]
    depth: u64,
    #[command(flatten)]
    within: Within,
}

/// The children of each folder.
type Below = HashMap<Option<NodeId>, Vec<NodeView>>;

/// The folders that were listed.
struct Listed {
    below: Below,
    /// True if there are folders on a deeper level.
    has_more: bool,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let remote = Remote::open_at(app, &args.within, &args.folder).await?;
    let place = remote.find(&args.folder).await?;
    let base = remote.path_of_place(&place).await?;
    let top = place.folder()?;
    let Listed { below, has_more } = read(&remote, top, &base, args.depth).await?;
    app.out.line(clean(&base));
    draw(app, &below, top, "");
    let nodes: Vec<&NodeView> = below.values().flatten().collect();
    let files = nodes.iter().filter(|node| node.kind == Kind::File).count() as u64;
    let bytes = nodes.iter().map(|node| node.size).sum();
    let more = if has_more {
        " down to here; the folders of the last level were not looked into: see --depth"
    } else {
        ""
    };
    app.out.line(format_args!(
        "{}, {}{more}",
        count(files, "file"),
        size(bytes)
    ));
    let mut nodes = nodes;
    nodes.sort_by(|a, b| a.path.cmp(&b.path));
    app.out
        .json(&json!({ "path": base, "files": files, "bytes": bytes, "complete": !has_more, "nodes": nodes }));
    Ok(())
}

async fn read(
    remote: &Remote,
    top: Option<NodeId>,
    base: &str,
    depth: u64,
) -> CommandResult<Listed> {
    let mut below = Below::new();
    let mut seen = HashSet::from([top]);
    let mut level = vec![(top, base.to_owned())];
    for _ in 0..depth {
        if level.is_empty() {
            break;
        }
        let mut next = Vec::new();
        for (id, path) in level {
            let children = remote.children(id).await?;
            let views: Vec<_> = children
                .iter()
                .map(|node| NodeView::new(node, join(&path, &node.name)))
                .collect();
            // A folder that is listed twice is a cycle, or a response that can't be right.
            next.extend(
                views
                    .iter()
                    .filter(|node| node.kind == Kind::Folder && seen.insert(Some(node.id)))
                    .map(|node| (Some(node.id), node.path.clone())),
            );
            below.insert(id, views);
        }
        level = next;
    }
    Ok(Listed {
        below,
        has_more: !level.is_empty(),
    })
}

fn draw(app: &App, below: &Below, folder: Option<NodeId>, indent: &str) {
    let Some(nodes) = below.get(&folder) else {
        return;
    };
    for (at, node) in nodes.iter().enumerate() {
        let last = at + 1 == nodes.len();
        let (branch, deeper) = if last {
            ("└── ", "    ")
        } else {
            ("├── ", "│   ")
        };
        app.out.line(format_args!(
            "{indent}{branch}{}",
            clean(&NodeView::label(&node.name, node.kind))
        ));
        if node.kind == Kind::Folder {
            draw(app, below, Some(node.id), &format!("{indent}{deeper}"));
        }
    }
}
