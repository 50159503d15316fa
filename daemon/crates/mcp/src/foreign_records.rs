//! Reads the records of services other than Cairn's own, whose files and folders may have fewer fields. The request of
//! a tool needs none of them: they are read for the journal of the session, and to say more exactly what is wrong.

use crate::error::ToolError;
use cairn_api::ApiError;
use cairn_wire::nodes::Node;
use serde_json::{Value, json};

/// Fields that a record may lack, each with a value that claims nothing. Not among them is what a change is recognized
/// and taken back by: a made-up version or state could undo the work of somebody else.
fn neutral_values() -> [(&'static str, Value); 10] {
    // Before any call: nothing counts as changed by one.
    let long_ago = || json!("1970-01-01T00:00:00Z");
    [
        ("name_format", json!("plain")),
        ("size", json!(0)),
        ("created_at", long_ago()),
        ("updated_at", long_ago()),
        ("executable", json!(false)),
        ("description", json!("")),
        ("labels", json!({})),
        ("tags", json!([])),
        ("favorite", json!(false)),
        ("seq", json!(0)),
    ]
}

/// Returns the file or folder of a record, with neutral values where it lacks fields.
///
/// # Errors
/// [`ApiError::Protocol`] for a record that can't be read even then.
pub(crate) fn read_node(mut record: Value) -> Result<Node, ToolError> {
    if let Some(fields) = record.as_object_mut() {
        for (name, value) in neutral_values() {
            let field = fields.entry(name).or_insert(Value::Null);
            if field.is_null() {
                *field = value;
            }
        }
    }
    let node = serde_json::from_value(record);
    node.map_err(|error| unusable_error(&format!("a file or folder in it can't be read: {error}")))
}

/// Returns the files and folders of a page; `None` where it has no list of them that can be read.
pub(crate) fn read_nodes(mut page: Value) -> Option<Vec<Node>> {
    let Some(Value::Array(records)) = page.get_mut("content").map(Value::take) else {
        return None;
    };
    let nodes = records.into_iter().map(|record| read_node(record).ok());
    nodes.collect()
}

/// Returns the error for a response that lacks what a tool needs.
pub(crate) fn unusable_error(why: &str) -> ToolError {
    ApiError::Protocol(why.to_owned()).into()
}

#[cfg(test)]
mod tests;
