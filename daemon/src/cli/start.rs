//! `cairn start`, `stop`, `restart`: the daemon in the background.

use crate::app::App;
use crate::failure::CommandResult;
use serde_json::json;

/// Start the daemon in the background
#[derive(clap::Args, Debug)]
pub(super) struct StartArgs {}

/// Stop the daemon; it finishes or saves its present work
#[derive(clap::Args, Debug)]
pub(super) struct StopArgs {}

/// Stop the daemon and start it again
#[derive(clap::Args, Debug)]
pub(super) struct RestartArgs {}

pub(super) async fn start(app: &App, _: StartArgs) -> CommandResult {
    let (client, started) = match app.running_daemon().await? {
        Some(client) => (client, false),
        None => (app.start().await?, true),
    };
    let state = if started {
        "started"
    } else {
        "running already"
    };
    app.out.line(format_args!(
        "The daemon is {state} (process {}).",
        client.pid()
    ));
    app.out
        .json(&json!({ "running": true, "started": started, "pid": client.pid() }));
    Ok(())
}

pub(super) async fn stop(app: &App, _: StopArgs) -> CommandResult {
    let stopped = app.stop().await?;
    app.out.line(if stopped {
        "The daemon has ended."
    } else {
        "No daemon was running."
    });
    app.out
        .json(&json!({ "running": false, "stopped": stopped }));
    Ok(())
}

pub(super) async fn restart(app: &App, _: RestartArgs) -> CommandResult {
    // Whatever keeps the new daemon from starting must not end the one that runs.
    app.check_start()?;
    app.stop().await?;
    start(app, StartArgs {}).await
}
