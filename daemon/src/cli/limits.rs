//! `cairn limits`: bandwidth.

use crate::app::App;
use crate::config::{Config, parse_rate};
use crate::failure::CommandResult;
use crate::output::text;
use cairn_control::{Limits, typed};

/// Show or set bandwidth limits
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Upload limit per second, such as 500KB or 2MB; `off` lifts it
    #[arg(long, value_name = "RATE", value_parser = rate)]
    up: Option<Rate>,
    /// Download limit per second, such as 500KB or 2MB; `off` lifts it
    #[arg(long, value_name = "RATE", value_parser = rate)]
    down: Option<Rate>,
}

/// A limit, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Rate(Option<u64>);

fn rate(text: &str) -> Result<Rate, String> {
    parse_rate(text).map(Rate)
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let before = Config::load(&app.home)?.limits;
    let limits = Limits {
        up: args.up.map_or(before.up, |rate| rate.0),
        down: args.down.map_or(before.down, |rate| rate.0),
    };
    if args.up.is_some() || args.down.is_some() {
        let value =
            |rate: Option<u64>| rate.map_or_else(|| "off".to_owned(), |rate| rate.to_string());
        match app.running_daemon().await? {
            Some(client) => {
                client.send(typed::SetLimits { limits }).await?;
            }
            None => {
                Config::store(&app.home, "limits.up", &value(limits.up))?;
                Config::store(&app.home, "limits.down", &value(limits.down))?;
            }
        }
    }
    let show = |rate: Option<u64>| rate.map_or_else(|| "no limit".to_owned(), text::rate);
    app.out.line(format_args!(
        "up {}, down {}",
        show(limits.up),
        show(limits.down)
    ));
    app.out.json(&limits);
    Ok(())
}
