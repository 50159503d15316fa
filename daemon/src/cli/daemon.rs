//! `cairn daemon`: the daemon in the foreground.

use crate::app::App;
use crate::failure::CommandResult;
use crate::serve;

/// Run the daemon in the foreground until Ctrl-C or SIGTERM
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Leave the terminal and log to files only (used by `cairn start`)
    #[arg(long, hide = true)]
    background: bool,
}

pub(super) async fn run(app: &App, args: Args, log: Option<String>) -> CommandResult {
    let options = serve::Options {
        home: app.home.clone(),
        zone: app.zone.clone(),
        background: args.background,
        log,
    };
    serve::run(options).await
}
