//! Taking back what a session changed, newest change first, each where nothing newer stands in the way. It may
//! be a session that has ended: hosts restart this server whenever they like.

mod details;
mod earlier;
mod links;
mod nodes;

use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::question::Asking;
use crate::services::Services;
use crate::session_journal::{Change, Noted};
use crate::tool::ToolFuture;
use cairn_space::undo::{self, OwnVersions};
use futures_util::FutureExt as _;
use nodes::UndoingSession;
use parking_lot::Mutex;
use serde_json::{Value, json};

/// Files and empty folders that go to the trash without a question.
const FEW: usize = 3;

/// The text of what was done, or the reason why a change stays.
type Taken = Result<String, String>;

pub(crate) fn undo_session(call: Call) -> ToolFuture {
    async move {
        if let Some(session) = named_session(&call) {
            return earlier::undo(&call.services, session).await;
        }
        let services = &call.services;
        let journal = &services.journal;
        let undone = take_back_all(services, &journal.own, journal.take()).await;
        for number in &undone.gone {
            journal.taken_back(*number);
        }
        let mut value = report(&undone);
        journal.keep(undone.kept);
        if undone.done.is_empty() && undone.left.is_empty() {
            earlier::offer(services, &mut value).await;
        }
        Ok(value)
    }
    .boxed()
}

fn named_session(call: &Call) -> Option<&str> {
    let session = call.arguments.text("session");
    session.filter(|session| !session.is_empty())
}

/// The result of taking changes back.
struct Undone {
    done: Vec<String>,
    left: Vec<String>,
    /// The numbers of the changes that are no more.
    gone: Vec<u64>,
    /// The changes that stay, oldest first.
    kept: Vec<Noted>,
}

/// Takes changes back, of a session that has left nodes in these versions.
async fn take_back_all(
    services: &Services,
    own: &Mutex<OwnVersions>,
    changes: Vec<Noted>,
) -> Undone {
    let (mut done, mut left) = (Vec::new(), Vec::new());
    let (mut gone, mut kept) = (Vec::new(), Vec::new());
    let session = UndoingSession { services, own };
    for noted in changes.into_iter().rev() {
        let taken = match take_back(&session, &noted.change).await {
            Ok(taken) => taken,
            Err(error) => Err(error.public_message()),
        };
        match taken {
            Ok(text) => {
                done.push(text);
                gone.push(noted.number);
            }
            Err(text) => {
                left.push(text);
                kept.push(noted);
            }
        }
    }
    kept.reverse();
    Undone {
        done,
        left,
        gone,
        kept,
    }
}

/// Returns the question before more than a few things go to the trash.
pub(crate) fn ask(call: &Call) -> Asking<'_> {
    let (whose, (single, whole)) = match named_session(call) {
        Some(session) => (
            "an earlier session's",
            earlier::going_to_trash(&call.services, session),
        ),
        None => ("this session's", call.services.journal.going_to_trash()),
    };
    let question = (single > FEW || whole > 0).then(|| {
        let whole = match whole {
            0 => String::new(),
            1 => ", and 1 folder with all that is in it".to_owned(),
            many => format!(", and {many} folders with all that is in them"),
        };
        format!(
            "Take {whose} changes back? What it made or restored goes to the trash: {single} files or empty folders{whole}."
        )
    });
    async move { Ok(question) }.boxed()
}

fn report(undone: &Undone) -> Value {
    let Undone { done, left, .. } = undone;
    let mut value = json!({ "taken_back": done.len(), "changes": done, "left": left });
    if done.is_empty() && left.is_empty() {
        value["message"] = json!("this session has changed nothing that is left to take back");
    }
    value
}

/// Takes one change back, or returns the reason why not.
async fn take_back(session: &UndoingSession<'_>, change: &Change) -> ToolResult<Taken> {
    match change {
        Change::Node { record, .. } => {
            let taken = undo::take_back(session, record).await?;
            Ok(match taken {
                Ok(done) => Ok(done.to_string()),
                Err(reason) => Err(reason.to_string()),
            })
        }
        Change::Details { node, from, to } => {
            let node = session.services.node_as_it_is(*node).await?;
            details::reset(session, &node, from, to).await
        }
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
