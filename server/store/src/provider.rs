//! The payment provider's stand-in: it charges and pays out, always the same way.
//!
//! No money moves. The account decides what happens: a charge to somebody whose address has
//! `+declined` before the `@` is refused, as a card without cover would be.

use crate::error::{Error, Result};
use cairn_model::AccountId;
use cairn_wire::Amount;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

fn reference(kind: &str, account: AccountId, entry: Uuid) -> String {
    let hash = Sha256::new()
        .chain_update(kind)
        .chain_update(account.as_bytes())
        .chain_update(entry.as_bytes())
        .finalize();
    format!("{kind}_{}", hex::encode(&hash[..12]))
}

/// Charges a card; `entry` is the ledger's entry that the charge belongs to.
///
/// # Errors
/// 402 for a card that is declined.
pub fn charge(account: AccountId, email: &str, amount: Amount, entry: Uuid) -> Result<String> {
    let local = email.split('@').next().unwrap_or_default();
    if local.ends_with("+declined") {
        return Err(Error::PaymentRequired(format!(
            "the payment provider declined the charge of {amount}; check the card in the billing portal"
        )));
    }
    Ok(reference("ch", account, entry))
}

/// The billing portal's session of an account; it can't be guessed from the account alone.
pub fn portal_session(secret: &[u8; 32], account: AccountId, expires_at: i64) -> String {
    let hash = Sha256::new()
        .chain_update(secret)
        .chain_update(account.as_bytes())
        .chain_update(expires_at.to_be_bytes())
        .finalize();
    format!("{account}.{expires_at}.{}", hex::encode(hash))
}

/// The account of a portal session that is in force.
pub fn portal_account(secret: &[u8; 32], session: &str, now: i64) -> Option<AccountId> {
    let mut parts = session.split('.');
    let account: AccountId = parts.next()?.parse().ok()?;
    let expires_at: i64 = parts.next()?.parse().ok()?;
    (expires_at > now && portal_session(secret, account, expires_at) == session).then_some(account)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account() -> AccountId {
        AccountId::from_random_bytes([1; 16])
    }

    #[test]
    fn the_same_charge_has_the_same_name_and_some_are_declined() {
        let entry = Uuid::from_bytes([2; 16]);
        let charge = |email| charge(account(), email, Amount(100), entry);
        assert_eq!(charge("a@b").unwrap(), charge("a@b").unwrap());
        assert!(charge("a@b").unwrap().starts_with("ch_"));
        assert!(matches!(
            charge("a+declined@b"),
            Err(Error::PaymentRequired(_))
        ));
    }

    #[test]
    fn a_portal_session_ends_and_can_not_be_forged() {
        let session = portal_session(&[7; 32], account(), 1000);
        assert_eq!(portal_account(&[7; 32], &session, 999), Some(account()));
        assert_eq!(portal_account(&[7; 32], &session, 1000), None);
        assert_eq!(portal_account(&[8; 32], &session, 999), None);
        let forged = session.replace(".1000.", ".9000.");
        assert_eq!(portal_account(&[7; 32], &forged, 999), None);
        assert_eq!(portal_account(&[7; 32], "nonsense", 0), None);
    }
}
