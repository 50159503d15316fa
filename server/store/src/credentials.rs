//! The account's wrapped keys, which the server keeps and can't open.

use super::Store;
use super::audit::{KeyEvent, differences};
use super::rows::json;
use crate::error::{Error, Result};
use cairn_model::AccountId;
use cairn_wire::keys::{KeyBundle, PutKeys};
use rusqlite::{OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};

struct Held {
    version: u64,
    auth: [u8; 32],
    recovery: Option<[u8; 32]>,
    /// Of a recovery key that this server made.
    reset: Option<[u8; 32]>,
    bundle: Option<KeyBundle>,
}

/// AUTH and the recovery verifier are as good as random, so one hash is enough to store them.
pub(super) fn verifier(field: &str, hexadecimal: &str) -> Result<[u8; 32]> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(hexadecimal, &mut bytes)
        .map_err(|_| Error::invalid(format!("`{field}` has to be 64 hexadecimal digits")))?;
    Ok(Sha256::digest(bytes).into())
}

impl Store {
    /// The stored bundle.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the account has none yet.
    pub fn key_bundle(&self, account: AccountId) -> Result<KeyBundle> {
        let text: Option<String> = self.read(|conn| {
            Ok(conn
                .query_row(
                    "SELECT bundle FROM key_bundles WHERE account = ?1",
                    [account.as_bytes()],
                    |row| row.get(0),
                )
                .optional()?)
        })?;
        let text = text
            .ok_or_else(|| Error::not_found("the account has no keys yet; PUT /keys makes them"))?;
        serde_json::from_str(&text)
            .map_err(|e| Error::Internal(format!("a stored key bundle can't be read: {e}")))
    }

    /// Stores the first bundle, or replaces it for somebody who knows the secret in force.
    ///
    /// # Errors
    /// 412 if `expected` is not the version in force, 403 without the right proof, 409 for a
    /// version that does not grow.
    pub fn put_key_bundle(
        &self,
        account: AccountId,
        put: &PutKeys,
        expected: Option<u64>,
    ) -> Result<()> {
        let auth = verifier("auth", &put.auth)?;
        let current = put
            .current_auth
            .as_deref()
            .map(|text| verifier("current_auth", text))
            .transpose()?;
        let recovery = put
            .recovery_auth
            .as_deref()
            .map(|text| verifier("recovery_auth", text))
            .transpose()?;
        let text = serde_json::to_string(&put.bundle)
            .map_err(|e| Error::Internal(format!("a key bundle can't be written: {e}")))?;
        self.write(|tx| {
            let held = tx
                .conn
                .query_row(
                    "SELECT version, auth, recovery, reset_verifier, bundle FROM key_bundles WHERE account = ?1",
                    [account.as_bytes()],
                    |row| {
                        Ok(Held {
                            version: row.get(0)?,
                            auth: row.get(1)?,
                            recovery: row.get(2)?,
                            reset: row.get(3)?,
                            bundle: json(row, 4)?,
                        })
                    },
                )
                .optional()?;
            let version = held.as_ref().map_or(0, |held| held.version);
            if let Some(expected) = expected
                && expected != version
            {
                return Err(Error::Stale {
                    message: format!("the keys are at version {version}, not {expected}; read them again"),
                    version,
                });
            }
            let mut kept_recovery = None;
            let mut reset = false;
            let mut events = vec![KeyEvent::Created];
            if let Some(held) = &held {
                let recovered = current.is_none() && recovery.is_some() && recovery == held.recovery;
                // That of a key made here proves the same, but is no verifier of what opens the bundle.
                reset = current.is_none() && recovery.is_some() && recovery == held.reset;
                let proven = current == Some(held.auth) || recovered || reset;
                if !proven {
                    return Err(Error::Forbidden(
                        "replacing the keys needs `current_auth` of the passphrase in force, or `recovery_auth`".into(),
                    ));
                }
                if put.bundle.version <= held.version {
                    return Err(Error::conflict(format!(
                        "the keys are at version {}, and `bundle.version` is {}; it has to grow",
                        held.version, put.bundle.version
                    )));
                }
                let other_keys = |old: &KeyBundle| old.rsa_public != put.bundle.rsa_public;
                if held.bundle.as_ref().is_some_and(other_keys) {
                    // Nobody can open them any more; where they are missing, they can be granted anew.
                    tx.conn.execute(
                        "DELETE FROM team_grants WHERE account = ?1",
                        [account.as_bytes()],
                    )?;
                }
                kept_recovery = held.recovery;
                events = held.bundle.as_ref().map_or_else(Vec::new, |old| differences(old, &put.bundle));
                if recovered || reset {
                    events.insert(0, KeyEvent::RecoveryKeyUsed);
                }
            }
            let recovery = recovery.filter(|_| !reset);
            // Without a wrapped account key there is nothing that the recovery key could open.
            let recovery = put.bundle.recovery.as_ref().and(recovery.or(kept_recovery));
            tx.conn.execute(
                "INSERT INTO key_bundles (account, version, bundle, auth, recovery, updated_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (account) DO UPDATE SET version = excluded.version, \
                 bundle = excluded.bundle, auth = excluded.auth, recovery = excluded.recovery, \
                 updated_at = excluded.updated_at",
                params![account.as_bytes(), put.bundle.version, text, auth, recovery, tx.now],
            )?;
            if events.contains(&KeyEvent::RecoveryKeySetUp) {
                tx.conn.execute(
                    "UPDATE key_bundles SET recovery_set_at = ?2 WHERE account = ?1",
                    params![account.as_bytes(), tx.now],
                )?;
            }
            tx.audit_keys(account, put.bundle.version, &events)
        })
    }
}
