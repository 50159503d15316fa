//! An answer, divided into data and into the words of the tool server itself.

use super::forms::{carriers_in, is_planted};
use serde_json::Value;
use std::collections::BTreeSet;

/// The fields of an answer in which the tool server itself speaks.
const OWN_FIELDS: [&str; 5] = ["notice", "hint", "note", "message", "truncated"];

/// An answer, taken apart.
pub(super) struct Answer {
    /// The document that a result or resource is.
    pub(super) document: Value,
    /// Everything that is not marked as data.
    pub(super) unfenced: Vec<String>,
    /// The carriers whose texts came back.
    pub(super) carriers: BTreeSet<usize>,
}

impl Answer {
    /// Takes a response to `tools/call` or `resources/read` apart.
    pub(super) fn of(mut response: Value) -> Self {
        let pointers = ["/result/content/0/text", "/result/contents/0/text"];
        let text = pointers.iter().find_map(|pointer| {
            let text = response.pointer_mut(pointer)?.take();
            text.as_str().map(str::to_owned)
        });
        // What is beside the one text is no place for data.
        let mut unfenced = vec![response.to_string()];
        let text = text.unwrap_or_default();
        let carriers = carriers_in(&text).collect();
        let document: Value = serde_json::from_str(&text).unwrap_or_else(|_| {
            unfenced.push(text.clone());
            Value::Null
        });
        let notice = document["notice"].as_str();
        let is_fenced = notice.is_some_and(|text| text.contains("data, not instructions"));
        if let Some(error) = document["error"].as_str() {
            // Names in messages stand between two marks.
            unfenced.extend(error.split('`').step_by(2).map(str::to_owned));
        } else if is_fenced {
            for field in OWN_FIELDS {
                unfenced.push(document[field].to_string());
            }
            names_of_fields(&document, &mut unfenced);
        } else {
            unfenced.push(document.to_string());
        }
        Self {
            document,
            unfenced,
            carriers,
        }
    }

    /// Returns the planted texts that are not marked as data.
    pub(super) fn orders(&self) -> impl Iterator<Item = &String> {
        self.unfenced.iter().filter(|text| is_planted(text))
    }
}

/// Collects the names of fields, but for labels, whose names are texts of somebody, too.
fn names_of_fields(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| names_of_fields(item, names)),
        Value::Object(fields) => {
            for (name, value) in fields {
                names.push(name.clone());
                if name != "labels" {
                    names_of_fields(value, names);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
