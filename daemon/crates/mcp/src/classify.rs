//! `auto_classify_folder`: the service labels the files of a folder in one step, and each of them goes into the journal
//! of the session with the labels that it had.

use crate::call::Call;
use crate::error::ToolResult;
use crate::services::Services;
use crate::tool::{ToolFuture, post};
use cairn_api::ApiError;
use cairn_model::NodeId;
use cairn_wire::nodes::Node;
use futures_util::FutureExt as _;
use std::collections::HashMap;

pub(crate) fn auto_classify_folder(call: Call) -> ToolFuture {
    async move {
        let services = &call.services;
        let folder = call.arguments.required_text("folder_uuid")?;
        // Without them the call itself says what is wrong.
        let before = children(services, folder).await.unwrap_or_default();
        let route = post("ai/classify").renamed(&[("folder_uuid", "folder_id")]);
        let result = call.send(&route).await;
        // It may have labelled them all the same.
        if let Ok(after) = children(services, folder).await {
            note_labels(services, before, &after);
        }
        result
    }
    .boxed()
}

fn note_labels(services: &Services, before: Vec<Node>, after: &[Node]) {
    let mut before: HashMap<NodeId, Node> =
        before.into_iter().map(|node| (node.id, node)).collect();
    for now in after {
        let labelled = before
            .remove(&now.id)
            .filter(|node| node.labels != now.labels);
        if let Some(node) = labelled {
            services.journal.note_details(&node, now);
        }
    }
}

async fn children(services: &Services, folder: &str) -> ToolResult<Vec<Node>> {
    let id: Result<NodeId, _> = folder.parse();
    let Ok(id) = id else {
        return Ok(Vec::new());
    };
    match services.reads.children(Some(id), None).await {
        Ok(children) if !children.is_empty() => return Ok(children),
        Ok(_) | Err(ApiError::NotFound { .. } | ApiError::Forbidden { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    match services.locate(folder).await? {
        Some(place) => {
            let api = services.reads.in_space(place.space());
            Ok(api.children(Some(id), None).await?)
        }
        None => Ok(Vec::new()),
    }
}
