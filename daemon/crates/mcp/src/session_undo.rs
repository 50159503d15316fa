//! Undoing what a session changed, newest change first, each unless somebody has changed the same thing since.
//! It may be a session that has ended: an assistant's program restarts this server whenever it likes. A session
//! is all calls of one client, from the start to the end of this process.

mod details;
mod earlier;
mod links;
mod nodes;
mod question;
mod waiting;

pub use earlier::AssistantSession;
pub(crate) use earlier::{ended_sessions, undo as undo_ended};
pub use question::Counts;

use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::question::Asking;
use crate::rewind;
use crate::rewinder::Rewound;
use crate::services::Services;
use crate::session_journal::{Change, Noted};
use crate::session_link_tools::LinkTools;
use crate::session_settle::{Look, settle_open};
use crate::tool::ToolFuture;
use cairn_space::undo::{self, OwnVersions, TakenBack};
use futures_util::FutureExt as _;
use nodes::UndoingSession;
use parking_lot::Mutex;
use serde_json::{Value, json};
use waiting::Waiting;

/// The message about the rewinds of this session, newest first.
const REWINDS: &str = "a rewind is taken back by itself: call undo_session with its `session`";

/// The fate of a change that was to be taken back, as a text.
enum Taken {
    Done(String),
    /// The text of a change that is as it was before already, so that nothing was done.
    Already(String),
    /// The change stays, for this reason.
    Left(String),
}

pub(crate) fn undo_session(call: Call) -> ToolFuture {
    async move {
        if let Some(session) = named_session(&call) {
            if let Some(done) = rewind::find_done(&call.services, session) {
                return undo_rewind(&call.services, &done).await;
            }
            let undone = earlier::undo(&call.services, session).await?;
            return Ok(report(&undone));
        }
        let services = &call.services;
        settle_open(services, Look::AtAllForgetting).await;
        let journal = &services.journal;
        let waiting = Waiting::of_this_session(journal);
        let undone = take_back_all(services, &journal.own, LinkTools::ALL, waiting).await;
        let mut value = report(&undone);
        let rewinds = services.rewinds.lock().clone();
        if !rewinds.is_empty() {
            let shown = rewinds.iter().rev();
            value["rewinds"] = shown
                .map(|one| json!({ "session": one.session, "path": one.path }))
                .collect();
            value["message"] = json!(REWINDS);
        } else if undone.is_empty() {
            value["message"] = json!("this session has changed nothing that is left to take back");
            earlier::offer(services, &mut value).await;
        }
        Ok(value)
    }
    .boxed()
}

async fn undo_rewind(services: &Services, done: &Rewound) -> ToolResult<Value> {
    let undone = rewind::undo(services, done).await?;
    let taken_back = undone["taken_back"].as_array().map_or(0, Vec::len);
    Ok(json!({
        "taken_back": taken_back,
        "changes": undone["taken_back"],
        "left": undone["left"],
    }))
}

fn named_session(call: &Call) -> Option<&str> {
    let session = call.arguments.text("session");
    session.filter(|session| !session.is_empty())
}

/// The result of taking changes back: a line for each.
#[derive(Default)]
pub struct Undone {
    pub done: Vec<String>,
    /// Changes that are as before already, so that nothing was done.
    pub already: Vec<String>,
    /// Changes that stay, with the reason.
    pub left: Vec<String>,
}

impl Undone {
    fn is_empty(&self) -> bool {
        let Self {
            done,
            already,
            left,
        } = self;
        done.is_empty() && already.is_empty() && left.is_empty()
    }
}

