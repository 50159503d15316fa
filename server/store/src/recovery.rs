//! Recovery keys: whether an account has one, and setting one up. There are two kinds.
//!
//! The one that opens files is made by a client: the account's encryption keys wrapped under it, of which the server
//! gets the wrapped keys and a verifier. The *reset key* is made by this server for an account whose client has no
//! keys at hand: it only proves whose account it is when keys have to be made anew, and opens nothing.

use super::credentials::verifier;
use super::rows::json;
use super::{Store, Tx};
use crate::db::{Connection, Optional as _, params};
use crate::error::{Error, Result};
use cairn_model::{AccountId, KeyEvent};
use cairn_wire::Timestamp;
use cairn_wire::keys::{KeyBundle, RecoveryKeyOrigin, RecoveryStatus, SetUpRecovery};
use sha2::{Digest as _, Sha256};

/// Letters and digits that people do not mix up (Crockford's base 32).
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// 25 bytes are 40 characters.
const KEY_BYTES: usize = 25;

struct KeyRecord {
    bundle: Option<KeyBundle>,
    auth: [u8; 32],
    has_recovery: bool,
    has_reset: bool,
    set_at: Option<i64>,
}

fn record(conn: &Connection, account: AccountId) -> Result<Option<KeyRecord>> {
    let found = conn
        .query_row(
            "SELECT bundle, auth, recovery IS NOT NULL, reset_verifier IS NOT NULL, recovery_set_at \
             FROM key_bundles WHERE account = ?1",
            [account.as_bytes()],
            |row| {
                Ok(KeyRecord {
                    bundle: json(row, 0)?,
                    auth: row.get(1)?,
                    has_recovery: row.get(2)?,
                    has_reset: row.get(3)?,
                    set_at: row.get(4)?,
                })
            },
        )
        .optional()?;
    Ok(found)
}

fn status(record: Option<&KeyRecord>) -> RecoveryStatus {
    let by_client = record.is_some_and(|record| record.has_recovery);
    let by_server = record.is_some_and(|record| record.has_reset);
    RecoveryStatus {
        configured: by_client || by_server,
        made_by: match (by_client, by_server) {
            (true, _) => Some(RecoveryKeyOrigin::Client),
            (false, true) => Some(RecoveryKeyOrigin::Server),
            (false, false) => None,
        },
        opens_files: by_client,
        has_keys: record.is_some(),
        set_up_at: record
            .filter(|_| by_client || by_server)
            .and_then(|record| record.set_at)
            .map(Timestamp),
    }
}

/// Eight groups of five characters.
fn format_key(bytes: [u8; KEY_BYTES]) -> String {
    let mut text = String::new();
    for (group, five) in bytes.chunks(5).enumerate() {
        let number = five
            .iter()
            .fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte));
        for place in (0..8).rev() {
            let written = group * 8 + (7 - place);
            if written > 0 && written.is_multiple_of(5) {
                text.push('-');
            }
            let index = usize::try_from((number >> (place * 5)) & 31).unwrap_or_default();
            text.push(char::from(ALPHABET[index]));
        }
    }
    text
}

/// Returns `recovery_auth` of a key made here: SHA-256 over its characters, without the dashes.
fn auth_of(key: &str) -> [u8; 32] {
    let plain: String = key.chars().filter(char::is_ascii_alphanumeric).collect();
    Sha256::digest(plain.to_ascii_uppercase()).into()
}

impl Tx<'_> {
    fn store_client_recovery(
        &self,
        account: AccountId,
        record: KeyRecord,
        asked: &SetUpRecovery,
    ) -> Result<u64> {
        let (Some(recovery), Some(auth)) = (&asked.recovery, &asked.recovery_auth) else {
            return Err(Error::invalid(
                "`recovery` and `recovery_auth` belong together: the wrapped account key, and the verifier of what opens it",
            ));
        };
        if recovery.0.is_empty() {
            return Err(Error::invalid("`recovery` is empty"));
        }
        let auth = verifier("recovery_auth", auth)?;
        let mut bundle = record
            .bundle
            .ok_or_else(|| Error::Internal("a stored key bundle is empty".into()))?;
        bundle.version += 1;
        bundle.recovery = Some(recovery.clone());
        let text = serde_json::to_string(&bundle)
            .map_err(|e| Error::Internal(format!("a key bundle can't be written: {e}")))?;
        self.conn.execute(
            "UPDATE key_bundles SET bundle = ?2, version = ?3, recovery = ?4, recovery_set_at = ?5, \
             updated_at = ?5 WHERE account = ?1",
            params![account.as_bytes(), text, bundle.version, auth, self.now],
        )?;
        Ok(bundle.version)
    }
}

impl Store {
    /// The state of the recovery key, and what it is good for.
    pub fn recovery_status(&self, account: AccountId) -> Result<RecoveryStatus> {
        self.read(|conn| Ok(status(record(conn, account)?.as_ref())))
    }

    /// Sets a recovery key up for somebody who knows the passphrase; returns the one that was made
    /// here, if one was.
    ///
    /// # Errors
    /// 409 before the account has keys, 403 for another passphrase's hash, 400.
    pub fn set_up_recovery(
        &self,
        account: AccountId,
        asked: &SetUpRecovery,
    ) -> Result<(Option<String>, RecoveryStatus)> {
        let proof = verifier("passphrase_hash", &asked.passphrase_hash)?;
        self.write(|tx| {
            let known = record(tx.conn, account)?.ok_or_else(|| {
                Error::conflict("the account has no keys yet; PUT /keys makes them")
            })?;
            if proof != known.auth {
                return Err(Error::Forbidden(
                    "`passphrase_hash` is not that of the passphrase in force".into(),
                ));
            }
            let mut made = None;
            let version = if asked.recovery.is_some() || asked.recovery_auth.is_some() {
                tx.store_client_recovery(account, known, asked)?
            } else {
                let key = format_key(tx.source.bytes());
                // Stored as every verifier is: hashed once more.
                let stored: [u8; 32] = Sha256::digest(auth_of(&key)).into();
                tx.conn.execute(
                    "UPDATE key_bundles SET reset_verifier = ?2, recovery_set_at = ?3 WHERE account = ?1",
                    params![account.as_bytes(), stored, tx.now],
                )?;
                made = Some(key);
                known.bundle.map_or(0, |bundle| bundle.version)
            };
            tx.audit_keys(account, version, &[KeyEvent::RecoveryKeySetUp])?;
            Ok((made, status(record(tx.conn, account)?.as_ref())))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_eight_groups_of_five() {
        let key = format_key([0xff; KEY_BYTES]);
        assert_eq!(key, "ZZZZZ-ZZZZZ-ZZZZZ-ZZZZZ-ZZZZZ-ZZZZZ-ZZZZZ-ZZZZZ");
        assert_eq!(&format_key([0; KEY_BYTES])[..6], "00000-");
        let mut bytes = [0; KEY_BYTES];
        bytes[24] = 1;
        assert_ne!(
            auth_of(&format_key(bytes)),
            auth_of(&format_key([0; KEY_BYTES]))
        );
        assert_eq!(auth_of("zz-zz"), auth_of("ZZZZ"));
    }
}
