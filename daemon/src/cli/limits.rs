//! `cairn limits`: bandwidth.

use crate::app::App;
use crate::config::{Config, RateSchedule, minute_of_day, parse_rate};
use crate::failure::CommandResult;
use crate::output::text;
use cairn_control::{Limits, typed};
use serde_json::json;

/// Show or set bandwidth limits
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Upload limit per second, such as 500KB or 2MB; `off` or 0 lifts it
    #[arg(long, value_name = "RATE", allow_negative_numbers = true, value_parser = rate)]
    up: Option<Rate>,
    /// Download limit per second, such as 500KB or 2MB; `off` or 0 lifts it
    #[arg(long, value_name = "RATE", allow_negative_numbers = true, value_parser = rate)]
    down: Option<Rate>,
    /// Other upload limits by the time of the day: `08:00-18:00 1MB/s, 22:00-06:00 off`; `off` for none
    #[arg(long, value_name = "SCHEDULE", value_parser = RateSchedule::parse)]
    up_at: Option<RateSchedule>,
    /// Other download limits by the time of the day, in the same way
    #[arg(long, value_name = "SCHEDULE", value_parser = RateSchedule::parse)]
    down_at: Option<RateSchedule>,
}

/// A limit, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Rate(Option<u64>);

fn rate(text: &str) -> Result<Rate, String> {
    parse_rate(text).map(Rate)
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let rate = |rate: Rate| {
        rate.0
            .map_or_else(|| "off".to_owned(), |rate| rate.to_string())
    };
    let given = [
        ("limits.up", args.up.map(rate)),
        ("limits.down", args.down.map(rate)),
        ("limits.up_schedule", args.up_at.map(|at| at.to_string())),
        (
            "limits.down_schedule",
            args.down_at.map(|at| at.to_string()),
        ),
    ];
    let mut is_changed = false;
    for (key, value) in given {
        if let Some(value) = value {
            Config::store(&app.home, key, &value)?;
            is_changed = true;
        }
    }
    if is_changed && let Some(client) = app.running_daemon().await? {
        client.send(typed::Reload {}).await?;
    }
    show(app)
}

fn show(app: &App) -> CommandResult {
    let config = Config::load(&app.home)?;
    let now_ms = text::now_ms();
    let now = config.limits_at(minute_of_day(now_ms, app.zone.offset_s(now_ms)));
    let limits = config.limits;
    app.out.line(pair(limits));
    let none = RateSchedule::default();
    let schedules = [("up", &config.up_schedule), ("down", &config.down_schedule)];
    for (direction, schedule) in schedules {
        if *schedule != none {
            app.out.line(format_args!(
                "{direction} by the time of the day: {}",
                schedule.text_for_people()
            ));
        }
    }
    if now != limits {
        app.out.line(format_args!("now: {}", pair(now)));
    }
    app.out.json(&json!({
        "up": limits.up,
        "down": limits.down,
        "up_schedule": config.up_schedule.to_string(),
        "down_schedule": config.down_schedule.to_string(),
        "now": now,
    }));
    Ok(())
}

fn pair(limits: Limits) -> String {
    let text = |rate: Option<u64>| rate.map_or_else(|| "no limit".to_owned(), text::rate);
    format!("up {}, down {}", text(limits.up), text(limits.down))
}
