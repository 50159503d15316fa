//! The signature of a delivery: `X-Service-Signature: sha256=HEX`, an HMAC-SHA256 over the raw body.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Carries the signature with the secret that the receiver is known to have: during a rotation the
/// old one.
pub const SIGNATURE: &str = "x-service-signature";
/// Carries the signature with the new secret during a rotation. One header with two values would
/// fail receivers that read the first one, or all of them joined.
pub const NEXT_SIGNATURE: &str = "x-service-signature-next";

fn mac(secret: &str, body: &[u8]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(body);
    Some(mac)
}

/// The header's value for a body.
pub fn sign(secret: &str, body: &[u8]) -> String {
    // HMAC takes keys of any length.
    let digest = mac(secret, body).map(|mac| hex::encode(mac.finalize().into_bytes()));
    format!("sha256={}", digest.unwrap_or_default())
}

/// Returns true, in constant time, if a header's value is the signature of a body.
pub fn is_signed(secret: &str, body: &[u8], value: &str) -> bool {
    let Some(Ok(claimed)) = value.trim().strip_prefix("sha256=").map(hex::decode) else {
        return false;
    };
    mac(secret, body).is_some_and(|mac| mac.verify_slice(&claimed).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_the_hmac_of_rfc_4231_and_fits_one_body_and_secret() {
        // RFC 4231, test case 2.
        let signed = sign("Jefe", b"what do ya want for nothing?");
        assert_eq!(
            signed,
            "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert!(is_signed("Jefe", b"what do ya want for nothing?", &signed));
        assert!(!is_signed("jefe", b"what do ya want for nothing?", &signed));
        assert!(!is_signed("Jefe", b"what do ya want for nothing", &signed));
        for bad in ["", "sha256=", "sha256=zz", "sha256=5bdc", &signed[7..]] {
            assert!(
                !is_signed("Jefe", b"what do ya want for nothing?", bad),
                "{bad}"
            );
        }
    }
}
