//! Following a running daemon: its status and its activity while they change, and the wait for a reply.

use crate::app::App;
use crate::cli::status_lines::{Detail, headline, lines, progress_line};
use crate::failure::CommandResult;
use crate::output::text::{clean, local_rfc3339, size};
use crate::output::{self, Out, Style};
use cairn_control::{Client, ControlError, Event, EventStream};
use futures_util::StreamExt as _;
use indicatif::{ProgressBar, ProgressDrawTarget};
use std::io::{self, IsTerminal as _};
use std::time::Duration;

/// The time without an event after which the daemon is asked whether it still runs.
const QUIET: Duration = Duration::from_secs(5);

/// Shows the status again whenever it changes, until the daemon ends or Ctrl-C.
pub(super) async fn status(app: &App, client: &Client) -> CommandResult {
    let mut events = client.subscribe().await?;
    let redraw = !app.out.json && io::stdout().is_terminal();
    while let Some(event) = next(client, &mut events).await? {
        let Event::Status { status } = event else {
            continue;
        };
        if redraw {
            // Home, and clear to the end of the screen (ECMA-48).
            app.out.raw("\x1b[H\x1b[2J");
        }
        for line in lines(&app.out, &app.zone, &status, Detail::Examples) {
            app.out.line(line);
        }
        app.out.json_line(&status);
        if output::is_over() {
            return Ok(());
        }
    }
    Err(ControlError::Closed.into())
}

/// Returns the next event, or `None` once the daemon has ended.
async fn next(client: &Client, events: &mut EventStream) -> Result<Option<Event>, ControlError> {
    loop {
        match tokio::time::timeout(QUIET, events.next()).await {
            Ok(event) => return Ok(event),
            Err(_) => client.ping().await?,
        }
    }
}

/// Waits for a response; a person who watches sees meanwhile what goes on.
pub(super) async fn while_waiting<T>(
    app: &App,
    client: &Client,
    response: impl Future<Output = Result<T, ControlError>>,
) -> Result<T, ControlError> {
    if !app.out.watched {
        return response.await;
    }
    let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    spinner.enable_steady_tick(Duration::from_millis(120));
    let plain = Out::new(true);
    let mut events = client.subscribe().await?;
    let show_progress = async {
        while let Some(event) = events.next().await {
            if let Event::Status { status } = event {
                let progress = status.progress.as_ref().map(progress_line);
                spinner.set_message(format!(
                    "{}{}",
                    headline(&plain, &app.zone, &status),
                    progress.unwrap_or_default()
                ));
            }
        }
        std::future::pending::<()>().await;
    };
    let result = tokio::select! {
        result = response => result,
        () = show_progress => Err(ControlError::Closed),
    };
    spinner.finish_and_clear();
    result
}

/// Follows the activity, until the daemon ends or Ctrl-C.
pub(super) async fn activity(app: &App, client: &Client) -> CommandResult {
    let mut events = client.subscribe().await?;
    while let Some(event) = next(client, &mut events).await? {
        if let Event::Activity { activity } = event {
            app.out.line(activity_line(app, &activity));
            app.out.json_line(&activity);
        }
        if output::is_over() {
            return Ok(());
        }
    }
    Err(ControlError::Closed.into())
}

/// One activity in a line.
pub(super) fn activity_line(app: &App, activity: &cairn_control::Activity) -> String {
    let at = app
        .out
        .paint(Style::Dim, local_rfc3339(&activity.at, &app.zone));
    let bytes = if activity.bytes > 0 {
        format!("  {}", size(activity.bytes))
    } else {
        String::new()
    };
    let device = activity
        .device
        .as_deref()
        .map(|d| format!("  by {}", clean(d)))
        .unwrap_or_default();
    format!(
        "{at}  {:<12}  {}{bytes}{device}",
        activity.kind,
        clean(&activity.path)
    )
}
