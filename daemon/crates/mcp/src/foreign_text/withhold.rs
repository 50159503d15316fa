//! The lockdown: results without the texts that other people wrote. Ids, sizes, times, kinds and states are left, with
//! which files can be found, moved and deleted.

use super::fields::{is_container, is_field_name, is_own_text};
use serde_json::{Map, Value, json};

/// Stands in place of a text.
pub(super) const MARK: &str = "(withheld)";

/// The fields with advice of this program, which only a whole result has.
const OWN_ADVICE: [&str; 2] = ["hint", "note"];

/// Replaces all texts that somebody may have chosen; returns true if there were any.
pub(super) fn withhold(value: &mut Value) -> bool {
    let Value::Object(fields) = value else {
        return in_list_or_text("", value);
    };
    let mut kept = Map::new();
    for name in OWN_ADVICE {
        kept.extend(fields.remove_entry(name));
    }
    let mut found = in_object(fields);
    // That the call succeeded says as much, and the message may name what it was about.
    if fields.get("success") == Some(&json!(true)) {
        fields.remove("message");
    }
    for (name, mut advice) in kept {
        found |= !advice.is_string() && in_list_or_text(&name, &mut advice);
        fields.insert(name, advice);
    }
    found
}

/// Returns true if there is a text that somebody may have chosen.
pub(super) fn has_foreign_text(value: &Value) -> bool {
    withhold(&mut value.clone())
}

fn in_object(fields: &mut Map<String, Value>) -> bool {
    let before = fields.len();
    fields.retain(|name, _| is_field_name(name));
    let mut found = fields.len() < before;
    for (name, value) in fields.iter_mut() {
        let is_open = is_container(name) || !has_names(value);
        if is_open {
            found |= in_list_or_text(name, value);
        } else {
            *value = json!(MARK);
            found = true;
        }
    }
    found
}

/// Returns true for an object with fields, or a list with one.
fn has_names(value: &Value) -> bool {
    match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => items.iter().any(has_names),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn in_list_or_text(field: &str, value: &mut Value) -> bool {
    match value {
        Value::String(text) if text.is_empty() || is_own_text(field, text) => false,
        Value::String(text) => {
            MARK.clone_into(text);
            true
        }
        Value::Array(items) => {
            let mut found = false;
            for item in items.iter_mut() {
                found |= in_list_or_text(field, item);
            }
            // A list of marks says no more than one.
            if items.len() > 1 && items.iter().all(|item| item == MARK) {
                *value = json!(MARK);
            }
            found
        }
        Value::Object(fields) => in_object(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "123e4567-e89b-42d3-a456-426614174000";

    fn without_texts(mut value: Value) -> Value {
        withhold(&mut value);
        value
    }

    #[test]
    fn ids_sizes_times_and_kinds_are_left() {
        let node = json!({
            "id": ID, "parent_id": null, "kind": "file", "name": "call me", "path": "/call me",
            "size": 5, "category": "document", "mime_type": "text/call-me", "favorite": true,
            "created_at": "2026-03-01T12:00:00.500Z", "description": "do it", "tags": ["a", "b"],
            "labels": { "do_it": "now" },
        });
        let left = json!({
            "id": ID, "parent_id": null, "kind": "file", "name": MARK, "path": MARK,
            "size": 5, "category": "document", "mime_type": MARK, "favorite": true,
            "created_at": "2026-03-01T12:00:00.500Z", "description": MARK, "tags": MARK,
            "labels": MARK,
        });
        assert_eq!(without_texts(node.clone()), left);
        let page = json!({ "content": [node], "page": 1, "totalElements": 1 });
        let shown = json!({ "content": [left], "page": 1, "totalElements": 1 });
        assert_eq!(without_texts(page), shown);
    }

    #[test]
    fn names_of_fields_are_no_way_around_it() {
        let hostile = json!({
            "content": [{ "id": ID, "call me now": 1, "unknown": { "delete_all": true } }],
            "delete all": 2,
        });
        let left = json!({ "content": [{ "id": ID, "unknown": MARK }] });
        assert_eq!(without_texts(hostile), left);
    }

    #[test]
    fn advice_of_this_program_stays_where_only_it_writes() {
        let value = json!({
            "running": false, "hint": "run it", "success": true, "message": "`x` is moved",
            "content": [{ "hint": "call me", "message": "call me" }],
        });
        let left = json!({
            "running": false, "hint": "run it", "success": true,
            "content": [{ "hint": MARK, "message": MARK }],
        });
        assert_eq!(without_texts(value), left);
    }

    #[test]
    fn a_result_without_texts_of_others_stays_as_it_is() {
        for value in [
            json!({ "content": [], "page": 1 }),
            json!({ "id": ID, "size": 1, "description": "", "labels": {} }),
            json!({ "moved": 2, "failed": [], "folder_uuid": ID }),
        ] {
            assert!(!has_foreign_text(&value), "{value}");
            assert_eq!(without_texts(value.clone()), value);
        }
        assert!(has_foreign_text(&json!({ "id": ID, "name": "x" })));
    }
    #[test]
    fn what_only_the_service_and_the_daemon_choose_is_left() {
        for value in [
            json!({ "earlier_sessions": [
                { "session": ID, "ended": "2026-03-01T12:00:00.500Z", "changes": 3 },
            ] }),
            json!({ "decisions": { "deletions": 1, "overwrites": 0, "unverified": 0, "keys": 2 } }),
            json!({ "progress": { "files_done": 1, "percent": 3 }, "steps": { "up": 1 } }),
            json!({ "plan": "standard", "next_plan": "premium", "tier": { "plan": "standard" } }),
            json!({ "packs": [{ "id": "starter", "tokens": 5, "price": "4.99" }] }),
            json!({ "accesses_by_day": { "2026-03-01": 4 }, "unique_visitors_by_ip": 1 }),
            json!({ "author": { "id": ID } }),
        ] {
            assert_eq!(without_texts(value.clone()), value);
        }
        let day = json!({ "accesses_by_day": { "delete it": 4 }, "author": { "display_name": "call me" } });
        let left = json!({ "accesses_by_day": {}, "author": { "display_name": MARK } });
        assert_eq!(without_texts(day), left);
    }
}
