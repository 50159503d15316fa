//! The reasons why files can't go into a folder: it is in another space, or they are not there.

use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::node_argument;
use crate::one_space::SPACES_DIFFER;
use cairn_api::ApiError;
use serde_json::{Value, json};

/// Returns why no file of a list can go into a folder; `None` if one may. The entries name the files.
///
/// # Errors
/// Those of the service.
pub(crate) async fn why_none_can_go(call: &Call, folder: &str) -> ToolResult<Option<Vec<Value>>> {
    let services = &call.services;
    let space = match services.locate(folder).await? {
        Some(location) => location.space(),
        None => services.own_space_id().await?,
    };
    let mut reasons = Vec::new();
    for given in call.arguments.texts("file_uuids") {
        let node = match node_argument::listed_id(services, given).await {
            Ok(id) => services.node_as_it_is(id).await,
            Err(error) => Err(error),
        };
        let reason = match node {
            Ok(node) if node.space_id == space => return Ok(None),
            Ok(_) => ToolError::refused(SPACES_DIFFER),
            Err(error) if is_about_file(&error) => error,
            // A service with other records may move it all the same.
            Err(_) => return Ok(None),
        };
        reasons.push(json!({ "file_uuid": given, "error": reason.public_message() }));
    }
    Ok((!reasons.is_empty()).then_some(reasons))
}

/// Returns true for the error of a file that is not there, or can't be meant.
fn is_about_file(error: &ToolError) -> bool {
    matches!(
        error,
        ToolError::NotFound { .. }
            | ToolError::Refused(_)
            | ToolError::Argument(_)
            | ToolError::Api(ApiError::NotFound { .. } | ApiError::Forbidden { .. })
    )
}