/// Takes changes back, of a session that has left nodes in these versions. Each step is noted at once: a call
/// can be cancelled at any time.
async fn take_back_all(
    services: &Services,
    own: &Mutex<OwnVersions>,
    link_tools: LinkTools,
    mut waiting: Waiting<'_>,
) -> Undone {
    let mut undone = Undone::default();
    let session = UndoingSession {
        services,
        own,
        link_tools,
    };
    while let Some(noted) = waiting.next().cloned() {
        let node = noted.change.node();
        let before = node.and_then(|node| own.lock().state_after_undo(node));
        let taken = match take_back(&session, &noted.change).await {
            Ok(taken) => taken,
            Err(error) => Taken::Left(error.public_message()),
        };
        let after = node.and_then(|node| own.lock().state_after_undo(node));
        if let (Some(node), Some(after)) = (node, after.filter(|_| after != before)) {
            waiting.note_state_after_undo(node, after);
        }
        match taken {
            Taken::Done(text) => {
                undone.done.push(text);
                waiting.mark_undone();
            }
            Taken::Already(text) => {
                undone.already.push(text);
                waiting.mark_undone();
            }
            Taken::Left(text) => {
                undone.left.push(text);
                waiting.keep();
            }
        }
    }
    undone
}

/// Returns the question before more than a few things go to the trash, and before an earlier session's changes
/// are taken back, whatever they are.
pub(crate) fn question_of(call: &Call) -> Asking<'_> {
    async move {
        let services = &call.services;
        if let Some(id) = named_session(call) {
            if let Some(done) = rewind::find_done(services, id) {
                return Ok(Some(rewind::undo_question(&done)));
            }
            let session = earlier::find(services, id).await?;
            note_changes(call, &session.changes);
            return Ok(Some(earlier::question(services, &session)));
        }
        settle_open(services, Look::AtAll).await;
        let changes = services.journal.noted_changes();
        note_changes(call, &changes);
        let counts = Counts::of(&changes, LinkTools::ALL);
        let question = || counts.question("this session's changes");
        Ok(counts.fills_trash().then(question))
    }
    .boxed()
}

/// Notes what the question of a call is about.
fn note_changes(call: &Call, changes: &[Noted]) {
    let numbers: Vec<_> = changes.iter().map(|noted| noted.number).collect();
    call.subject.note("changes", json!(numbers));
}

fn report(undone: &Undone) -> Value {
    let Undone {
        done,
        already,
        left,
    } = undone;
    let mut report = json!({ "taken_back": done.len(), "changes": done, "left": left });
    if !already.is_empty() {
        report["as_before_already"] = json!(already);
    }
    report
}

/// Takes one change back, or returns the reason why not.
async fn take_back(session: &UndoingSession<'_>, change: &Change) -> ToolResult<Taken> {
    match change {
        Change::Node { record, .. } => {
            let taken = undo::take_back(session, record).await?;
            Ok(match taken {
                Ok(nothing @ (TakenBack::BackAlready(_) | TakenBack::TrashedAlready(_))) => {
                    Taken::Already(nothing.to_string())
                }
                Ok(
                    done @ (TakenBack::Restored(_)
                    | TakenBack::Trashed(_)
                    | TakenBack::Moved { .. }
                    | TakenBack::Content(_)),
                ) => Taken::Done(done.to_string()),
                Err(reason) => Taken::Left(reason.to_string()),
            })
        }
        Change::Details { node, from, to } => {
            let node = session.services.node_as_it_is(*node).await?;
            details::reset(session, &node, from, to).await
        }
        Change::Link { change, .. } if !session.link_tools.may_undo(change) => Ok(Taken::Left(
            "a change of a share link stays: the tools that change links are not offered here"
                .to_owned(),
        )),
        Change::Link { link, change } => links::take_back(session.services, link, change).await,
    }
}

/// Returns `None` for what the service does not have any more.
fn if_kept<T>(found: ToolResult<T>) -> ToolResult<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(ToolError::Api(
            cairn_api::ApiError::NotFound { .. } | cairn_api::ApiError::Gone { .. },
        )) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_as_before_already_is_not_counted_as_taken_back() {
        let undone = Undone {
            done: vec!["a".to_owned()],
            already: vec!["b".to_owned(), "c".to_owned()],
            left: Vec::new(),
        };
        let report = report(&undone);
        assert_eq!(report["taken_back"], 1, "{report}");
        assert_eq!(report["as_before_already"], json!(["b", "c"]));
        assert!(!undone.is_empty() && Undone::default().is_empty());
    }
}
