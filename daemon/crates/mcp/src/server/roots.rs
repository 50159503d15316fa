//! The folders that the client names as its roots (MCP). Newer clients are asked by a reply to the call, which they
//! repeat with the list; older ones by a request in the middle of it.

use crate::local_paths;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, InputRequest, InputRequests, InputRequiredResult, ProtocolVersion,
};
use rmcp::service::RequestContext;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

/// The time limit for a client to list its roots.
const TIMEOUT: Duration = Duration::from_secs(5);

const KEY: &str = "roots";

/// The reply of a client about its roots.
pub(super) enum ClientRoots {
    Listed(Vec<PathBuf>),
    /// The client has to be asked with the reply to the call.
    Ask(InputRequiredResult),
}

/// Asks the client for its roots, if it has some.
#[expect(
    deprecated,
    reason = "a later revision has no roots any more, but the clients of today do"
)]
pub(super) async fn of_client(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> ClientRoots {
    let declared = context
        .client_capabilities()
        .is_some_and(|capabilities| capabilities.roots.is_some());
    if !declared {
        return ClientRoots::Listed(Vec::new());
    }
    let stateless = context
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    if stateless {
        return match answered_roots(request) {
            Some(list) => ClientRoots::Listed(folders(&list["roots"])),
            None => {
                let questions = InputRequests::from([(KEY.to_owned(), question())]);
                ClientRoots::Ask(InputRequiredResult::new(Some(questions), None))
            }
        };
    }
    let roots = match tokio::time::timeout(TIMEOUT, context.peer.list_roots()).await {
        Ok(Ok(list)) => folders(&serde_json::json!(list.roots)),
        Ok(Err(error)) => {
            tracing::warn!(%error, "the client did not list its roots");
            Vec::new()
        }
        Err(_) => {
            tracing::warn!("the client did not list its roots in time");
            Vec::new()
        }
    };
    ClientRoots::Listed(roots)
}

/// Adds the question for the roots to another one, if the call came with a list: each reply has only what was
/// asked for last.
pub(super) fn keep_asking(request: &CallToolRequestParams, ask: &mut InputRequiredResult) {
    if answered_roots(request).is_some()
        && let Some(questions) = &mut ask.input_requests
    {
        questions.insert(KEY.to_owned(), question());
    }
}

fn answered_roots(request: &CallToolRequestParams) -> Option<&Value> {
    request.input_responses.as_ref()?.get(KEY)
}

#[expect(
    deprecated,
    reason = "a later revision has no roots any more, but the clients of today do"
)]
fn question() -> InputRequest {
    InputRequest::ListRoots(rmcp::model::ListRootsRequest::default())
}

fn folders(roots: &Value) -> Vec<PathBuf> {
    let uris = roots.as_array().into_iter().flatten();
    uris.filter_map(|root| root["uri"].as_str())
        .filter_map(local_paths::from_file_uri)
        .collect()
}
