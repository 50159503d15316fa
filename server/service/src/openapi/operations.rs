//! The operations of a document.

use serde_json::Value;

/// Returns all operations of all paths.
pub(super) fn operations(document: &mut Value) -> Vec<&mut Value> {
    document["paths"]
        .as_object_mut()
        .into_iter()
        .flat_map(|paths| paths.values_mut())
        .filter_map(Value::as_object_mut)
        .flat_map(|item| item.iter_mut())
        .filter(|(method, _)| {
            ["get", "put", "post", "delete", "patch", "head"].contains(&method.as_str())
        })
        .map(|(_, operation)| operation)
        .collect()
}
