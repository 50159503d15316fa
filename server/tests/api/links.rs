//! The links of the OpenAPI documents: from what makes something to what can be done with it.

use cairn_server::openapi;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Returns the paths of a document's operations by their ids.
fn paths_by_operation(document: &Value) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for operation in item.as_object().unwrap().values() {
            if let Some(id) = operation["operationId"].as_str() {
                found.insert(id.to_owned(), path.clone());
            }
        }
    }
    found
}

/// Returns the responses with links, by the paths that give them.
fn linked(document: &Value) -> BTreeMap<&str, (&Value, &Map<String, Value>)> {
    let paths = document["paths"].as_object().unwrap();
    let responses = paths.iter().filter_map(|(path, item)| {
        let response = &item["post"]["responses"]["201"];
        let links = response["links"].as_object()?;
        Some((path.as_str(), (response, links)))
    });
    responses.collect()
}

/// Returns whether a schema, or one that it is put together from, has a field.
fn has_field(document: &Value, schema: &Value, field: &str) -> bool {
    let target = schema["$ref"].as_str();
    let target = target.and_then(|target| document.pointer(&target[1..]));
    let mut parts = target
        .into_iter()
        .chain(schema["allOf"].as_array().into_iter().flatten());
    schema["properties"].get(field).is_some() || parts.any(|part| has_field(document, part, field))
}

#[test]
fn what_makes_something_links_to_what_can_be_done_with_it() {
    let document = openapi::document();
    let linked = linked(document);
    for (path, operation) in [
        ("/api/v1/nodes/", "nodes_update"),
        ("/api/v1/nodes/{id}/copy", "nodes_trash"),
        ("/api/v1/nodes/{id}/comments", "comments_comment"),
        ("/api/v1/uploads", "uploads_complete"),
        ("/api/v1/shares/", "shares_toggle"),
        ("/api/v1/teams/", "teams_invite"),
        ("/api/v1/webhooks/", "webhooks_rotate"),
        ("/api/v1/apikeys", "apikeys_revoke"),
    ] {
        let (_, links) = linked[path];
        assert!(links.contains_key(operation), "{path}: {links:?}");
    }
    for (path, (response, links)) in linked {
        let schema = &response["content"]["application/json"]["schema"];
        for (operation, link) in links {
            let id = link["parameters"]["id"].as_str().unwrap();
            let field = id.strip_prefix("$response.body#/").unwrap();
            assert!(
                has_field(document, schema, field),
                "{path}: {operation}: {field}"
            );
        }
    }
}

#[test]
fn links_lead_to_operations_of_the_same_document() {
    let modules = openapi::modules();
    let documents = modules.iter().map(|name| openapi::module(name).unwrap());
    for document in documents.chain([openapi::document().clone()]) {
        let paths = paths_by_operation(&document);
        for (_, links) in linked(&document).values() {
            for (operation, link) in *links {
                assert_eq!(link["operationId"], operation.as_str());
                assert!(paths[operation].contains("{id}"), "{operation}");
            }
        }
    }
}
