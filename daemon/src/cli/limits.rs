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
    /// Upload limit per second, such as 500KB or 2MB; `off` lifts it
    #[arg(long, value_name = "RATE", value_parser = rate)]
    up: Option<Rate>,
    /// Download limit per second, such as 500KB or 2MB; `off` lifts it
    #[arg(long, value_name = "RATE", value_parser = rate)]
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
    let before = Config::load(&app.home)?.limits;
    if args.up.is_some() || args.down.is_some() {
        let limits = Limits {
            up: args.up.map_or(before.up, |rate| rate.0),
            down: args.down.map_or(before.down, |rate| rate.0),
        };
        set(app, limits).await?;
    }
    if args.up_at.is_some() || args.down_at.is_some() {
        let schedules = [
            ("limits.up_schedule", args.up_at),
            ("limits.down_schedule", args.down_at),
        ];
        for (key, schedule) in schedules {
            if let Some(schedule) = schedule {
                Config::store(&app.home, key, &schedule.to_string())?;
            }
        }
        if let Some(client) = app.running_daemon().await? {
            client.send(typed::Reload {}).await?;
        }
    }
    show(app)
}

async fn set(app: &App, limits: Limits) -> CommandResult {
    let value = |rate: Option<u64>| rate.map_or_else(|| "off".to_owned(), |rate| rate.to_string());
    match app.running_daemon().await? {
        Some(client) => {
            client.send(typed::SetLimits { limits }).await?;
        }
        None => {
            Config::store(&app.home, "limits.up", &value(limits.up))?;
            Config::store(&app.home, "limits.down", &value(limits.down))?;
        }
    }
    Ok(())
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
