//! `cairn status`: how things stand, once, until they are settled, or as they change.

use crate::app::App;
use crate::cli::watch;
use crate::failure::{Exit, Failure, Outcome};
use cairn_control::{Client, Status, typed};
use std::time::Duration;

/// Show how things stand
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
}

fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no number of seconds");
    let number: f64 = text.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number).map_err(|_| wrong())
}

pub(super) async fn run(app: &App, args: Args) -> Outcome {
    let client = app.daemon().await?;
    if args.watch {
        return watch::status(app, &client).await;
    }
    if args.wait {
        return wait(app, &client, args.timeout).await;
    }
    show(app, &client.send(typed::Status {}).await?);
    Ok(())
}

async fn wait(app: &App, client: &Client, timeout: Option<Duration>) -> Outcome {
    let timeout_ms = timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
    let settled =
        watch::while_waiting(app, client, client.send(typed::Settle { timeout_ms })).await;
    match settled {
        Ok(status) => {
            show(app, &status);
            Ok(())
        }
        Err(error) => {
            let failure = Failure::from(error);
            // What it was that kept it from being in sync is the answer then.
            if matches!(failure.exit, Exit::Decision | Exit::TimedOut)
                && let Ok(status) = client.send(typed::Status {}).await
            {
                show(app, &status);
                return Err(Failure {
                    answered: true,
                    ..failure
                });
            }
            Err(failure)
        }
    }
}

fn show(app: &App, status: &Status) {
    for line in watch::lines(&app.out, status) {
        app.out.line(line);
    }
    app.out.json(status);
}
