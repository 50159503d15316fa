//! `cairn status`: the sync status, once, when everything is in sync, or as it changes.

use crate::app::App;
use crate::cli::watch::{self, Detail};
use crate::failure::{Exit, Failure, Outcome};
use crate::output::text::count;
use cairn_control::{Client, Status, typed};
use cairn_model::SyncState;
use serde_json::json;
use std::time::Duration;

/// Show sync status
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Return when everything is in sync and nothing changed on either side meanwhile
    #[arg(long)]
    wait: bool,
    /// With --wait: give up after so many seconds, with exit code 124
    #[arg(long, value_name = "SECONDS", requires = "wait", value_parser = seconds)]
    timeout: Option<Duration>,
    /// Show changes as they happen, until Ctrl-C
    #[arg(long, conflicts_with = "wait")]
    watch: bool,
    /// List every problem, not only a few of each kind
    #[arg(long, conflicts_with = "watch")]
    all: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a number of seconds");
    let number: f64 = text.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number).map_err(|_| wrong())
}

pub(super) async fn run(app: &App, args: Args) -> Outcome {
    let client = app.daemon().await?;
    let detail = match args.all {
        true => Detail::All,
        false => Detail::Examples,
    };
    if args.watch {
        return watch::status(app, &client).await;
    }
    if args.wait {
        return wait(app, &client, args.timeout, detail).await;
    }
    let status = client.send(typed::Status {}).await?;
    show(app, &client, &status, detail).await
}

async fn wait(app: &App, client: &Client, timeout: Option<Duration>, detail: Detail) -> Outcome {
    let timeout_ms = timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
    let settled =
        watch::while_waiting(app, client, client.send(typed::Settle { timeout_ms })).await;
    match settled {
        Ok(status) => show(app, client, &status, detail).await,
        Err(error) => {
            let failure = Failure::from(error);
            // The status shows what keeps it from being in sync.
            if matches!(failure.exit, Exit::Decision | Exit::TimedOut)
                && let Ok(status) = client.send(typed::Status {}).await
            {
                show(app, client, &status, detail).await?;
                return Err(Failure {
                    answered: true,
                    ..failure
                });
            }
            Err(failure)
        }
    }
}

async fn show(app: &App, client: &Client, status: &Status, detail: Detail) -> Outcome {
    // Both versions of a conflict are in sync, but a person has to look at them.
    let conflicts = client.send(typed::Conflicts {}).await?.conflicts.len() as u64;
    let mut lines = watch::lines(&app.out, status, detail);
    let to_resolve = format!(
        "{} to resolve: see `cairn conflicts`",
        count(conflicts, "conflict")
    );
    match (conflicts, lines.first_mut()) {
        (0, _) => {}
        (_, Some(headline)) if status.state == SyncState::Idle => *headline = to_resolve,
        _ => lines.push(to_resolve),
    }
    for line in lines {
        app.out.line(line);
    }
    let mut document = json!(status);
    document["open_conflicts"] = json!(conflicts);
    app.out.json(&document);
    Ok(())
}
