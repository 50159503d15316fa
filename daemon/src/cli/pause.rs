//! `cairn pause`: stops transfers until a time or until resumed.

use crate::app::App;
use crate::failure::{CommandResult, Failure};
use crate::local_path;
use crate::output::text::{local_time, now_ms, rfc3339};
use crate::time_argument::parse_until;
use cairn_control::typed;
use serde_json::json;
use std::path::PathBuf;

/// Stop syncing, until a time or until resumed
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Only this folder
    folder: Option<PathBuf>,
    /// Time of resuming by itself: 30m, 2h, 18:30, tomorrow, "2026-01-02 08:00"
    #[arg(long, value_name = "T")]
    until: Option<String>,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let folder = args.folder.as_deref().map(local_path::folder).transpose()?;
    let until = match &args.until {
        Some(text) => Some(parse_until(text, now_ms(), &app.zone).ok_or_else(|| {
            let takes = "30m, 2h, 18:30, tomorrow or \"2026-01-02 08:00\"";
            Failure::usage(format!(
                "`{text}` is not a valid time in the future for --until (try {takes})"
            ))
        })?),
        None => None,
    };
    app.daemon()
        .await?
        .send(typed::Pause {
            folder: folder.clone(),
            until,
        })
        .await?;
    let what = folder.as_deref().unwrap_or("Everything");
    match until {
        Some(ms) => app.out.line(format_args!(
            "{what} is paused until {}.",
            local_time(ms, &app.zone)
        )),
        None => app
            .out
            .line(format_args!("{what} is paused until `cairn resume`.")),
    }
    app.out
        .json(&json!({ "paused": true, "folder": folder, "until": until.map(rfc3339) }));
    Ok(())
}
