//! Sessions of assistants that have ended.

use super::{confirm, print_changes, several};
use crate::app::App;
use crate::cli::{dry_run, mcp};
use crate::failure::{CommandResult, Failure};
use crate::output::text::{clean, local_time};
use cairn_mcp::{AssistantSession, UndoError};
use serde_json::{Value, json};

/// An ended session of an assistant.
pub(super) struct Session(AssistantSession);

/// Returns the ended sessions of the account that this machine is logged in to, newest first.
pub(super) async fn sessions(app: &App) -> CommandResult<Vec<Session>> {
    let sessions = mcp::server_of_login(app)?.ended_sessions().await;
    Ok(sessions
        .map_err(failure)?
        .into_iter()
        .map(Session)
        .collect())
}

impl Session {
    /// Returns the row of the list, with the time of the end in milliseconds.
    pub(super) fn row(&self, app: &App) -> (i64, [String; 4], Value) {
        let session = &self.0;
        let at_ms = session.ended.0;
        let cells = [
            local_time(at_ms, &app.zone),
            "an assistant".to_owned(),
            session.changes.to_string(),
            session.id.clone(),
        ];
        let document = json!({
            "session": session.id,
            "by": "assistant",
            "at": session.ended,
            "command": "mcp",
            "team": null,
            "changes": session.changes,
        });
        (at_ms, cells, document)
    }
}

/// Takes back what an assistant did in the session with this id, or this beginning of it.
pub(super) async fn undo(app: &App, wanted: &str, yes: bool) -> CommandResult {
    let session = find(app, wanted).await?;
    confirm(&session.question, yes)?;
    let undone = mcp::server_of_login(app)?
        .undo_ended_session(&session.id)
        .await;
    let undone = undone.map_err(failure)?;
    let document = json!({
        "undone": session.id,
        "command": "mcp",
        "session": null,
        "taken_back": undone.done,
        "as_before_already": undone.already,
        "left": undone.left,
    });
    for text in &undone.already {
        app.out
            .line(format_args!("  nothing to do: {}", clean(text)));
    }
    print_changes(app, &undone.done, &undone.left, &document)
}

/// Shows what would be taken back of such a session.
pub(super) async fn show(app: &App, wanted: &str) -> CommandResult {
    let session = find(app, wanted).await?;
    let document = json!({
        "undone": session.id,
        "command": "mcp",
        "session": null,
        "changes": session.changes,
        "counts": session.counts,
    });
    let line = format!("{} Nothing was done.", clean(&session.question));
    dry_run::show(app, line, document)
}

/// Finds the session with this id, or this beginning of it.
async fn find(app: &App, wanted: &str) -> CommandResult<AssistantSession> {
    let server = mcp::server_of_login(app)?;
    let sessions = server.ended_sessions().await.map_err(failure)?;
    let prefix = wanted.to_ascii_lowercase();
    let mut matching = sessions
        .into_iter()
        .filter(|session| session.id.starts_with(&prefix));
    match (matching.next(), matching.next()) {
        (Some(session), None) => Ok(session),
        (Some(_), Some(_)) => Err(Failure::usage(several(wanted))),
        (None, _) => Err(Failure::usage(format!(
            "there is no session {wanted} to take back: see `cairn undo --list`"
        ))),
    }
}

fn failure(error: UndoError) -> Failure {
    match error {
        UndoError::Api(error) => error.into(),
        UndoError::Other(text) => Failure::failed(text),
    }
}
