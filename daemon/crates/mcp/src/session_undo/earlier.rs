//! Undoing what a session changed whose process has ended. It is named by its id: which of several clients
//! it served is not known here.

use super::question::Counts;
use super::waiting::Waiting;
use super::{Undone, take_back_all};
use crate::error::{ToolError, ToolResult};
use crate::services::Services;
use crate::session_file::Earlier;
use cairn_wire::Timestamp;
use parking_lot::Mutex;
use serde_json::{Value, json};

/// Returns an earlier session of this account with what is left of it.
pub(super) async fn find(services: &Services, id: &str) -> ToolResult<Earlier> {
    let earlier = of_this_account(services).await?;
    let session = earlier.into_iter().find(|session| session.id == id);
    session.ok_or_else(|| {
        ToolError::argument(
            "no earlier session of this account has that id, or nothing of it is left to take back: call undo_session without it to list them",
        )
    })
}

/// An ended session of an assistant, with changes that are not taken back yet.
pub struct AssistantSession {
    pub id: String,
    /// The time of its last change.
    pub ended: Timestamp,
    pub changes: usize,
    /// The same by what taking them back does.
    pub counts: Counts,
    /// The question to a person before they are taken back, with their kinds and numbers.
    pub question: String,
}

/// Returns the ended sessions of this account, newest first.
pub(crate) async fn ended_sessions(services: &Services) -> ToolResult<Vec<AssistantSession>> {
    let sessions = of_this_account(services).await?.into_iter();
    let sessions = sessions.map(|session| AssistantSession {
        question: question(services, &session),
        counts: Counts::of(&session.changes, services.link_tools),
        changes: session.changes.len(),
        id: session.id,
        ended: session.at,
    });
    Ok(sessions.collect())
}

/// Returns the question before an earlier session's changes are taken back.
pub(super) fn question(services: &Services, session: &Earlier) -> String {
    let counts = Counts::of(&session.changes, services.link_tools);
    let what = format!("what the session that ended at {} changed", session.at);
    counts.question(&what)
}

/// Takes an earlier session's changes back.
///
/// # Errors
/// [`ToolError::Argument`] for an id that [`ended_sessions`] doesn't return.
pub(crate) async fn undo(services: &Services, id: &str) -> ToolResult<Undone> {
    let session = find(services, id).await?;
    let own = Mutex::new(session.own);
    let waiting = Waiting::of_earlier(&services.journal, id, session.changes);
    Ok(take_back_all(services, &own, services.link_tools, waiting).await)
}

/// Adds the earlier sessions to a report.
pub(super) async fn offer(services: &Services, report: &mut Value) {
    let earlier = match of_this_account(services).await {
        Ok(earlier) if !earlier.is_empty() => earlier,
        Ok(_) => return,
        Err(error) => {
            tracing::warn!(
                error = error.public_message(),
                "earlier sessions can't be listed"
            );
            return;
        }
    };
    let shown = earlier.iter().map(|session| {
        json!({ "session": session.id, "ended": session.at, "changes": session.changes.len() })
    });
    report["earlier_sessions"] = shown.collect();
}

/// Returns the ended sessions of this account with changes that are left, newest first.
async fn of_this_account(services: &Services) -> ToolResult<Vec<Earlier>> {
    let mut earlier = services
        .journal
        .earlier_sessions()
        .map_err(ToolError::local("read the journals of earlier sessions"))?;
    if !earlier.is_empty() {
        let space = services.own_space_id().await?;
        earlier.retain(|session| session.space == space);
    }
    Ok(earlier)
}
