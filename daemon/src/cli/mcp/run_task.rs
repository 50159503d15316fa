//! `cairn mcp run-task`, which `cairn mcp` starts by itself: the work of one long transfer, which goes on when the
//! assistant's program ends.
//!
//! The call comes on stdin, because other users can read command lines. One line on stdout says that the work begins.

use super::tasks::{HomeTasks, READY};
use super::{account, daemon, unattended};
use crate::app::App;
use crate::failure::{CommandResult, Context as _};
use cairn_mcp::{Server, Settings};
use cairn_platform::process;
use std::io::{Read as _, Write as _};
use std::sync::Arc;

/// Do the work of a task (started by `cairn mcp`)
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Id of the task
    id: String,
}

pub(super) async fn run(app: &App, args: &Args) -> CommandResult {
    process::leave_terminal();
    let tasks = Arc::new(HomeTasks::new(app.home.clone()));
    let server = server(app, tasks.clone())?;
    let mut call = String::new();
    std::io::stdin()
        .read_to_string(&mut call)
        .context("read the call")?;
    // Held until the end of this process: by it others see that the work goes on.
    let _held = tasks.hold(&args.id).context("begin the task")?;
    let mut out = std::io::stdout();
    if let Err(error) = writeln!(out, "{READY}").and_then(|()| out.flush()) {
        tracing::debug!(%error, "nobody waits for the result");
    }
    tokio::select! {
        done = server.run_task(&args.id, &call) => done.context("do the work of the task"),
        stopped = process::wait_for_stop_request() => stopped.context("listen for signals"),
    }
}

/// Returns a server of the same account as that of the process that began the task, which has checked the call.
fn server(app: &App, tasks: Arc<HomeTasks>) -> CommandResult<Server> {
    let settings = Settings {
        daemon: daemon(app)?,
        tasks: Some(tasks),
        // Changes that can be taken back are those of a session of its own.
        ..unattended(app, account::find(app)?)?
    };
    Server::new(settings).map_err(super::serve_failure)
}
