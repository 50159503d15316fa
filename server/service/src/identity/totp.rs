//! One-time codes of a second factor (TOTP, RFC 6238 over RFC 4226), as every authenticator app makes them from a
//! secret and the time: HMAC-SHA-1, six digits, a new one each thirty seconds.

use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::Url;
use sha1::Sha1;

/// Bytes of a secret: as long as the hash, which RFC 4226 recommends.
pub(crate) const SECRET: usize = 20;
const STEP_MS: i64 = 30_000;
const DIGITS: usize = 6;
/// Steps beside the present one whose codes are taken: clocks differ a little, and typing takes time.
const DRIFT: i64 = 1;
/// The alphabet of RFC 4648.
const BASE_32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Returns the number that a counter gives, before it is cut to its digits (RFC 4226, section 5.3).
fn truncated(secret: &[u8], counter: i64) -> Option<u32> {
    let mut mac = Hmac::<Sha1>::new_from_slice(secret).ok()?;
    mac.update(&counter.to_be_bytes());
    let hash = mac.finalize().into_bytes();
    let offset = usize::from(hash.last()? & 0x0f);
    let (four, _) = hash.get(offset..)?.split_first_chunk::<4>()?;
    Some(u32::from_be_bytes(*four) & 0x7fff_ffff)
}

/// Reads a code as a person types it; `None` for what is no code of an app.
pub(crate) fn read(typed: &str) -> Option<u32> {
    let digits: String = typed.chars().filter(|c| !c.is_whitespace()).collect();
    let is_code = digits.len() == DIGITS && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|_| is_code)
}

/// Returns the time step that a code belongs to, among those around the present one and after `last`, which was
/// taken before.
pub(crate) fn step_of(secret: &[u8], code: u32, now_ms: i64, last: i64) -> Option<i64> {
    let present = now_ms.div_euclid(STEP_MS);
    let limit = 10_u32.pow(u32::try_from(DIGITS).ok()?);
    (present - DRIFT..=present + DRIFT)
        .filter(|step| *step > last)
        .find(|step| truncated(secret, *step).is_some_and(|number| number % limit == code))
}

/// Returns bytes in base 32 without padding, as apps take a secret.
pub(crate) fn base_32(bytes: &[u8]) -> String {
    let mut text = String::new();
    let (mut bits, mut waiting) = (0_u32, 0_u32);
    for byte in bytes {
        bits = (bits << 8 | u32::from(*byte)) & 0xffff;
        waiting += 8;
        while waiting >= 5 {
            waiting -= 5;
            text.push(letter(bits >> waiting));
        }
    }
    if waiting > 0 {
        text.push(letter(bits << (5 - waiting)));
    }
    text
}

fn letter(bits: u32) -> char {
    char::from(BASE_32[(bits & 31) as usize])
}

/// Returns the address under which an app takes a secret (the form of Google Authenticator, which all read).
pub(crate) fn otpauth_uri(email: &str, secret: &str) -> String {
    // Apps show the label as it stands, so that only what would end it is escaped.
    let Ok(mut uri) = Url::parse("otpauth://totp/") else {
        return String::new();
    };
    if let Ok(mut path) = uri.path_segments_mut() {
        path.pop_if_empty().push(&format!("Cairn:{email}"));
    }
    uri.query_pairs_mut()
        .append_pair("secret", secret)
        .append_pair("issuer", "Cairn")
        .append_pair("algorithm", "SHA1")
        .append_pair("digits", &DIGITS.to_string())
        .append_pair("period", &(STEP_MS / 1000).to_string());
    uri.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &[u8] = b"12345678901234567890";

    #[test]
    fn the_values_of_rfc_4226_come_out() {
        // Appendix D.
        let codes = [
            755_224, 287_082, 359_152, 969_429, 338_314, 254_676, 287_922, 162_583, 399_871,
            520_489,
        ];
        for (counter, code) in (0_i64..).zip(codes) {
            assert_eq!(
                truncated(KEY, counter).unwrap() % 1_000_000,
                code,
                "{counter}"
            );
        }
    }

    #[test]
    fn the_values_of_rfc_6238_come_out() {
        // Appendix B, the lines of SHA-1, with eight digits.
        for (seconds, code) in [
            (59, 94_287_082),
            (1_111_111_109, 7_081_804),
            (1_111_111_111, 14_050_471),
            (1_234_567_890, 89_005_924),
            (2_000_000_000, 69_279_037),
            (20_000_000_000, 65_353_130),
        ] {
            let step = seconds * 1000 / STEP_MS;
            assert_eq!(
                truncated(KEY, step).unwrap() % 100_000_000,
                code,
                "{seconds}"
            );
            let six = code % 1_000_000;
            assert_eq!(
                step_of(KEY, six, seconds * 1000, 0),
                Some(step),
                "{seconds}"
            );
        }
    }

    #[test]
    fn a_code_is_good_for_a_step_around_its_own_and_never_after_it_was_taken() {
        let code = truncated(KEY, 100).unwrap() % 1_000_000;
        let at = |step: i64| step_of(KEY, code, step * STEP_MS + 29_999, 0);
        assert_eq!(
            [at(98), at(99), at(100), at(101), at(102)],
            [None, Some(100), Some(100), Some(100), None]
        );
        assert_eq!(step_of(KEY, code, 100 * STEP_MS, 99), Some(100));
        assert_eq!(step_of(KEY, code, 100 * STEP_MS, 100), None);
    }

    #[test]
    fn a_code_is_read_as_it_is_typed() {
        assert_eq!(read(" 081 804\n"), Some(81_804));
        for wrong in ["", "81804", "0081804", "08180a", "+81804", "٠٨١٨٠٤"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn base_32_is_that_of_rfc_4648() {
        for (plain, text) in [
            ("", ""),
            ("f", "MY"),
            ("fo", "MZXQ"),
            ("foo", "MZXW6"),
            ("foob", "MZXW6YQ"),
            ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI"),
        ] {
            assert_eq!(base_32(plain.as_bytes()), text);
        }
        assert_eq!(base_32(KEY), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    }

    #[test]
    fn an_app_finds_the_account_and_the_secret_in_the_address() {
        let uri = otpauth_uri("a/b?c@example.com", "MZXW6");
        assert_eq!(
            uri,
            "otpauth://totp/Cairn:a%2Fb%3Fc@example.com?secret=MZXW6&issuer=Cairn&algorithm=SHA1&digits=6&period=30"
        );
    }
}
