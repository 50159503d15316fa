//! Versions as a person names them.

use super::*;

fn revision(number: u64, id: &str) -> Revision {
    serde_json::from_value(json!({
        "id": id, "node_id": id, "number": number, "size": 1,
        "created_at": "2026-01-01T00:00:00Z", "modified_at": null, "current": false,
        "device_id": null, "uploaded_by": "a@example.com",
    }))
    .unwrap()
}

#[test]
fn a_version_is_named_by_number_or_the_beginning_of_its_id() {
    let all = [
        revision(2, "aaaa1111-0000-4000-8000-000000000000"),
        revision(1, "aaaa2222-0000-4000-8000-000000000000"),
    ];
    let found = |text: &str| find_revision(&all, text).map(|revision| revision.number);
    assert_eq!(found("1"), Some(1));
    assert_eq!(found("aaaa1"), Some(2));
    assert_eq!(found("AAAA2222-0000-4000-8000-000000000000"), Some(1));
    assert_eq!(found("aaaa"), None, "two begin with it");
    assert_eq!(found("aa"), None, "too short");
    assert_eq!(found("3"), None);
}
