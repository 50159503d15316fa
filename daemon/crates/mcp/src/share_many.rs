//! Links to many files in one call: each is made, or fails, alone.

use crate::arguments::is_uuid;
use crate::call::Call;
use crate::error::ToolResult;
use crate::node_argument;
use crate::outcome;
use crate::session_changes::{self, Before};
use crate::session_lookup::NewLinks;
use crate::share_tools::{link_json, without_keys};
use crate::tool::{ToolFuture, post};
use cairn_space::UnverifiedNodes;
use cairn_wire::shares::CreateShare;
use futures_util::FutureExt as _;
use serde_json::{Value, json};

const FILES: &str = "file_uuids";

pub(crate) fn bulk(mut call: Call) -> ToolFuture {
    async move {
        let given = call.arguments.texts(FILES).into_iter();
        let given: Vec<_> = given.map(str::to_owned).collect();
        if call.services.space_if_any().await?.is_some() {
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
    let services = &call.services;
    // Each link is noted by itself: one whose response is lost may be there, while the others have failed.
    let before = NewLinks::read(services, vec![file.to_lowercase()]).await;
    let intent = services.intents.begin(Before::NewLinks(before));
    let made = link_to(call, file).await;
    let made = made.map_err(|error| outcome::of_tool("bulk_create_share_links", true, error));
    session_changes::conclude(services, intent, &made).await;
    match made {
        Ok(share) => json!({ "file_id": file, "share": share }),
        Err(error) => json!({ "file_id": file, "error": error.public_message() }),
    }
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
    let before = NewLinks::read(services, ids).await;
    let intent = services.intents.begin(Before::NewLinks(before));
    let route = post("shares/bulk").renamed(&[(FILES, "file_ids")]);
    let made = without_keys(call, &route).await;
    session_changes::conclude(services, intent, &made).await;
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
