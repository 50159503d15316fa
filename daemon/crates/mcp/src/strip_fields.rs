//! Removes from results what is of no use to an assistant: fields for clients with the keys, fields with their usual
//! value, and values that all rows of a list have in common.

use crate::tool::ResultForm;
use serde_json::{Map, Value};

/// Fields that only clients with the keys can use.
const SEALED_FIELDS: [&str; 4] = ["seal", "content_source", "key_blob", "kdf"];

/// Fields of a node that are of no use to an assistant.
const NODE_FIELDS: [&str; 7] = [
    "device_id",
    "name_format",
    "revision_id",
    "seq",
    "space_id",
    "updated_at",
    "version",
];

/// The details of a node that say something also where there are none: left out, they could be there and not be told.
const DETAILS: [&str; 2] = ["tags", "labels"];

/// Returns the fields of a result that stay in it without a value.
pub(crate) fn details(form: ResultForm, value: &Value) -> Map<String, Value> {
    let is_kept = |name: &&str| value[*name].is_array() || value[*name].is_object();
    match form {
        ResultForm::Details => DETAILS
            .iter()
            .copied()
            .filter(is_kept)
            .map(|name| (name.to_owned(), value[name].clone()))
            .collect(),
        ResultForm::Plain | ResultForm::NewestLast | ResultForm::Content => Map::new(),
    }
}

/// Removes fields that are of no use to an assistant, and from nodes those without a value.
pub(crate) fn remove_useless_fields(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(remove_useless_fields),
        Value::Object(fields) => {
            fields.retain(|name, _| !SEALED_FIELDS.contains(&name.as_str()));
            if fields.contains_key("parent_id") && fields.contains_key("kind") {
                fields.retain(|name, value| {
                    !NODE_FIELDS.contains(&name.as_str()) && !is_usual(name, value)
                });
            }
            fields.values_mut().for_each(remove_useless_fields);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns true for the usual value of a field of a node, which needs not be given.
fn is_usual(name: &str, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty() || (name == "state" && text == "active"),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// Shortens the rows of a page of nodes: a folder that all of them are in is given once, and their types, which
/// get_file_info returns, follow from category and name.
pub(crate) fn shorten_rows(page: &mut Value) {
    let Some(rows) = page.get_mut("content").and_then(Value::as_array_mut) else {
        return;
    };
    let is_node = |row: &Value| row["kind"].is_string() && row["name"].is_string();
    if rows.len() < 2 || !rows.iter().all(is_node) {
        return;
    }
    for row in rows.iter_mut().filter_map(Value::as_object_mut) {
        row.remove("mime_type");
    }
    share_field(page, "content", "parent_id");
}

/// Moves a field that has the same value in all rows of a list to the object that has the list.
pub(crate) fn share_field(object: &mut Value, list: &str, field: &str) {
    let Some(rows) = object.get_mut(list).and_then(Value::as_array_mut) else {
        return;
    };
    let Some(shared) = rows.first().and_then(|row| row.get(field)).cloned() else {
        return;
    };
    if shared.is_null() || rows.len() < 2 || rows.iter().any(|row| row.get(field) != Some(&shared))
    {
        return;
    }
    for row in rows.iter_mut().filter_map(Value::as_object_mut) {
        row.remove(field);
    }
    object[field] = shared;
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(name: &str, parent: &str) -> Value {
        json!({ "name": name, "kind": "file", "parent_id": parent, "mime_type": "text/plain" })
    }

    #[test]
    fn what_all_rows_have_in_common_is_given_once() {
        let mut page = json!({ "content": [row("a", "1"), row("b", "1")], "page": 1 });
        shorten_rows(&mut page);
        let rows = json!([{ "name": "a", "kind": "file" }, { "name": "b", "kind": "file" }]);
        assert_eq!(
            page,
            json!({ "content": rows, "page": 1, "parent_id": "1" })
        );

        let mut page = json!({ "content": [row("a", "1"), row("b", "2")] });
        shorten_rows(&mut page);
        assert_eq!(page["content"][1]["parent_id"], "2");
        assert!(page.get("parent_id").is_none());
    }

    #[test]
    fn other_lists_and_single_nodes_stay_as_they_are() {
        for page in [
            json!({ "content": [row("a", "1")] }),
            json!({ "content": [{ "parent_id": "1" }, { "parent_id": "1" }] }),
            json!({ "content": [] }),
        ] {
            let mut shortened = page.clone();
            shorten_rows(&mut shortened);
            assert_eq!(shortened, page);
        }
    }

    #[test]
    fn what_is_in_the_trash_says_so() {
        let mut node = json!({
            "kind": "file", "parent_id": null, "state": "trashed", "updated_at": "2026-03-01",
        });
        remove_useless_fields(&mut node);
        // The last change of what went there along with its folder is an older one than its deletion.
        let lean = json!({ "kind": "file", "state": "trashed" });
        assert_eq!(node, lean);
    }
}
