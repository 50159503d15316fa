//! Every range and every spelling that must not be reached, and a few that may.

use super::*;
use cairn_store::Error as StoreError;
use std::str::FromStr as _;

#[test]
fn addresses_on_the_public_internet_are_accepted() {
    for good in [
        "https://hooks.example.com/a?b=c",
        "https://example.com:8443/",
        "https://8.8.8.8/",
        "https://172.32.0.1/",
        "https://[2606:4700::1111]/",
        "https://[64:ff9b::8.8.8.8]/",
        "https://myinternal.example.com/",
        "https://metadataservice.example.com/",
    ] {
        assert!(check(good, AddressPolicy::Public).is_ok(), "{good}");
    }
}

#[test]
fn what_leads_inside_is_refused_in_every_spelling() {
    for bad in [
        // The named ranges.
        "https://127.0.0.1/",
        "https://127.255.255.254/",
        "https://10.1.2.3/",
        "https://172.16.0.1/",
        "https://172.31.255.255/",
        "https://192.168.1.1/",
        "https://169.254.169.254/latest/meta-data/",
        "https://0.0.0.0/",
        "https://[::1]/",
        "https://[fc00::1]/",
        "https://[fd12:3456::1]/",
        "https://[fe80::1]/",
        "https://metadata.google.internal/",
        "https://metadata.example.com/",
        "https://internal.example.com/",
        // Others that are not public.
        "https://100.64.0.1/",
        "https://192.0.2.1/",
        "https://198.18.0.1/",
        "https://224.0.0.1/",
        "https://255.255.255.255/",
        "https://[::]/",
        "https://[ff02::1]/",
        "https://[2001:db8::1]/",
        "https://[2001::1]/",
        // Spellings of IPv4.
        "https://2130706433/",
        "https://0x7f000001/",
        "https://0x7f.0.0.1/",
        "https://0177.0.0.1/",
        "https://127.1/",
        "https://127.0.0.1./",
        "https://%31%32%37.0.0.1/",
        "https://１２７.0.0.1/",
        "https://3232235777/",
        // IPv4 within IPv6.
        "https://[::ffff:127.0.0.1]/",
        "https://[::ffff:7f00:1]/",
        "https://[::ffff:a9fe:a9fe]/",
        "https://[::127.0.0.1]/",
        "https://[64:ff9b::127.0.0.1]/",
        "https://[64:ff9b::a00:1]/",
        "https://[64:ff9b:1::1]/",
        "https://[2002:7f00:1::]/",
        "https://[2002:a9fe:a9fe::1]/",
        // Names.
        "https://localhost/",
        "https://LOCALHOST./",
        "https://foo.localhost/",
        "https://metadata./",
        "https://METADATA.google.internal./",
        "https://internal/",
        "https://intranet/",
        "https://db.internal/",
        "https://printer.local/",
        // Forms.
        "http://example.com/",
        "ftp://example.com/",
        "file:///etc/passwd",
        "https://user@example.com/",
        "https://user:secret@example.com/",
        "https://example.com/#fragment",
        "https:///",
        "example.com",
        "",
    ] {
        assert!(
            matches!(
                check(bad, AddressPolicy::Public),
                Err(Error::Store(StoreError::Invalid(_)))
            ),
            "{bad}"
        );
    }
    let long = format!("https://example.com/{}", "a".repeat(2_048));
    assert!(check(&long, AddressPolicy::Public).is_err());
}

#[test]
fn a_server_for_development_lets_webhooks_go_anywhere_by_http() {
    assert!(check("http://127.0.0.1:9000/hook", AddressPolicy::Anywhere).is_ok());
    assert!(check("http://localhost/", AddressPolicy::Anywhere).is_ok());
    assert!(check("ftp://127.0.0.1/", AddressPolicy::Anywhere).is_err());
}

#[test]
fn a_name_that_resolves_inside_is_refused_even_among_public_addresses() {
    let at = |text: &str| SocketAddr::from_str(text).unwrap();
    let public = at("8.8.8.8:0");
    assert_eq!(
        check_addresses("a", vec![public], AddressPolicy::Public).unwrap(),
        [public]
    );
    for inside in [
        "10.0.0.1:0",
        "127.0.0.1:0",
        "[::1]:0",
        "[::ffff:10.0.0.1]:0",
    ] {
        let refused =
            check_addresses("a", vec![public, at(inside)], AddressPolicy::Public).unwrap_err();
        assert!(refused.contains("private"), "{refused}");
        assert!(check_addresses("a", vec![at(inside)], AddressPolicy::Anywhere).is_ok());
    }
}

#[tokio::test]
async fn the_connection_itself_refuses_a_name_of_this_machine() {
    // As if `localhost` had passed every check of its text.
    let guard = Guard {
        policy: AddressPolicy::Public,
    };
    let refused = guard.resolve(Name::from_str("localhost").unwrap()).await;
    let text = refused.err().map(|e| e.to_string()).unwrap_or_default();
    assert!(text.contains("localhost resolves to"), "{text}");
}
