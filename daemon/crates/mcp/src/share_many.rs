//! Links to many files in one call: each is made, or fails, alone.

use crate::arguments::is_uuid;
use crate::call::Call;
use crate::error::ToolResult;
use crate::node_argument;
use crate::outcome;
use crate::session_changes::Before;
use crate::session_lookup::NewLinks;
use crate::session_settle::conclude;
use crate::share_tools::{link_json, without_keys};
use crate::time_limit::TimeLimit;
use crate::tool::{ToolFuture, post};
use cairn_space::UnverifiedNodes;
use cairn_wire::shares::CreateShare;
use futures_util::FutureExt as _;
use serde_json::{Value, json};
use std::time::Duration;

const NAME: &str = "bulk_create_share_links";
const FILES: &str = "file_uuids";

/// The time limit of one link: the results of the others are told, whatever becomes of it.
const LINK_TIMEOUT: Duration = Duration::from_secs(45);

pub(crate) fn bulk(mut call: Call) -> ToolFuture {
    async move {
        let given = call.arguments.texts(FILES).into_iter();
        let given: Vec<_> = given.map(str::to_owned).collect();
        let opening = Box::pin(call.services.space_if_any());
        let opened = TimeLimit::start_for(LINK_TIMEOUT).prepare(opening).await?;
        if opened.is_some() {
            let mut results = Vec::new();
            for file in &given {
                results.push(make_one(&call, file).await);
            }
            return Ok(with_counts(json!({ "results": results })));
        }
        let (ids, paths): (Vec<_>, Vec<_>) = given
            .into_iter()
            .enumerate()
            .partition(|(_, file)| is_uuid(file));
        let ids: Vec<_> = ids.into_iter().map(|(_, id)| id).collect();
        let mut response = make_all(&mut call, ids).await?;
        for (at, path) in paths {
            let failed = make_one(&call, &path).await;
            if let Some(results) = response["results"].as_array_mut() {
                results.insert(at.min(results.len()), failed);
            }
        }
        Ok(with_counts(response))
    }
    .boxed()
}

/// Makes a link to one file; returns it, or why there is none.
async fn make_one(call: &Call, file: &str) -> Value {
    match make_noted(call, file).await {
        Ok(share) => json!({ "file_id": file, "share": share }),
        Err(error) => json!({ "file_id": file, "error": error.public_message() }),
    }
}

/// Makes a link to one file and notes it by itself: one whose response is lost may be there, while the others have
/// failed.
async fn make_noted(call: &Call, file: &str) -> ToolResult<Value> {
    let services = &call.services;
    let limit = TimeLimit::start_for(LINK_TIMEOUT);
    let reading = NewLinks::read(services, vec![file.to_lowercase()]);
    let before = limit.prepare(Box::pin(reading)).await?;
    let intent = services.intents.begin(Before::NewLinks(before));
    let making = Box::pin(link_to(call, file));
    let made = limit.run((NAME, false), making).await;
    let made = made.map_err(|error| outcome::of_tool(NAME, true, error));
    // Without time for a look the link stays among those to be looked at later.
    limit
        .complete(Box::pin(conclude(services, intent, &made)))
        .await;
    made
}

async fn link_to(call: &Call, file: &str) -> ToolResult<Value> {
    let id = node_argument::listed_id(&call.services, file).await?;
    let (space, node) = call.services.node_with_keys(id).await?;
    space.check(&node)?;
    let link = space
        .create_share(&node, CreateShare::default(), None, UnverifiedNodes::Refuse)
        .await?;
    Ok(link_json(link))
}

/// Makes links to all files in one request, for an account without keys.
async fn make_all(call: &mut Call, ids: Vec<String>) -> ToolResult<Value> {
    if ids.is_empty() {
        return Ok(json!({ "results": [] }));
    }
    if let Some(files) = call.arguments.get_mut(FILES) {
        *files = json!(ids);
    }
    let services = &call.services;
    let limit = TimeLimit::start_for(LINK_TIMEOUT);
    let reading = NewLinks::read(services, ids);
    let before = limit.prepare(Box::pin(reading)).await?;
    let intent = services.intents.begin(Before::NewLinks(before));
    let route = post("shares/bulk").renamed(&[(FILES, "file_ids")]);
    let making = Box::pin(without_keys(call, &route));
    let made = limit.run((NAME, false), making).await;
    limit
        .complete(Box::pin(conclude(services, intent, &made)))
        .await;
    made
}

/// Adds to the results how many links were made.
fn with_counts(mut response: Value) -> Value {
    let results = response["results"].as_array();
    let (mut total, mut succeeded) = (0, 0);
    for result in results.into_iter().flatten() {
        total += 1;
        succeeded += usize::from(result["share"].is_object());
    }
    response["total"] = json!(total);
    response["succeeded"] = json!(succeeded);
    response["failed"] = json!(total - succeeded);
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::KeySource;
    use crate::test_services::{call_of, silent_services};
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn a_link_that_is_not_answered_has_a_result_of_its_own() {
        let call = call_of(silent_services(KeySource::Missing), json!({}));
        let begin = Instant::now();
        let id = "00000000-0000-4000-8000-000000000000";
        let made = Box::pin(make_one(&call, id)).await;
        assert!(begin.elapsed() < LINK_TIMEOUT + Duration::from_secs(1));
        let message = made["error"].as_str().unwrap();
        assert!(message.contains("within 45 s"), "{message}");
        // Nothing was sent yet.
        assert!(!message.contains("may have been done"), "{message}");
    }
}
