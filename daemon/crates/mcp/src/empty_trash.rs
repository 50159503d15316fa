//! Emptying the trash of the account's own space. Those of its teams stay: what is in them belongs to others too.

use crate::call::{Call, with_success};
use crate::services::Services;
use crate::tool::{ToolFuture, delete};
use cairn_api::{Api, Method};
use futures_util::FutureExt as _;
use futures_util::future::join;
use serde_json::json;
use std::time::Duration;
use tokio::time::timeout;

/// The time limit of a look that the call does without where it takes longer.
pub(crate) const LOOK_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) fn empty_trash(call: Call) -> ToolFuture {
    const DONE: &str = "the trash of your own space is empty";
    const DONE_BEFORE: &str = "the trash of your own space was empty already: nothing was deleted";
    async move {
        let services = &call.services;
        // Nobody is asked about an empty trash, so it is not emptied either, whatever has come since.
        let is_empty = call.has_no_question || is_trash_empty(services).await;
        let emptying = async {
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
    use crate::test_services::{call_of, silent_services};
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
}
