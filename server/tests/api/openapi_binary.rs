//! Bodies of bytes in the OpenAPI document: described so that programs which make clients from it can send and read them.

use cairn_server::openapi;
use serde_json::{Value, json};

/// Returns the schemas of the bodies of a media type, each with the path and method of its operation.
fn schemas(media: &str) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    let paths = openapi::document()["paths"].as_object().unwrap();
    for (path, item) in paths {
        for (method, operation) in item.as_object().unwrap() {
            let responses = operation["responses"].as_object().unwrap().values();
            for body in responses.chain([&operation["requestBody"]]) {
                if let Some(content) = body["content"].get(media) {
                    found.push((format!("{method} {path}"), content["schema"].clone()));
                }
            }
        }
    }
    found
}

#[test]
fn bytes_are_described_as_binary_text_not_as_a_list_of_numbers() {
    let all = schemas("application/octet-stream");
    for (operation, schema) in &all {
        let binary = json!({"type": "string", "format": "binary"});
        assert_eq!(*schema, binary, "{operation}");
    }
    let count = |of: &str| all.iter().filter(|(operation, _)| operation == of).count();
    // A request alone, two responses, and both.
    assert_eq!(count("put /api/v1/uploads/{id}/chunks/{chunk}"), 1);
    assert_eq!(count("get /api/v1/chunks/{id}"), 2);
    assert_eq!(count("post /api/v1/spaces/{id}/commits"), 3);
}

#[test]
fn a_frame_is_binary_and_has_the_schema_of_its_head() {
    let all = schemas("application/vnd.cairn.frame");
    let heads = [
        ("post /api/v1/downloads/batch", "DownloadedBatch"),
        ("post /api/v1/uploads/batch", "UploadBatch"),
    ];
    assert_eq!(all.len(), heads.len());
    for ((operation, schema), (expected, head)) in all.iter().zip(heads) {
        assert_eq!(operation, expected);
        assert_eq!(
            (&schema["type"], &schema["format"]),
            (&json!("string"), &json!("binary"))
        );
        let reference = format!("#/components/schemas/{head}");
        assert_eq!(schema["contentSchema"]["$ref"], reference);
        assert!(openapi::document()["components"]["schemas"][head].is_object());
    }
}
