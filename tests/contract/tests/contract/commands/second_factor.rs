//! The second factor: set up, confirmed and removed by the command line.

use crate::commands::world::World;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::json;
use sha1::Sha1;
use std::time::SystemTime;

/// Returns the code that an authenticator app shows now (RFC 6238).
fn code(secret: &str) -> String {
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let bits: String = secret
        .chars()
        .map(|letter| format!("{:05b}", alphabet.find(letter).expect("base 32")))
        .collect();
    let bytes: Vec<u8> = bits
        .as_bytes()
        .chunks_exact(8)
        .map(|byte| byte.iter().fold(0, |sum, bit| sum << 1 | (bit - b'0')))
        .collect();
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .expect("a time after 1970");
    let mut mac = Hmac::<Sha1>::new_from_slice(&bytes).expect("a key of any length");
    mac.update(&(now.as_secs() / 30).to_be_bytes());
    let hash = mac.finalize().into_bytes();
    let at = usize::from(hash[19] & 15);
    let four = hash[at..at + 4].try_into().expect("four bytes");
    format!(
        "{:06}",
        (u32::from_be_bytes(four) & 0x7fff_ffff) % 1_000_000
    )
}

#[test]
fn a_second_factor_is_set_up_and_removed_with_password_and_codes() {
    let world = World::new();
    world.login("a");
    let command = |more: &[&str]| world.json("a", &[&["second-factor"], more].concat());
    let refused = |more: &[&str]| world.run("a", &[&["second-factor"], more].concat());
    assert_eq!(
        command(&[]),
        json!({"enabled": false, "recovery_codes_left": 0})
    );
    world.write("password", "owner");
    world.write("wrong", "another");
    let (password, wrong) = (world.text("password"), world.text("wrong"));
    refused(&["setup", "--password-file", &wrong]).assert_refused(1, &["password is wrong"]);
    refused(&["setup"]).assert_refused(2, &["--password-file"]);
    refused(&["confirm", "123456"]).assert_refused(1, &["second-factor setup"]);

    let begun = command(&["setup", "--password-file", &password]);
    let secret = begun["secret"].as_str().expect("a secret");
    let uri = begun["otpauth_uri"].as_str().expect("an address");
    assert!(uri.starts_with("otpauth://totp/") && uri.contains(secret));
    assert_eq!(command(&["status"])["enabled"], false, "not confirmed");
    let confirmed = command(&["confirm", &code(secret)]);
    let codes = confirmed["recovery_codes"].as_array().expect("codes");
    let status = command(&["status"]);
    assert_eq!(
        (&status["enabled"], &status["recovery_codes_left"]),
        (&json!(true), &json!(codes.len()))
    );
    refused(&["setup", "--password-file", &password]).assert_refused(1, &["second-factor remove"]);

    let remove = ["remove", "--password-file", &password, "--code"];
    refused(&[&remove[..], &["no code"]].concat()).assert_refused(1, &["code"]);
    let recovery = codes[0].as_str().expect("a code");
    command(&[&remove[..], &[recovery]].concat());
    assert_eq!(command(&[])["enabled"], false);
}
