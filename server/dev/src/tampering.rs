//! Falsified JSON responses that a fault rule asks for (`lie`): lists turned round, past states of nodes, contents
//! of other files. A hostile server could send them; clients are tested that must not believe them.

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The way in which a response is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tampering {
    /// Every list runs backwards.
    Reorder,
    /// From the third version on that the rule sees of a node, that looks as it did in the first; only
    /// its version and its place in the feed are the present ones.
    Replay,
    /// Every file is a copy of another file that the rule has seen.
    SwapSources,
}

/// Holds what a rule has seen of the nodes, by id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory(Arc<Mutex<BTreeMap<String, Seen>>>);

#[derive(Debug)]
struct Seen {
    first: Map<String, Value>,
    versions: BTreeSet<u64>,
}

impl Seen {
    fn new(node: &Map<String, Value>) -> Self {
        Self {
            first: node.clone(),
            versions: BTreeSet::new(),
        }
    }
}

/// Two rules are the same whatever they have seen.
impl PartialEq for Memory {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Tampering {
    /// Changes a response.
    pub(crate) fn apply(self, body: &mut Value, memory: &Memory) {
        let mut seen = memory.0.lock();
        match self {
            Self::Reorder => reorder(body),
            Self::Replay => {
                each_node(body, &mut |id, node| {
                    let seen = seen.entry(id).or_insert_with(|| Seen::new(node));
                    seen.versions
                        .extend(node.get("version").and_then(Value::as_u64));
                    if seen.versions.len() < 3 {
                        return;
                    }
                    let mut past = seen.first.clone();
                    for present in ["version", "seq"] {
                        if let Some(value) = node.get(present) {
                            past.insert(present.to_owned(), value.clone());
                        }
                    }
                    *node = past;
                });
            }
            Self::SwapSources => {
                each_node(body, &mut |id, node| {
                    if node.get("revision_id").is_some_and(Value::is_string) {
                        seen.entry(id).or_insert_with(|| Seen::new(node));
                    }
                });
                each_node(body, &mut |id, node| {
                    let other = seen.iter().find(|(known, _)| **known != id);
                    if let Some((of, other)) = other
                        && node.get("revision_id").is_some_and(Value::is_string)
                    {
                        let revision = other.first["revision_id"].clone();
                        let source = json!({"node_id": of, "revision_id": revision});
                        node.insert("content_source".to_owned(), source);
                    }
                });
            }
        }
    }
}

fn reorder(value: &mut Value) {
    match value {
        Value::Array(list) => {
            list.reverse();
            list.iter_mut().for_each(reorder);
        }
        Value::Object(fields) => fields.values_mut().for_each(reorder),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Calls `change` with every object that is a node, wherever it stands.
fn each_node(value: &mut Value, change: &mut impl FnMut(String, &mut Map<String, Value>)) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(|one| each_node(one, change)),
        Value::Object(fields) => {
            let id = fields.get("id").and_then(Value::as_str).map(str::to_owned);
            match id {
                Some(id) if fields.contains_key("space_id") && fields.contains_key("kind") => {
                    change(id, fields);
                }
                Some(_) | None => fields.values_mut().for_each(|one| each_node(one, change)),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: &str, version: u64, revision: &str) -> Value {
        json!({"id": id, "space_id": "s", "kind": "file", "version": version, "revision_id": revision})
    }

    #[test]
    fn lists_run_backwards() {
        let mut body = json!({"a": [1, [2, 3]], "b": "c"});
        Tampering::Reorder.apply(&mut body, &Memory::default());
        assert_eq!(body, json!({"a": [[3, 2], 1], "b": "c"}));
    }

    #[test]
    fn the_third_version_of_a_node_is_the_first_again() {
        let memory = Memory::default();
        for (version, shown) in [(1, "one"), (1, "one"), (2, "two"), (3, "one"), (4, "one")] {
            let truth = ["", "one", "two", "three", "four"][version];
            let mut body = json!({"changes": [{"node": node("f", version as u64, truth)}]});
            Tampering::Replay.apply(&mut body, &memory);
            assert_eq!(body["changes"][0]["node"], node("f", version as u64, shown));
        }
    }

    #[test]
    fn files_are_copies_of_others() {
        let mut body = json!([node("f", 1, "of f"), node("g", 1, "of g")]);
        Tampering::SwapSources.apply(&mut body, &Memory::default());
        let source = |at: usize| &body[at]["content_source"];
        assert_eq!(source(0), &json!({"node_id": "g", "revision_id": "of g"}));
        assert_eq!(source(1), &json!({"node_id": "f", "revision_id": "of f"}));
        let mut alone = json!([node("f", 1, "of f")]);
        Tampering::SwapSources.apply(&mut alone, &Memory::default());
        assert_eq!(alone, json!([node("f", 1, "of f")]));
    }
}
