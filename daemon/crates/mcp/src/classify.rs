//! `auto_classify_folder`: the service labels the files of a folder in one step, and each of them goes into the journal
//! of the session with the labels that it had.

use crate::call::Call;
use crate::error::ToolError;
use crate::node_tools::node_if_readable;
use crate::session_changes::Before;
use crate::session_labels::LabelsBefore;
use crate::session_settle::conclude;
use crate::tool::{ToolFuture, post};
use cairn_api::ApiError;
use cairn_model::Kind;
use futures_util::FutureExt as _;

pub(crate) fn auto_classify_folder(call: Call) -> ToolFuture {
    async move {
        let services = &call.services;
        let route = post("ai/classify").renamed(&[("folder_uuid", "folder_id")]);
        let folder = node_if_readable(&call, "folder_uuid").await?;
        let Some(folder) = folder.filter(|node| node.kind == Kind::Folder) else {
            // The service says what is wrong with it.
            return call.send(&route).await;
        };
        let before = match LabelsBefore::read(services, folder).await {
            Ok(before) => before,
            // Another service than Cairn's: nothing can be noted.
            Err(ToolError::Api(ApiError::Protocol(_))) => return call.send(&route).await,
            Err(error) => return Err(error),
        };
        let intent = services.intents.begin(Before::Labels(before));
        let result = call.send(&route).await;
        conclude(services, intent, &result).await;
        result
    }
    .boxed()
}
