//! The account's key bundle: its encryption keys, wrapped by the client, which the server keeps and can't open.

use super::audit::differences;
use super::rows::json;
use super::{Store, Tx};
use crate::db::{Connection, Optional as _, params};
use crate::error::{Error, Result};
use cairn_model::{AccountId, KeyEvent};
use cairn_wire::keys::{KeyBundle, PutKeys};
use sha2::{Digest as _, Sha256};

/// The keys in force.
struct Stored {
    version: u64,
    auth: [u8; 32],
    recovery: Option<[u8; 32]>,
    /// The verifier of a reset key: a recovery key that this server made.
    reset: Option<[u8; 32]>,
    bundle: Option<KeyBundle>,
}

/// The hashes of the proofs that a request sends.
struct Proofs {
    /// The hash for the passphrase that is to be in force.
    auth: [u8; 32],
    /// The hash for the passphrase in force.
    current: Option<[u8; 32]>,
    recovery: Option<[u8; 32]>,
}

/// The secret by which somebody may replace the keys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Proven {
    Passphrase,
    RecoveryKey,
    /// A recovery key that this server made: it proves whose account it is, but does not open the key bundle.
    ResetKey,
}

/// AUTH and the recovery verifier are as good as random, so one hash is enough to store them.
pub(super) fn verifier(field: &str, hexadecimal: &str) -> Result<[u8; 32]> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(hexadecimal, &mut bytes)
        .map_err(|_| Error::invalid(format!("`{field}` has to be 64 hexadecimal digits")))?;
    Ok(Sha256::digest(bytes).into())
}

impl Proofs {
    fn of(put: &PutKeys) -> Result<Self> {
        let optional = |field: &str, text: &Option<String>| {
            text.as_deref()
                .map(|text| verifier(field, text))
                .transpose()
        };
        Ok(Self {
            auth: verifier("auth", &put.auth)?,
            current: optional("current_auth", &put.current_auth)?,
            recovery: optional("recovery_auth", &put.recovery_auth)?,
        })
    }

    /// # Errors
    /// 403 if they prove nothing.
    fn prove(&self, stored: &Stored) -> Result<Proven> {
        let by_recovery = self.recovery.filter(|_| self.current.is_none());
        if self.current == Some(stored.auth) {
            Ok(Proven::Passphrase)
        } else if by_recovery.is_some() && by_recovery == stored.reset {
            Ok(Proven::ResetKey)
        } else if by_recovery.is_some() && by_recovery == stored.recovery {
            Ok(Proven::RecoveryKey)
        } else {
            Err(Error::Forbidden(
                "replacing the keys needs `current_auth` of the passphrase in force, or `recovery_auth`"
                    .into(),
            ))
        }
    }
}

fn stored_keys(conn: &Connection, account: AccountId) -> Result<Option<Stored>> {
    Ok(conn
        .query_row(
            "SELECT version, auth, recovery, reset_verifier, bundle FROM key_bundles WHERE account = ?1",
            [account.as_bytes()],
            |row| {
                Ok(Stored {
                    version: row.get(0)?,
                    auth: row.get(1)?,
                    recovery: row.get(2)?,
                    reset: row.get(3)?,
                    bundle: json(row, 4)?,
                })
            },
        )
        .optional()?)
}

fn check_version(stored: Option<&Stored>, expected: Option<u64>) -> Result<()> {
    let version = stored.map_or(0, |stored| stored.version);
    match expected {
        Some(expected) if expected != version => Err(Error::Stale {
            message: format!("the keys are at version {version}, not {expected}; read them again"),
            version,
        }),
        Some(_) | None => Ok(()),
    }
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
        let proofs = Proofs::of(put)?;
        self.write(|tx| {
            let stored = stored_keys(tx.conn, account)?;
            check_version(stored.as_ref(), expected)?;
            let (recovery, events) = match &stored {
                None => (proofs.recovery, vec![KeyEvent::Created]),
                Some(stored) => tx.replace_keys(account, stored, put, &proofs)?,
            };
            // Without a wrapped account key there is nothing that the recovery key could open.
            let recovery = put.bundle.recovery.as_ref().and(recovery);
            tx.write_keys(account, &put.bundle, proofs.auth, recovery)?;
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

impl Tx<'_> {
    /// Checks that keys may be replaced; returns the recovery verifier to be in force, and what is to be
    /// recorded.
    fn replace_keys(
        &self,
        account: AccountId,
        stored: &Stored,
        put: &PutKeys,
        proofs: &Proofs,
    ) -> Result<(Option<[u8; 32]>, Vec<KeyEvent>)> {
        let proven = proofs.prove(stored)?;
        if put.bundle.version <= stored.version {
            return Err(Error::conflict(format!(
                "the keys are at version {}, and `bundle.version` is {}; it has to grow",
                stored.version, put.bundle.version
            )));
        }
        let old = stored.bundle.as_ref();
        if old.is_some_and(|old| old.rsa_public != put.bundle.rsa_public) {
            // Nobody can open them any more; where they are missing, they can be granted anew.
            self.conn.execute(
                "DELETE FROM team_grants WHERE account = ?1",
                [account.as_bytes()],
            )?;
        }
        let mut events = old.map_or_else(Vec::new, |old| differences(old, &put.bundle));
        if proven != Proven::Passphrase {
            events.insert(0, KeyEvent::RecoveryKeyUsed);
        }
        let sent = proofs.recovery.filter(|_| proven != Proven::ResetKey);
        Ok((sent.or(stored.recovery), events))
    }

    fn write_keys(
        &self,
        account: AccountId,
        bundle: &KeyBundle,
        auth: [u8; 32],
        recovery: Option<[u8; 32]>,
    ) -> Result<()> {
        let text = serde_json::to_string(bundle)
            .map_err(|e| Error::Internal(format!("a key bundle can't be written: {e}")))?;
        self.conn.execute(
            "INSERT INTO key_bundles (account, version, bundle, auth, recovery, updated_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (account) DO UPDATE SET version = excluded.version, \
             bundle = excluded.bundle, auth = excluded.auth, recovery = excluded.recovery, \
             updated_at = excluded.updated_at",
            params![account.as_bytes(), bundle.version, text, auth, recovery, self.now],
        )?;
        Ok(())
    }
}
