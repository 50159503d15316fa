//! `cairn ignore`: the rules of a folder. Works on the files alone; a running daemon notices.

use crate::app::App;
use crate::failure::CommandResult;
use crate::folders::{ignore, pairs, spaces};
use crate::local_path;
use serde_json::json;
use std::path::PathBuf;

/// Show, add or try the rules for what is not synced
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The folder on this machine
    folder: PathBuf,
    /// Add a pattern in gitignore syntax to the folder's .cairnignore, which syncs with it
    #[arg(long, value_name = "PATTERN")]
    add: Vec<String>,
    /// Show whether a path is ignored, and by which rule
    #[arg(long, value_name = "PATH")]
    check: Option<PathBuf>,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let local = local_path::folder(&args.folder)?;
    let row = pairs::find(&spaces::open_noting(app)?, &local)?.row;
    for pattern in &args.add {
        ignore::add(&row, pattern)?;
    }
    if !args.add.is_empty()
        && let Some(client) = app.running_daemon().await?
    {
        client
            .send(cairn_control::typed::Rescan {
                folder: Some(local.clone()),
            })
            .await?;
    }
    if let Some(path) = &args.check {
        // A path that is given without its folder is meant to be in it.
        let path = if path.is_absolute() {
            local_path::file(path)?
        } else {
            PathBuf::from(&local).join(path)
        };
        let decision = ignore::check(&app.home, &row, &path)?;
        let rule = decision
            .rule
            .as_deref()
            .map(|rule| format!(", by the rule `{rule}`"))
            .unwrap_or_default();
        let word = if decision.ignored {
            "is ignored"
        } else {
            "is synced"
        };
        app.out.line(format_args!(
            "{} {word}{rule}.",
            crate::output::text::clean(&decision.path)
        ));
        app.out.json(&decision);
        return Ok(());
    }
    let rules = ignore::rules(&row)?;
    for rule in &rules.shared {
        app.out.line(crate::output::text::clean(rule));
    }
    for rule in &rules.own {
        app.out.line(format_args!(
            "{}  (this device only)",
            crate::output::text::clean(rule)
        ));
    }
    if rules.shared.is_empty() && rules.own.is_empty() {
        app.out
            .line("There are no rules but the built-in ones for temporary and system files.");
    }
    app.out
        .json(&json!({ "folder": local, "shared": rules.shared, "own": rules.own }));
    Ok(())
}
