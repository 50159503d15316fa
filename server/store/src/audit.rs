//! The audit log of an account: what happened to its key bundle (its encryption keys, wrapped by the client).

use super::page::read_page;
use super::rows::{fresh_id, id};
use super::{Store, Tx};
use crate::db::params;
use crate::error::Result;
use cairn_model::AccountId;
use cairn_wire::Timestamp;
use cairn_wire::account::AuditEvent;
use cairn_wire::keys::KeyBundle;
use cairn_wire::notifications::NotificationKind;
use serde_json::json;

/// The kind of a change of the key bundle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum KeyEvent {
    Created,
    Rotated,
    PassphraseChanged,
    RecoveryKeySetUp,
    RecoveryKeyUsed,
    RecoveryKeyRemoved,
}

impl KeyEvent {
    fn name(self) -> &'static str {
        match self {
            Self::Created => "keys_created",
            Self::Rotated => "key_rotated",
            Self::PassphraseChanged => "passphrase_changed",
            Self::RecoveryKeySetUp => "recovery_key_set_up",
            Self::RecoveryKeyUsed => "recovery_key_used",
            Self::RecoveryKeyRemoved => "recovery_key_removed",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Created => "Your encryption keys were made",
            Self::Rotated => "Your encryption keys were replaced",
            Self::PassphraseChanged => "Your passphrase was changed",
            Self::RecoveryKeySetUp => "A recovery key was set up",
            Self::RecoveryKeyUsed => "Your recovery key was used",
            Self::RecoveryKeyRemoved => "Your recovery key was removed",
        }
    }
}

/// Lists the differences between two bundles, as far as the server can see them.
pub(super) fn differences(old: &KeyBundle, new: &KeyBundle) -> Vec<KeyEvent> {
    let mut events = Vec::new();
    if old.rsa_public != new.rsa_public || old.signing_public != new.signing_public {
        events.push(KeyEvent::Rotated);
    }
    if old.kdf.salt != new.kdf.salt || old.account_key != new.account_key {
        events.push(KeyEvent::PassphraseChanged);
    }
    if old.recovery != new.recovery {
        events.push(if new.recovery.is_some() {
            KeyEvent::RecoveryKeySetUp
        } else {
            KeyEvent::RecoveryKeyRemoved
        });
    }
    events
}

impl Tx<'_> {
    /// Writes key events down and tells the account of them.
    pub(super) fn audit_keys(
        &self,
        account: AccountId,
        version: u64,
        events: &[KeyEvent],
    ) -> Result<()> {
        for event in events {
            self.conn.execute(
                "INSERT INTO encryption_audit (id, account, kind, version, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![
                    fresh_id(self.source).as_bytes(),
                    account.as_bytes(),
                    event.name(),
                    version,
                    self.now
                ],
            )?;
            if *event != KeyEvent::Created {
                let data = json!({"event": event.name(), "version": version});
                self.notify(account, NotificationKind::Security, event.title(), &data)?;
            }
        }
        Ok(())
    }
}

impl Store {
    /// One page of an account's key events, latest first, and their number.
    pub fn audit_log(
        &self,
        account: AccountId,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<AuditEvent>, u64)> {
        self.read(|conn| {
            let count = "SELECT count(*) FROM encryption_audit WHERE account = ?1";
            let list = "SELECT id, kind, version, created_at FROM encryption_audit WHERE account = ?1 \
                        ORDER BY row DESC LIMIT ?3 OFFSET ?2";
            let which = params![account.as_bytes()];
            read_page(conn, (count, list), which, (skip, take), |row| {
                Ok(AuditEvent {
                    id: id(row, 0)?,
                    event: row.get(1)?,
                    key_version: row.get(2)?,
                    created_at: Timestamp(row.get(3)?),
                })
            })
        })
    }
}
