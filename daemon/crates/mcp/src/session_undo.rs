//! Taking back what a session changed, newest change first, each where nothing newer stands in the way.

mod details;
mod links;
mod nodes;

use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::question::Asking;
use crate::services::Services;
use crate::session_journal::Change;
use crate::tool::ToolFuture;
use cairn_space::undo;
use futures_util::FutureExt as _;
use serde_json::{Value, json};

/// Files and empty folders that go to the trash without a question.
const FEW: usize = 3;

/// The text of what was done, or the reason why a change stays.
type Taken = Result<String, String>;

pub(crate) fn undo_session(call: Call) -> ToolFuture {
    async move {
        let services = &call.services;
        let changes = services.journal.take();
        let (mut done, mut left, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for change in changes.into_iter().rev() {
            let taken = match take_back(services, &change).await {
                Ok(taken) => taken,
                Err(error) => Err(error.public_message()),
            };
            match taken {
                Ok(text) => done.push(text),
                Err(text) => {
                    left.push(text);
                    kept.push(change);
                }
            }
        }
        kept.reverse();
        services.journal.keep(kept);
        Ok(report(&done, &left))
    }
    .boxed()
}

/// Returns the question before more than a few things go to the trash.
pub(crate) fn ask(call: &Call) -> Asking<'_> {
    let (single, whole) = call.services.journal.going_to_trash();
    let question = (single > FEW || whole > 0).then(|| {
        let whole = match whole {
            0 => String::new(),
            1 => ", and 1 folder with all that is in it".to_owned(),
            many => format!(", and {many} folders with all that is in them"),
        };
        format!(
            "Take this session's changes back? What it made or restored goes to the trash: {single} files or empty folders{whole}."
        )
    });
    async move { Ok(question) }.boxed()
}

fn report(done: &[String], left: &[String]) -> Value {
    let mut value = json!({ "taken_back": done.len(), "changes": done, "left": left });
    if done.is_empty() && left.is_empty() {
        value["message"] = json!("this session has changed nothing that is left to take back");
    }
    value
}

/// Takes one change back, or returns the reason why not.
async fn take_back(services: &Services, change: &Change) -> ToolResult<Taken> {
    match change {
        Change::Node { record, .. } => {
            let taken = undo::take_back(services, record).await?;
            Ok(match taken {
                Ok(done) => Ok(done.to_string()),
                Err(reason) => Err(reason.to_string()),
            })
        }
        Change::Details { node, from, to } => {
            let node = services.node_as_it_is(*node).await?;
            details::reset(services, &node, from, to).await
        }
        Change::Link { link, change } => links::take_back(services, link, change).await,
    }
}

/// Notes that taking a change back has changed a node, whose older changes are still to be taken back.
async fn took_back(services: &Services, before: &cairn_wire::nodes::Node) -> ToolResult<()> {
    let after = services.node_as_it_is(before.id).await?;
    services.journal.own.lock().took_back(before, &after);
    Ok(())
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
