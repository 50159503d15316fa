//! Shortens what people wrote about the files and folders of a list, so that one of them costs little: the begin of a
//! description, and the first labels and tags. The tool that shows one file has all of it.

use crate::token_weight::{TOKEN, weigh_fields};
use serde_json::{Map, Value, json};

/// The greatest weight of a node in a list.
const MAX_NODE: usize = 150 * TOKEN;

/// The parts of a node's texts that are kept, from much to nothing: characters of the description, labels and tags.
const KEPT: [(usize, usize); 5] = [(120, 3), (60, 2), (30, 1), (15, 0), (0, 0)];

/// The longest label or tag, in characters.
const MAX_LABEL: usize = 30;

const HINT: &str = "long descriptions, labels and tags are cut: get_file_info has them whole";

/// Shortens the nodes in all lists of a value; a node that is the value itself stays whole.
pub(crate) fn shorten_nodes(value: &mut Value) {
    let was_cut = shorten_below(value, false);
    if was_cut && let Some(fields) = value.as_object_mut() {
        fields.insert("details".to_owned(), json!(HINT));
    }
}

/// Shortens the nodes in a value, which may be in a list. True if anything was cut.
fn shorten_below(value: &mut Value, is_in_list: bool) -> bool {
    match value {
        Value::Array(items) => {
            let mut was_cut = false;
            for item in items {
                was_cut |= shorten_below(item, true);
            }
            was_cut
        }
        Value::Object(fields) => {
            if is_in_list && is_node(fields) {
                return shorten_node(fields);
            }
            let mut was_cut = false;
            for field in fields.values_mut() {
                was_cut |= shorten_below(field, is_in_list);
            }
            was_cut
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn is_node(fields: &Map<String, Value>) -> bool {
    let is_text = |name: &str| fields.get(name).is_some_and(Value::is_string);
    is_text("id") && is_text("kind")
}

/// Cuts the texts of a node until it is short. True if anything was cut.
fn shorten_node(fields: &mut Map<String, Value>) -> bool {
    let named = |name: &str| fields.get(name).cloned().unwrap_or_default();
    let whole = ["description", "labels", "tags"].map(|name| (name, named(name)));
    if whole.iter().all(|(_, text)| text.is_null()) {
        return false;
    }
    let mut was_cut = false;
    for (characters, count) in KEPT {
        was_cut = false;
        for (name, text) in &whole {
            let (kept, left_out) = keep(text, characters, count);
            was_cut |= kept != *text;
            let left_out_name = format!("{name}_left_out");
            fields.remove(&left_out_name);
            if left_out > 0 {
                fields.insert(left_out_name, json!(left_out));
            }
            if kept.is_null() {
                fields.remove(*name);
            } else {
                fields.insert((*name).to_owned(), kept);
            }
        }
        if weigh_fields(fields) <= MAX_NODE {
            break;
        }
    }
    was_cut
}

/// Returns what is kept of a description, of labels or of tags, and how many labels or tags are left out; nothing of
/// those of which none is kept.
fn keep(whole: &Value, characters: usize, count: usize) -> (Value, usize) {
    match whole {
        Value::String(text) => (json!(cut(text, characters)), 0),
        Value::Array(tags) => {
            let kept: Vec<_> = tags.iter().take(count).map(cut_label).collect();
            let left_out = tags.len() - kept.len();
            let kept = if kept.is_empty() {
                Value::Null
            } else {
                Value::Array(kept)
            };
            (kept, left_out)
        }
        Value::Object(labels) => {
            let kept = labels.iter().take(count);
            let kept: Map<_, _> = kept
                .map(|(name, label)| (cut(name, MAX_LABEL), cut_label(label)))
                .collect();
            let left_out = labels.len() - kept.len();
            let kept = if kept.is_empty() {
                Value::Null
            } else {
                Value::Object(kept)
            };
            (kept, left_out)
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => (other.clone(), 0),
    }
}

fn cut_label(label: &Value) -> Value {
    match label {
        Value::String(text) => json!(cut(text, MAX_LABEL)),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => other.clone(),
    }
}

/// Returns a text of at most so many characters and an ellipsis.
fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}\u{2026}", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token_weight::weigh;

    fn node(description: &str, count: usize) -> Value {
        let id = "123e4567-e89b-42d3-a456-426614174000";
        let label = |n: usize| (format!("project {n}"), json!(format!("value of {n}")));
        let labels: Map<String, Value> = (0..count).map(label).collect();
        let tags: Vec<_> = (0..count).map(|n| format!("tag number {n}")).collect();
        json!({
            "id": id, "kind": "file", "name": "report.txt", "path": "/docs/report.txt",
            "size": 1_234_567, "category": "document", "created_at": "2026-11-22T03:05:53.123Z",
            "description": description, "labels": labels, "tags": tags,
        })
    }

    #[test]
    fn a_node_in_a_list_is_short_whatever_was_written_about_it() {
        for text in ["words of a text ", "x7Q", "\u{9f98}\u{9750}", "\u{1f9ff}"] {
            let long = node(&text.repeat(900), 20);
            let mut page = json!({ "content": [long.clone(), long] });
            shorten_nodes(&mut page);
            let shown = &page["content"][1];
            assert!(weigh(shown) <= MAX_NODE, "{shown}");
            let description = shown["description"].as_str().unwrap();
            assert!(description.ends_with('\u{2026}'), "{shown}");
            let tags = shown["tags"].as_array().map_or(0, Vec::len);
            assert_eq!(shown["tags_left_out"], 20 - tags, "{shown}");
            assert!(page["details"].as_str().unwrap().contains("get_file_info"));
        }
    }

    #[test]
    fn short_texts_and_single_nodes_stay_as_they_are() {
        let long = node(&"words ".repeat(900), 20);
        let short = node("a plan", 1);
        for value in [
            long.clone(),
            json!({ "node": long }),
            json!({ "content": [short] }),
            json!({ "content": [{ "id": "1", "text": "t".repeat(9_000) }] }),
        ] {
            let mut shortened = value.clone();
            shorten_nodes(&mut shortened);
            assert_eq!(shortened, value);
        }
    }
}
