//! Emptying the trash of the account's own space. Those of its teams stay: what is in them belongs to others too.

use crate::call::{Call, with_success};
use crate::services::Services;
use crate::tool::{ToolFuture, delete};
use cairn_api::{Api, Method};
use futures_util::FutureExt as _;
use serde_json::json;

pub(crate) fn empty_trash(call: Call) -> ToolFuture {
    const DONE: &str = "the trash of your own space is empty";
    const DONE_BEFORE: &str = "the trash of your own space was empty already: nothing was deleted";
    async move {
        let services = &call.services;
        // Nobody is asked about an empty trash, so it is not emptied either.
        let mut emptied = if count_trash(&services.reads).await == Some(0) {
            with_success(json!({ "deleted": 0 }), Some(DONE_BEFORE))
        } else {
            call.send(&delete("trash").success_message(DONE)).await?
        };
        if let Some(note) = note_of_teams(services).await {
            emptied["note"] = json!(note);
        }
        Ok(emptied)
    }
    .boxed()
}

/// Returns how much stays in the trash of teams; `None` if that is nothing.
pub(crate) async fn note_of_teams(services: &Services) -> Option<String> {
    const UNREAD: &str = "the trash of your teams stays as it is, and can't be read now";
    let Ok(teams) = services.reads.teams().await else {
        return Some(UNREAD.to_owned());
    };
    let mut total = 0;
    for team in teams {
        let api = services.reads.in_space(team.space_id);
        match count_trash(&api).await {
            Some(count) => total += count,
            None => return Some(UNREAD.to_owned()),
        }
    }
    (total > 0).then(|| {
        format!(
            "the trash of your teams stays as it is, with {}",
            count_items(total)
        )
    })
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
