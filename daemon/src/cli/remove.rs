//! `cairn remove`: ends a pair; files stay on both sides.

use crate::app::App;
use crate::cli::dry_run::{self, DryRun};
use crate::failure::{CommandResult, Context as _};
use crate::folders::{pairs, spaces};
use crate::local_path;
use crate::output::text::clean;
use cairn_control::typed;
use serde_json::json;
use std::path::PathBuf;

/// Stop syncing a folder; its files stay on both sides
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The folder on this machine
    local: PathBuf,
    #[command(flatten)]
    dry_run: DryRun,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let local = local_path::folder(&args.local)?;
    let what = format!("remove {local}");
    if args.dry_run.is_wanted {
        pairs::find(&spaces::open_noting(app)?, &local).context(what)?;
        let line = format!(
            "{} would no longer be synced. Its files would stay here and on the service.",
            clean(&local)
        );
        return dry_run::show(app, line, json!({ "would_remove": local }));
    }
    match app.running_daemon().await? {
        Some(client) => {
            let folder = local.clone();
            let removing = client.send(typed::RemoveFolder { folder });
            removing.await.context(what)?;
        }
        None => pairs::remove(&spaces::open_noting(app)?, &local).context(what)?,
    }
    app.out.line(format_args!(
        "{} is no longer synced. Its files stay here and on the service.",
        clean(&local)
    ));
    app.out.json(&json!({ "removed": local }));
    Ok(())
}
