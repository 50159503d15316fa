//! Refusals as the document describes them.

use cairn_server::openapi;

#[test]
fn refusals_are_described_as_they_are_sent() {
    let document = openapi::document();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let limited = &operation["responses"]["429"];
            if !path.starts_with("/oauth/") {
                assert!(!limited.is_null(), "{method} {path}");
                continue;
            }
            let schema = &limited["content"]["application/json"]["schema"]["$ref"];
            assert_eq!(
                schema, "#/components/schemas/OAuthErrorBody",
                "{method} {path}"
            );
            assert!(
                limited["content"]["text/html"].is_object(),
                "{method} {path}"
            );
            assert!(
                limited["headers"]["Retry-After"].is_object(),
                "{method} {path}"
            );
        }
    }
    for (method, path, status) in [
        ("get", "/api/v1/nodes/", "404"),
        ("post", "/api/v1/uploads", "404"),
        ("post", "/api/v1/nodes/batch", "409"),
        ("post", "/api/v1/nodes/", "507"),
        ("put", "/api/v1/nodes/{id}", "507"),
        ("put", "/api/v1/nodes/{id}/favorite", "409"),
        ("delete", "/api/v1/nodes/{id}/favorite", "409"),
        ("get", "/api/v1/public/shares/{code}/chunks/{chunk}", "410"),
    ] {
        let described = &document["paths"][path][method]["responses"][status];
        assert!(described.is_object(), "{method} {path} {status}");
    }
}
