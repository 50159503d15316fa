//! Emptying the trash of the account's own space. Those of its teams stay: what is in them belongs to others too.

use crate::call::{Call, with_success};
use crate::error::{ToolError, ToolResult};
use crate::services::Services;
use crate::subject::Subject;
use crate::tool::{ToolFuture, delete};
use cairn_api::{Api, ApiError, Method};
use cairn_model::NodeId;
use cairn_wire::nodes::Node;
use futures_util::future::join;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::timeout;

/// The time limit of a look that the call does without where it takes longer.
pub(crate) const LOOK_TIMEOUT: Duration = Duration::from_secs(5);

/// The name of what lies in the trash among the things that a question is about.
const SEEN: &str = "trash";

/// Deletions that are requested at the same time.
const AT_ONCE: usize = 8;

pub(crate) fn empty_trash(call: Call) -> ToolFuture {
    const DONE: &str = "the trash of your own space is empty";
    const DONE_BEFORE: &str = "the trash of your own space was empty already: nothing was deleted";
    async move {
        let services = &call.services;
        let confirmed = call.subject.state(SEEN).filter(|_| call.is_confirmed);
        // Nobody is asked about an empty trash, so it is not emptied either, whatever has come since.
        let is_empty =
            call.has_no_question || confirmed.is_none() && is_trash_empty(services).await;
        let emptying = async {
            if let Some(confirmed) = &confirmed {
                return delete_confirmed(services, confirmed).await;
            }
            if is_empty {
                return Ok(with_success(json!({ "deleted": 0 }), Some(DONE_BEFORE)));
            }
            call.send(&delete("trash").success_message(DONE)).await
        };
        // At the same time: what was done is told, however long the teams take.
        let (emptied, note) = join(Box::pin(emptying), note_of_teams(services)).await;
        let mut emptied = emptied?;
        if let Some(note) = note {
            emptied["note"] = json!(note);
        }
        Ok(emptied)
    }
    .boxed()
}

/// Notes what lies in the trash, for the question before it is deleted for good.
pub(crate) fn note_seen(subject: &Subject, trashed: &[Node]) {
    let seen: BTreeMap<_, _> = trashed.iter().map(|node| (node.id, node.version)).collect();
    subject.note(SEEN, json!(seen));
}

/// Deletes for good what a person agreed to, and nothing that has come into the trash, or was changed, since.
async fn delete_confirmed(services: &Services, confirmed: &Value) -> ToolResult<Value> {
    const DONE: &str =
        "what was in the trash of your own space when you were asked is deleted for good";
    let confirmed: BTreeMap<NodeId, u64> =
        serde_json::from_value(confirmed.clone()).map_err(|_| ToolError::Internal)?;
    let deletions = confirmed
        .into_iter()
        .map(|(id, version)| services.writes.purge_seen(id, version));
    let mut deletions = stream::iter(deletions).buffer_unordered(AT_ONCE);
    let (mut deleted, mut left, mut failure) = (0, 0_u64, None);
    while let Some(result) = deletions.next().await {
        match result {
            Ok(emptied) => deleted += emptied.deleted,
            Err(error) => {
                left += 1;
                if !is_no_longer_there(&error) {
                    failure = failure.or(Some(error));
                }
            }
        }
    }
    match failure {
        Some(error) if deleted == 0 => return Err(error.into()),
        Some(error) => tracing::warn!(%error, "not everything in the trash was deleted"),
        None => {}
    }
    let mut done = with_success(json!({ "deleted": deleted }), Some(DONE));
    if left > 0 {
        done["left"] = json!(left);
        done["message"] = json!(format!(
            "{deleted} of what you were asked about is deleted for good; {} stay: taken out of the trash or changed since, or not deleted by the service",
            count_items(left)
        ));
    }
    Ok(done)
}

/// Returns true for the error of what is not as it was in the trash any more.
fn is_no_longer_there(error: &ApiError) -> bool {
    matches!(
        error,
        ApiError::NotFound { .. }
            | ApiError::Gone { .. }
            | ApiError::Conflict { .. }
            | ApiError::PreconditionFailed { .. }
    )
}

async fn is_trash_empty(services: &Services) -> bool {
    let count = timeout(LOOK_TIMEOUT, count_trash(&services.reads)).await;
    count.is_ok_and(|count| count == Some(0))
}

/// Returns how much stays in the trash of teams; `None` if that is nothing.
pub(crate) async fn note_of_teams(services: &Services) -> Option<String> {
    const UNREAD: &str = "the trash of your teams stays as it is, and can't be read now";
    let total = timeout(LOOK_TIMEOUT, Box::pin(count_in_teams(services))).await;
    match total {
        Ok(Some(0)) => None,
        Ok(Some(total)) => Some(format!(
            "the trash of your teams stays as it is, with {}",
            count_items(total)
        )),
        Ok(None) | Err(_) => Some(UNREAD.to_owned()),
    }
}

/// Returns the number of items in the trash of all teams; `None` if one of them can't be asked.
async fn count_in_teams(services: &Services) -> Option<u64> {
    let teams = services.teams().await.ok()?;
    let mut total = 0;
    for team in teams {
        let api = services.reads.in_space(team.space_id);
        total += count_trash(&api).await?;
    }
    Some(total)
}

/// Returns a number of items, such as `1 item`.
pub(crate) fn count_items(count: u64) -> String {
    let items = if count == 1 { "item" } else { "items" };
    format!("{count} {items}")
}

/// Returns the number of items in the trash of a space; `None` if it can't be asked for.
async fn count_trash(api: &Api) -> Option<u64> {
    let query = [("state", "trashed"), ("page_size", "1")];
    let query = query.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let list = api.call(Method::GET, &["nodes"], &query, None).await;
    list.ok()?["totalElements"].as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::KeySource;
    use crate::test_services::{call_of, silent_services, stub_services};
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_long_for_the_trash_of_teams() {
        let services = silent_services(KeySource::Missing);
        let begin = Instant::now();
        let note = note_of_teams(&services).await.unwrap();
        assert!(note.contains("can't be read now"), "{note}");
        assert!(begin.elapsed() < Duration::from_secs(6));
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_was_asked_about_is_not_deleted() {
        let mut call = call_of(silent_services(KeySource::Missing), json!({}));
        call.has_no_question = true;
        let emptied = empty_trash(call).await.unwrap();
        assert_eq!(emptied["deleted"], 0, "{emptied}");
    }

    #[tokio::test]
    async fn only_what_was_confirmed_is_deleted() {
        const KEPT: [u8; 16] = [3; 16];
        let services = stub_services(|request| {
            let path = request.path.as_str();
            assert_ne!(path, "/api/v1/trash", "that deletes whatever is there");
            match request.method {
                Method::DELETE if path.ends_with(&NodeId::from_random_bytes(KEPT).to_string()) => {
                    (412, json!({ "error": { "message": "changed" } }))
                }
                Method::DELETE => (200, json!({ "deleted": 2 })),
                _ => (200, json!({ "content": [] })),
            }
        });
        let mut call = call_of(services, json!({}));
        call.is_confirmed = true;
        let confirmed = [[1; 16], [2; 16], KEPT].map(|id| (NodeId::from_random_bytes(id), 4));
        call.subject.note(SEEN, json!(BTreeMap::from(confirmed)));
        let emptied = empty_trash(call).await.unwrap();
        assert_eq!(emptied["deleted"], 4, "{emptied}");
        assert_eq!(emptied["left"], 1, "{emptied}");
    }
}
