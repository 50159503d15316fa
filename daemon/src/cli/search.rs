//! `cairn search`: files and folders of the service by name.

use crate::app::App;
use crate::cli::number::at_least_one;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::output::node::{NodeView, print_table};
use crate::remote::{Remote, Within};
use serde_json::json;
use std::collections::HashMap;

/// Find files and folders on the service by name
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A part of the name, at least 2 characters
    query: String,
    /// Number of results at most
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 100, value_parser = at_least_one)]
    limit: u64,
    #[command(flatten)]
    within: Within,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    if args.query.chars().count() < 2 {
        return Err(Failure::usage(format!(
            "`{}` is too short: a search takes at least 2 characters",
            args.query
        )));
    }
    let remote = Remote::open(app, &args.within).await?;
    let found = remote.api.search(&args.query).await.context("search")?;
    let mut known = HashMap::new();
    let mut nodes = Vec::new();
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    for node in found.iter().take(limit) {
        nodes.push(NodeView::new(node, remote.path_of(node, &mut known).await?));
    }
    print_table(
        &app.out,
        &app.zone,
        &nodes,
        |node| node.path.clone(),
        "Nothing has such a name.",
    );
    app.out
        .json(&json!({ "query": args.query, "total": found.len(), "nodes": nodes }));
    Ok(())
}
