//! Links from what makes something to what can be done with it: where the id of a response belongs.
//!
//! Readers of the document find their way by them, and programs that try requests one after another.

use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Paths that make what is found below another one.
const ELSEWHERE: [(&str, &str); 3] = [
    ("/api/v1/nodes/{id}/comments", "/api/v1/comments"),
    (
        "/api/v1/nodes/{id}/comments/{parent}/replies",
        "/api/v1/comments",
    ),
    ("/api/v1/nodes/{id}/copy", "/api/v1/nodes"),
];
/// Paths whose response has the id in a field of another name.
const FIELDS: [(&str, &str); 1] = [("/api/v1/uploads", "upload_id")];

/// Adds them to the responses with 201.
pub(super) fn complete(document: &mut Value) {
    let Some(paths) = document["paths"].as_object_mut() else {
        return;
    };
    let targets: Vec<(String, String)> = paths
        .iter()
        .flat_map(|(path, item)| operation_ids(item).map(move |id| (path.clone(), id)))
        .collect();
    for (path, item) in paths {
        if let Some(response) = item.pointer_mut("/post/responses/201") {
            let links = links(path, &targets);
            if !links.is_empty() {
                response["links"] = Value::Object(links);
            }
        }
    }
}

fn operation_ids(item: &Value) -> impl Iterator<Item = String> {
    let operations = item.as_object().into_iter().flat_map(Map::values);
    operations.filter_map(|operation| operation["operationId"].as_str().map(str::to_owned))
}

/// Returns the links of what `path` makes, by the ids of the operations to which they lead.
fn links(path: &str, targets: &[(String, String)]) -> Map<String, Value> {
    let found = |table: &[(&str, &'static str)]| {
        let entry = table.iter().find(|(from, _)| *from == path);
        entry.map(|(_, to)| *to)
    };
    let base = found(&ELSEWHERE).unwrap_or(path.trim_end_matches('/'));
    let field = found(&FIELDS).unwrap_or("id");
    let one = format!("{base}/{{id}}");
    targets
        .iter()
        .filter(|(target, _)| {
            let rest = target.strip_prefix(&one);
            rest.is_some_and(|rest| !rest.contains('{'))
        })
        .map(|(_, operation)| {
            let id = format!("$response.body#/{field}");
            let link = json!({"operationId": operation, "parameters": {"id": id}});
            (operation.clone(), link)
        })
        .collect()
}

/// Takes out those that lead to operations of other documents.
pub(super) fn prune(document: &mut Value) {
    let known: BTreeSet<String> = document["paths"]
        .as_object()
        .into_iter()
        .flat_map(Map::values)
        .flat_map(operation_ids)
        .collect();
    let items = document["paths"].as_object_mut().into_iter().flatten();
    for (_, item) in items {
        let links = item.pointer_mut("/post/responses/201/links");
        if let Some(links) = links.and_then(Value::as_object_mut) {
            links.retain(|operation, _| known.contains(operation));
        }
    }
}
