//! The audit log of an account: what happened to its key bundle (its encryption keys, wrapped by the client).

use super::page::read_page;
use super::rows::{fresh_id, id, word};
use super::{Store, Tx};
use crate::db::params;
use crate::error::Result;
use cairn_model::{AccountId, KeyEvent};
use cairn_wire::Timestamp;
use cairn_wire::account::AuditEvent;
use cairn_wire::keys::KeyBundle;
use cairn_wire::notifications::NotificationKind;
use serde_json::json;

/// Returns the title of the notification about a key event.
fn title(event: KeyEvent) -> &'static str {
    match event {
        KeyEvent::Created => "Your encryption keys were made",
        KeyEvent::Rotated => "Your encryption keys were replaced",
        KeyEvent::PassphraseChanged => "Your passphrase was changed",
        KeyEvent::RecoveryKeySetUp => "A recovery key was set up",
        KeyEvent::RecoveryKeyUsed => "Your recovery key was used",
        KeyEvent::RecoveryKeyRemoved => "Your recovery key was removed",
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
                    event.as_str(),
                    version,
                    self.now
                ],
            )?;
            if *event != KeyEvent::Created {
                let data = json!({"event": event, "version": version});
                self.notify(account, NotificationKind::Security, title(*event), &data)?;
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
                    event: word(row, 1)?,
                    key_version: row.get(2)?,
                    created_at: Timestamp(row.get(3)?),
                })
            })
        })
    }
}
