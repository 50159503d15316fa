//! `cairn autostart`: whether the daemon starts when the user logs in to the system.

use crate::app::App;
use crate::failure::{CommandResult, Context as _};
use cairn_platform::autostart::Autostart;
use serde_json::json;

/// Turn the daemon's start at login on or off
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Without it: show the present state
    #[arg(value_enum)]
    state: Option<State>,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    On,
    Off,
}

pub(super) fn run(app: &App, args: Args) -> CommandResult {
    let exe = std::env::current_exe().context("find the program itself")?;
    let autostart = Autostart::new(&exe, &app.home);
    match args.state {
        Some(State::On) => {
            let what = autostart.enable().context("turn on the start at login")?;
            app.out.line(what);
        }
        Some(State::Off) => autostart.disable().context("turn off the start at login")?,
        None => {}
    }
    let enabled = autostart.is_enabled()?;
    app.out.line(if enabled {
        "The daemon starts at login."
    } else {
        "The daemon doesn't start at login."
    });
    app.out.json(&json!({ "enabled": enabled }));
    Ok(())
}
