//! Access tokens that are accepted and refused.

use super::*;
use cairn_store::Error as StoreError;

fn new(id: u8) -> Issue<'static> {
    Issue {
        issuer: LOCAL_ISSUER,
        account: AccountId::from_random_bytes([1; 16]),
        client: "cairn",
        scope: Scopes::FILES,
        login: Uuid::from_bytes([id; 16]),
        id: id.to_string(),
    }
}

#[test]
fn a_token_holds_for_ten_minutes_and_for_one_server() {
    let tokens = Tokens::new(&[7; 32], None).unwrap();
    let token = tokens.issue(&new(1), 5_000).unwrap();
    let found = tokens.verify(&token, 5_000).unwrap();
    assert_eq!(found.account, new(1).account);
    assert_eq!(
        (found.client.as_str(), found.scope),
        ("cairn", Scopes::FILES)
    );
    assert!(tokens.verify(&token, 604_999).is_ok());
    assert!(matches!(
        tokens.verify(&token, 605_000),
        Err(Error::Store(StoreError::Unauthorized(_)))
    ));
    assert!(
        Tokens::new(&[8; 32], None)
            .unwrap()
            .verify(&token, 5_000)
            .is_err()
    );
    assert!(tokens.verify(&format!("{token}x"), 5_000).is_err());
    assert!(tokens.verify("nonsense", 5_000).is_err());
}

#[test]
fn a_token_ends_with_its_login() {
    let tokens = Tokens::new(&[7; 32], None).unwrap();
    let first = tokens.issue(&new(1), 5_000).unwrap();
    let second = tokens.issue(&new(2), 5_000).unwrap();
    assert!(tokens.verify(&first, 5_000).is_ok());
    tokens.end(Uuid::from_bytes([1; 16]), 5_000);
    assert!(tokens.verify(&first, 5_000).is_err());
    assert!(tokens.verify(&second, 5_000).is_ok());
}

#[test]
fn a_token_with_another_algorithm_or_type_is_refused() {
    let tokens = Tokens::new(&[7; 32], None).unwrap();
    let claims = Claims {
        iss: LOCAL_ISSUER.into(),
        aud: AUDIENCE.into(),
        sub: AccountId::from_random_bytes([1; 16]).to_string(),
        iat: 0,
        exp: LIFETIME_S,
        jti: "1".into(),
        client_id: "cairn".into(),
        scope: "files".into(),
        sid: Uuid::from_bytes([1; 16]),
    };
    let mut header = Header::new(Algorithm::HS256);
    header.typ = Some(TYPE.into());
    let key = EncodingKey::from_secret(&[7; 32]);
    let forged = jsonwebtoken::encode(&header, &claims, &key).unwrap();
    assert!(tokens.verify(&forged, 0).is_err());
    let plain = Header::new(Algorithm::EdDSA);
    let other = jsonwebtoken::encode(&plain, &claims, &tokens.encoding).unwrap();
    assert!(tokens.verify(&other, 0).is_err());
}

/// Signs claims with the server's own key.
fn sign_claims(tokens: &Tokens, claims: &Value) -> String {
    let header = Header {
        typ: Some(TYPE.into()),
        ..Header::new(Algorithm::EdDSA)
    };
    jsonwebtoken::encode(&header, claims, &tokens.encoding).unwrap()
}

#[test]
fn a_token_that_this_server_would_not_have_issued_is_refused() {
    let tokens = Tokens::new(&[7; 32], Some("https://files.example.com/")).unwrap();
    let good = json!({
        "iss": "https://files.example.com", "aud": AUDIENCE,
        "sub": AccountId::from_random_bytes([1; 16]).to_string(), "iat": 1000, "exp": 1600,
        "jti": "1", "client_id": "cairn", "scope": "files", "sid": Uuid::from_bytes([1; 16]),
    });
    let is_accepted = |claims: &Value| {
        tokens
            .verify(&sign_claims(&tokens, claims), 1_000_000)
            .is_ok()
    };
    assert!(is_accepted(&good));
    let changed = |field: &str, value: Option<Value>| {
        let mut claims = good.clone();
        match value {
            Some(value) => claims[field] = value,
            None => drop(claims.as_object_mut().unwrap().remove(field)),
        }
        is_accepted(&claims)
    };
    assert!(changed("iss", Some(json!(LOCAL_ISSUER))));
    for other in [
        "https://evil.example",
        "https://files.example.com.evil.example",
        "",
    ] {
        assert!(!changed("iss", Some(json!(other))), "{other}");
    }
    for field in ["iss", "sid", "jti", "iat", "exp"] {
        assert!(!changed(field, None), "{field}");
    }
    assert!(!changed("jti", Some(json!(""))));
    assert!(!changed("exp", Some(json!(1601))), "it lasts too long");
    let mut later = good.clone();
    later["iat"] = json!(1_000_000);
    later["exp"] = json!(1_000_600);
    assert!(!is_accepted(&later), "it was not issued yet");
}
