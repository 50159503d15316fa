//! `cairn remove`: ends a pair; nothing of it is deleted on either side.

use crate::app::App;
use crate::cli::dry_run::{self, DryRun};
use crate::failure::{CommandResult, Context as _};
use crate::folders::{pairs, spaces, unsynced};
use crate::local_path;
use crate::output::text::{clean, count};
use cairn_control::{Client, typed};
use cairn_model::SyncState;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Stop syncing a folder; nothing of it is deleted, here or on the service
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The folder on this machine
    local: PathBuf,
    #[command(flatten)]
    dry_run: DryRun,
}

/// The facts that a person should know of a folder that is no longer synced.
struct Left {
    /// Files whose present content the service has not, as far as was noticed.
    only_here: u64,
    /// The reason why nobody looked at the folder any more: what was changed since is not counted.
    unwatched: Option<Unwatched>,
}

/// The reason why changes of a folder were not noticed.
enum Unwatched {
    NotRunning,
    Paused,
    /// The reason why nothing of it was synced.
    Problem(String),
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let local = local_path::folder(&args.local)?;
    let what = format!("remove {local}");
    let client = app.running_daemon().await?;
    let all = spaces::open_noting(app)?;
    let pair = pairs::find(&all, &local).context(&what)?;
    let left = Left {
        only_here: pair.index.read(|db| db.files_only_here(pair.row.id))?,
        unwatched: match &client {
            Some(client) => unwatched(client, &local).await?,
            None => Some(Unwatched::NotRunning),
        },
    };
    if args.dry_run.is_wanted {
        for line in left.lines() {
            app.out.line(line);
        }
        let line = format!(
            "{} would no longer be synced. Nothing of it would be deleted, here or on the service.",
            clean(&local)
        );
        let document = left.with_facts(json!({ "would_remove": local }));
        return dry_run::show(app, line, document);
    }
    match client {
        Some(client) => {
            let folder = local.clone();
            let removing = client.send(typed::RemoveFolder { folder });
            removing.await.context(what)?;
        }
        None => pairs::remove(&all, &local).context(what)?,
    }
    app.out.line(format_args!(
        "{} is no longer synced. Nothing of it was deleted, here or on the service.",
        clean(&local)
    ));
    for line in left.lines() {
        app.out.line(line);
    }
    let document = left.with_facts(json!({ "removed": local }));
    app.out.json(&document);
    Ok(())
}

/// Asks the daemon whether it looks at a folder, and why not.
async fn unwatched(client: &Client, local: &str) -> CommandResult<Option<Unwatched>> {
    let status = client.send(typed::FullStatus {}).await?;
    let Some(folder) = status.folders.iter().find(|one| one.local == local) else {
        return Ok(None);
    };
    let problem = unsynced::problem(folder);
    let problem = problem.map(|problem| Unwatched::Problem(problem.message.clone()));
    let paused = (folder.state == SyncState::Paused).then_some(Unwatched::Paused);
    Ok(problem.or(paused))
}

impl Left {
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.only_here > 0 {
            lines.push(format!(
                "Not on the service as they are here: {}.",
                count(self.only_here, "file")
            ));
        }
        let since = match &self.unwatched {
            Some(Unwatched::NotRunning) => "since the daemon ended",
            Some(Unwatched::Paused) => "while it was paused",
            Some(Unwatched::Problem(problem)) => {
                lines.push(format!("It was not synced before: {}.", clean(problem)));
                "meanwhile"
            }
            None => return lines,
        };
        lines.push(format!(
            "What was changed here {since} was not sent, and is not counted."
        ));
        lines
    }

    /// Adds it to the document of the command.
    fn with_facts(&self, mut document: Value) -> Value {
        document["only_here"] = self.only_here.into();
        document["complete"] = self.unwatched.is_none().into();
        document["problem"] = match &self.unwatched {
            Some(Unwatched::Problem(problem)) => problem.as_str().into(),
            Some(Unwatched::NotRunning | Unwatched::Paused) | None => Value::Null,
        };
        document
    }
}
