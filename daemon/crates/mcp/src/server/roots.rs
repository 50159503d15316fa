//! The folders that the client names as its roots.

use crate::local_paths;
use rmcp::RoleServer;
use rmcp::model::ProtocolVersion;
use rmcp::service::RequestContext;
use std::path::PathBuf;
use std::time::Duration;

/// The time limit for a client to list its roots.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Asks the client for its roots. Only the older protocol lets a server ask in the middle of a call.
#[expect(
    deprecated,
    reason = "the newest revision has no roots any more, but the clients of today do"
)]
pub(super) async fn of_client(context: &RequestContext<RoleServer>) -> Vec<PathBuf> {
    let declared = context
        .client_capabilities()
        .is_some_and(|capabilities| capabilities.roots.is_some());
    let stateless = context
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    if !declared || stateless {
        return Vec::new();
    }
    match tokio::time::timeout(TIMEOUT, context.peer.list_roots()).await {
        Ok(Ok(list)) => list
            .roots
            .iter()
            .filter_map(|root| local_paths::from_file_uri(&root.uri))
            .collect(),
        Ok(Err(error)) => {
            tracing::warn!(%error, "the client did not list its roots");
            Vec::new()
        }
        Err(_) => {
            tracing::warn!("the client did not list its roots in time");
            Vec::new()
        }
    }
}
