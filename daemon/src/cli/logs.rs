//! `cairn logs`: the daemon's log.

use crate::app::App;
use crate::cli::number::whole_number;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::logging;
use crate::output;
use serde_json::json;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

/// Interval between looks for new lines.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Show the daemon's log
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Number of lines from the newest file
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value_t = 100,
        value_parser = whole_number
    )]
    lines: u64,
    /// Show new lines as they come, until Ctrl-C
    #[arg(long)]
    follow: bool,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let dir = app.home.logs_dir();
    let tail = tail(&dir, usize::try_from(args.lines).unwrap_or(usize::MAX))?;
    for line in &tail.lines {
        app.out.line(line);
    }
    app.out
        .json(&json!({ "file": tail.path.display().to_string(), "lines": tail.lines }));
    if args.follow {
        return follow(app, &dir, tail.path, tail.end).await;
    }
    Ok(())
}

/// The last lines of the newest log.
pub(super) struct Tail {
    path: PathBuf,
    /// The length of the file, in bytes.
    end: u64,
    pub(super) lines: Vec<String>,
}

/// Reads the last lines of the newest log.
pub(super) fn tail(dir: &Path, lines: usize) -> CommandResult<Tail> {
    let Some(path) = newest_file(dir)? else {
        return Err(Failure::failed(format!(
            "there is no log in {} yet: run `cairn start`",
            dir.display()
        )));
    };
    let text = std::fs::read(&path).context(format_args!("read {}", path.display()))?;
    let end = text.len() as u64;
    let text = String::from_utf8_lossy(&text);
    let all: Vec<&str> = text.lines().collect();
    let lines = &all[all.len().saturating_sub(lines)..];
    let lines = lines.iter().map(|line| (*line).to_owned()).collect();
    Ok(Tail { path, end, lines })
}

async fn follow(app: &App, dir: &Path, mut path: PathBuf, mut at: u64) -> CommandResult {
    let mut ticks = interval(POLL_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let mut file =
            std::fs::File::open(&path).context(format_args!("read {}", path.display()))?;
        file.seek(SeekFrom::Start(at))?;
        let mut new = Vec::new();
        file.read_to_end(&mut new)?;
        at += new.len() as u64;
        let text = String::from_utf8_lossy(&new);
        if app.out.json {
            text.lines().for_each(|line| app.out.json_line(&line));
        } else {
            app.out.raw(&text);
        }
        if output::is_over() {
            return Ok(());
        }
        if let Some(next) = newest_file(dir)?
            && next != path
        {
            (path, at) = (next, 0);
        }
    }
}

/// The file that is written now: their names end in the date.
fn newest_file(dir: &Path) -> CommandResult<Option<PathBuf>> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e).context(format_args!("read {}", dir.display())),
    };
    let files = entries.flatten().map(|entry| entry.path()).filter(|path| {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        name.starts_with(logging::PREFIX) && name.ends_with(".log")
    });
    Ok(files.max())
}
