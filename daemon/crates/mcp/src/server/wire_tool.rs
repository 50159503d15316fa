//! Tools in the form in which `tools/list` sends them. Each byte of it is in an assistant's context from the
//! first message on, so that what a client assumes anyway is left out.

use crate::schema;
use crate::tool::Tool;
use rmcp::model::{Tool as WireTool, ToolAnnotations};
use std::sync::Arc;

/// Returns the declaration of a tool for clients.
pub(super) fn wire_tool(tool: &Tool) -> WireTool {
    WireTool::new(tool.name, tool.description, Arc::new(schema::input(tool)))
        .with_annotations(annotations(tool))
}

/// Returns the hints that differ from the protocol's defaults. Every tool that writes says
/// whether it destroys something: a client that assumes too little would not ask the person.
fn annotations(tool: &Tool) -> ToolAnnotations {
    let reads = tool.effect.is_read_only();
    ToolAnnotations::from_raw(
        (!repeats_name(tool)).then(|| tool.title.to_owned()),
        reads.then_some(true),
        // Of a tool that only reads the protocol gives these two no meaning.
        (!reads).then(|| tool.effect.is_destructive()),
        (!reads && tool.effect.is_idempotent()).then_some(true),
        (!tool.open_world).then_some(false),
    )
}

/// Returns true if the title says the same as the name, which clients show where there is no title.
fn repeats_name(tool: &Tool) -> bool {
    let title = tool.title.to_lowercase().replace([' ', '-'], "_");
    title == tool.name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolset;
    use serde_json::{Value, json};

    fn annotations_of(name: &str) -> Value {
        let tools = toolset::ALL.iter().flat_map(|set| set.tools);
        let found = tools.into_iter().find(|tool| tool.name == name);
        json!(annotations(found.expect("it is in the catalogue")))
    }

    #[test]
    fn only_what_a_client_does_not_assume_is_sent() {
        for (name, wanted) in [
            (
                "list_files",
                json!({ "readOnlyHint": true, "openWorldHint": false }),
            ),
            (
                "delete_file",
                json!({ "destructiveHint": true, "idempotentHint": true, "openWorldHint": false }),
            ),
            (
                "create_folder",
                json!({ "destructiveHint": false, "openWorldHint": false }),
            ),
            ("send_tip", json!({ "destructiveHint": true })),
            ("create_share_link", json!({ "destructiveHint": false })),
            (
                "sync_pause",
                json!({
                    "title": "Pause sync", "destructiveHint": false, "idempotentHint": true,
                    "openWorldHint": false,
                }),
            ),
        ] {
            assert_eq!(annotations_of(name), wanted, "{name}");
        }
    }
}
