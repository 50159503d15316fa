//! Endpoints that a token may be sent to, and those that it may not.

use super::*;

#[test]
fn tokens_go_to_the_server_itself_alone() {
    let base = BaseUrl::parse("https://cloud.example.org/cairn").unwrap();
    assert!(check("https://cloud.example.org/oauth/token", &base).is_ok());
    for elsewhere in [
        "http://cloud.example.org/oauth/token",
        "https://cloud.example.org:444/oauth/token",
        "https://cloud.example.org.evil.example/token",
        "https://evil.example/token",
        "/oauth/token",
    ] {
        assert!(check(elsewhere, &base).is_err(), "{elsewhere}");
    }
}
