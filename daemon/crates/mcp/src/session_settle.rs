//! Notes a change in the session's journal when its call ends. Finds out whether it took place if the call has no
//! result. A call that was repeated may have noted it before: nothing is noted twice, which would read as the work
//! of somebody else in between.

use crate::error::{ToolError, ToolResult};
use crate::outcome;
use crate::services::Services;
use crate::session_call_time::CallTime;
use crate::session_changes::{Before, after, note_changed_node};
use crate::session_intents::Intent;
use crate::session_links;
use crate::session_lookup::NewNodes;
use cairn_api::ApiError;
use cairn_model::Kind;
use cairn_space::undo::NodeChange;
use serde_json::Value;

/// The extent of a look at the changes whose calls have ended without a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Look {
    /// Until the service fails: while it does, each look would take as long.
    WhileAnswered,
    /// At all of them, so that none is missing where they are counted.
    AtAll,
    /// At all of them for the last time: what has not taken place is forgotten.
    AtAllForgetting,
}

/// The fate of a noted change that has not taken place: its request may still be on the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum IfUnmade {
    Keep,
    Forget,
}

/// Looks at the changes whose calls have ended without a result, and notes those that took place.
pub(crate) async fn settle_open(services: &Services, look: Look) {
    let if_unmade = match look {
        Look::WhileAnswered | Look::AtAll => IfUnmade::Keep,
        Look::AtAllForgetting => IfUnmade::Forget,
    };
    for intent in services.intents.take_open() {
        let is_known = settle(services, intent, if_unmade).await;
        if !is_known && look == Look::WhileAnswered {
            return;
        }
    }
}

/// Notes what a call has changed: from its result, or by a look at it where the call has failed.
pub(crate) async fn conclude(services: &Services, intent: Intent<'_>, result: &ToolResult<Value>) {
    match result {
        Ok(value) => {
            let noted = match intent.change() {
                Some(before) => after(services, before, value).await,
                None => Ok(()),
            };
            match noted {
                Ok(()) => intent.finish(),
                // The change was made: it stays open, and is looked at again.
                Err(error) => {
                    let error = error.public_message();
                    tracing::warn!(error, "what a call has changed can't be noted yet");
                }
            }
        }
        Err(error) => settle_failed(services, intent, error).await,
    }
}

/// Looks at a change whose call has failed, and notes it if it took place.
pub(crate) async fn settle_failed(services: &Services, intent: Intent<'_>, error: &ToolError) {
    // Where the service asks for no further request now, it is looked at later.
    if outcome::asks_to_wait(error) {
        return;
    }
    // A change that was refused will never take place.
    let if_unmade = if outcome::is_open(error) {
        IfUnmade::Keep
    } else {
        IfUnmade::Forget
    };
    settle(services, intent, if_unmade).await;
}

/// Looks at a change whose call has no result, and notes it if it took place; returns false if that can't be found
/// out now.
async fn settle(services: &Services, intent: Intent<'_>, if_unmade: IfUnmade) -> bool {
    let time = intent.time();
    let is_made = match intent.change() {
        Some(before) => took_place(services, before, time).await,
        None => Some(false),
    };
    match is_made {
        None => intent.postpone(),
        Some(false) if if_unmade == IfUnmade::Keep && !time.is_over() => {}
        Some(_) => intent.finish(),
    }
    is_made.is_some()
}

/// Notes a change whose call has no result if it took place all the same; `None` if that can't be found out now.
async fn took_place(services: &Services, before: &Before, time: CallTime) -> Option<bool> {
    let journal = &services.journal;
    match before {
        Before::NewFolders(new) => {
            let nodes = NewNodes::find_any(services, new.as_ref(), time).await?;
            let folders = nodes.iter().filter(|node| node.kind == Kind::Folder);
            for folder in folders {
                journal.note_new_node(folder, NodeChange::Made);
            }
            Some(!nodes.is_empty())
        }
        Before::NewCopy(new) => {
            let nodes = NewNodes::find_any(services, new.as_ref(), time).await?;
            for copy in &nodes {
                journal.note_new_node(copy, NodeChange::Copied);
            }
            Some(!nodes.is_empty())
        }
        Before::NewLinks(new) => {
            let links = match new {
                Some(new) => new.find(services, time).await?,
                None => Vec::new(),
            };
            let is_made = !links.is_empty();
            for link in links {
                journal.note_new_link(link);
            }
            Some(is_made)
        }
        Before::Link(link) => session_links::after_if_changed(services, link, time)
            .await
            .ok(),
        Before::Labels(labels) => labels.note_changes(services, Some(time)).await.ok(),
        Before::Node(edit, node, wanted) => {
            if journal.has_noted_since(node) {
                return Some(true);
            }
            let now = match services.node_as_it_is(node.id).await {
                Ok(now) => now,
                Err(ToolError::Api(ApiError::NotFound { .. })) => return Some(false),
                Err(_) => return None,
            };
            let is_made = wanted.may_have_led(services, node, &now, time);
            if is_made {
                note_changed_node(services, *edit, node, &now);
            }
            Some(is_made)
        }
    }
}
