//! `cairn status`: the sync status, once, when everything is in sync, or as it changes.

use crate::app::App;
use crate::cli::status_lines::{self, Detail};
use crate::cli::watch;
use crate::failure::{CommandResult, Exit, Failure};
use cairn_control::{Client, ControlError, Status, typed};
use std::time::Duration;

/// Show sync status
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Return when everything is in sync and nothing changed on either side meanwhile
    #[arg(long)]
    wait: bool,
    /// With --wait: give up after this many seconds (1 at least, for a look at both sides), with exit code 124
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, requires = "wait", value_parser = seconds)]
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

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let client = app.daemon().await?;
    // A program gets everything: it has no other way to know that there is more.
    let detail = match args.all || app.out.json {
        true => Detail::All,
        false => Detail::Examples,
    };
    if args.watch {
        return watch::status(app, &client).await;
    }
    if args.wait {
        return wait(app, &client, args.timeout, detail).await;
    }
    show(app, &request_status(&client, detail).await?, detail);
    Ok(())
}

async fn request_status(client: &Client, detail: Detail) -> Result<Status, ControlError> {
    match detail {
        Detail::All => client.send(typed::FullStatus {}).await,
        Detail::Examples => client.send(typed::Status {}).await,
    }
}

async fn wait(
    app: &App,
    client: &Client,
    timeout: Option<Duration>,
    detail: Detail,
) -> CommandResult {
    let timeout_ms = timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
    let in_sync = watch::while_waiting(
        app,
        client,
        client.send(typed::WaitUntilSynced { timeout_ms }),
    )
    .await;
    let failure = match in_sync {
        Ok(status) => {
            let status = match detail {
                Detail::All => request_status(client, detail).await?,
                Detail::Examples => status,
            };
            show(app, &status, detail);
            return Ok(());
        }
        Err(error) => Failure::from(error),
    };
    // The status shows what keeps it from being in sync.
    if matches!(failure.exit, Exit::Decision | Exit::TimedOut)
        && let Ok(status) = request_status(client, detail).await
    {
        show(app, &status, detail);
        return Err(failure.mark_reported());
    }
    Err(failure)
}

fn show(app: &App, status: &Status, detail: Detail) {
    for line in status_lines::lines(&app.out, &app.zone, status, detail) {
        app.out.line(line);
    }
    app.out.json(status);
}
