//! Records what a call changes of the labels of all files in a folder, for the undo of a session.

use crate::error::ToolResult;
use crate::services::Services;
use crate::session_call_time::CallTime;
use crate::session_own_change::is_by_this_device;
use cairn_model::NodeId;
use cairn_wire::nodes::Node;
use std::collections::HashMap;

/// A folder with its files before a call labels them.
pub(crate) struct LabelsBefore {
    folder: Box<Node>,
    files: HashMap<NodeId, Node>,
}

impl LabelsBefore {
    /// Reads the files of a folder that a call is about to label.
    ///
    /// # Errors
    /// Those of the service.
    pub(crate) async fn read(services: &Services, folder: Node) -> ToolResult<Self> {
        let files = services.children_of(&folder).await?;
        Ok(Self {
            folder: Box::new(folder),
            files: files.into_iter().map(|file| (file.id, file)).collect(),
        })
    }

    /// Notes the labels that this device has changed since, and returns whether there are any. `time` is that of a call
    /// without a result, which has changed nothing at another time.
    ///
    /// # Errors
    /// Those of the service; nothing is noted then.
    pub(crate) async fn note_changes(
        &self,
        services: &Services,
        time: Option<CallTime>,
    ) -> ToolResult<bool> {
        let now = services.children_of(&self.folder).await?;
        let mut is_changed = false;
        let is_own = |file: &&Node| {
            is_by_this_device(services, file)
                && time.is_none_or(|time| time.may_include(file.updated_at))
        };
        for file in now.iter().filter(is_own) {
            let before = self.files.get(&file.id);
            if let Some(before) = before.filter(|before| before.labels != file.labels) {
                // A repeated call may have noted the same labels.
                if !services.journal.has_noted(file) {
                    services.journal.note_details(before, file);
                }
                is_changed = true;
            }
        }
        Ok(is_changed)
    }
}
