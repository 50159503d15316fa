//! The versions of a file, each with the device that it came from.

use crate::call::Call;
use crate::error::ToolError;
use crate::quote::quote;
use crate::tool::{ToolFuture, get};
use cairn_wire::nodes::{Node, Revision};
use futures_util::FutureExt as _;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Returns true for the version that a call names by its id or number.
pub(crate) fn is_version(version: &Revision, wanted: &str) -> bool {
    version.id.to_string().eq_ignore_ascii_case(wanted) || version.number.to_string() == wanted
}

/// Returns the error for a version that a file doesn't have.
pub(crate) fn no_such_version(node: &Node) -> ToolError {
    ToolError::NotFound {
        what: format!("{} has no such version", quote(&node.name)),
        source_of_ids: "get_file_versions lists the versions of a file",
    }
}

pub(crate) fn get_file_versions(call: Call) -> ToolFuture {
    async move {
        let route = get("nodes/{file_uuid}/revisions");
        let mut versions = call.all_pages(&route, false).await?;
        // The ids of devices say nothing to a person, but the versions are of use without their names.
        let devices = call.services.reads.devices().await.unwrap_or_default();
        let names: HashMap<String, String> = devices
            .into_iter()
            .map(|device| (device.id.to_string(), device.name))
            .collect();
        let rows = versions["content"].as_array_mut();
        rows.into_iter()
            .flatten()
            .for_each(|row| name_device(row, &names));
        Ok(versions)
    }
    .boxed()
}

fn name_device(version: &mut Value, names: &HashMap<String, String>) {
    let Some(fields) = version.as_object_mut() else {
        return;
    };
    // The caller gave it.
    fields.remove("node_id");
    let id = fields.get("device_id").and_then(Value::as_str);
    if let Some(name) = id.and_then(|id| names.get(id)) {
        fields.insert("device".to_owned(), json!(name));
        fields.remove("device_id");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_named_where_its_name_is_known() {
        let names = HashMap::from([("d1".to_owned(), "laptop".to_owned())]);
        for (version, shown) in [
            (
                json!({ "number": 1, "node_id": "n", "device_id": "d1" }),
                json!({ "number": 1, "device": "laptop" }),
            ),
            (
                json!({ "number": 2, "device_id": "d2" }),
                json!({ "number": 2, "device_id": "d2" }),
            ),
            (json!({ "device_id": null }), json!({ "device_id": null })),
        ] {
            let mut version = version;
            name_device(&mut version, &names);
            assert_eq!(version, shown);
        }
    }
}
