//! `cairn accept`: accepts what strict verification has blocked.

use crate::app::App;
use crate::failure::{CommandResult, Context as _};
use cairn_control::{Accepted, typed};

/// Accept changes blocked by `sync.verify = "strict"`, or that the service went back
#[derive(clap::Args, Debug)]
pub(super) struct Args {}

pub(super) async fn run(app: &App, Args {}: Args) -> CommandResult {
    let accepted: Accepted = app
        .daemon()
        .await?
        .send(typed::Accept {})
        .await
        .context("accept what was held")?;
    app.out.line(match accepted.accepted {
        0 => "Nothing waits to be accepted.".to_owned(),
        1 => "1 change is taken.".to_owned(),
        many => format!("{many} changes are taken."),
    });
    app.out.json(&accepted);
    Ok(())
}
