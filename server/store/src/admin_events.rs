//! The log of what administrators changed, and the role itself.

use super::page::read_page;
use super::rows::{self, fresh_id, id, name_of, optional_id, word};
use super::{Store, Tx};
use crate::db::{self, Row, params};
use crate::error::Result;
use cairn_model::AccountId;
use cairn_wire::Timestamp;
use cairn_wire::admin::{AdminAction, AdminEvent};
use serde_json::{Value, json};

/// The origin of a change to an account of somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Administrator {
    /// On the machine of the server, beside it.
    CommandLine,
    /// Over REST.
    Account(AccountId),
}

fn event(row: &Row<'_>) -> db::Result<AdminEvent> {
    Ok(AdminEvent {
        id: id(row, 0)?,
        action: word(row, 1)?,
        account: optional_id(row, 2)?,
        email: row.get(3)?,
        by: optional_id(row, 4)?,
        by_email: row.get(5)?,
        data: rows::json(row, 6)?,
        created_at: Timestamp(row.get(7)?),
    })
}

impl Tx<'_> {
    /// Writes down what was changed about an account, in the transaction that changes it.
    pub(crate) fn note_admin_action(
        &self,
        by: Administrator,
        action: AdminAction,
        account: AccountId,
        data: &Value,
    ) -> Result<()> {
        self.note_action(by, action, Some(account), data)
    }

    /// Writes down that an address was invited. The entry goes with the account that comes of it.
    pub fn note_invitation(&self, by: Administrator, email: &str) -> Result<()> {
        let data = json!({ "email": email });
        self.note_action(by, AdminAction::Invited, None, &data)
    }

    fn note_action(
        &self,
        by: Administrator,
        action: AdminAction,
        account: Option<AccountId>,
        data: &Value,
    ) -> Result<()> {
        let actor = match by {
            Administrator::CommandLine => None,
            Administrator::Account(account) => Some(account),
        };
        self.conn
            .prepare_cached(
                "INSERT INTO admin_events (id, actor, subject, action, data, created_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                fresh_id(self.source).as_bytes(),
                actor.as_ref().map(AccountId::as_bytes),
                account.as_ref().map(AccountId::as_bytes),
                name_of(&action),
                data.to_string(),
                self.now
            ])?;
        Ok(())
    }

    /// Makes an account an administrator of the others, or an ordinary one again. Returns false if it was that
    /// already.
    pub(super) fn set_admin_role(&self, account: AccountId, admin: bool) -> Result<bool> {
        let changed = if admin {
            self.conn.execute(
                "UPDATE accounts SET admin_since = ?2 WHERE id = ?1 AND admin_since IS NULL",
                params![account.as_bytes(), self.now],
            )?
        } else {
            self.conn.execute(
                "UPDATE accounts SET admin_since = NULL WHERE id = ?1 AND admin_since IS NOT NULL",
                [account.as_bytes()],
            )?
        };
        Ok(changed > 0)
    }
}

impl Store {
    /// One page of what administrators changed, latest first, and the number of entries.
    pub fn admin_events(&self, skip: u64, take: u64) -> Result<(Vec<AdminEvent>, u64)> {
        self.read(|conn| {
            let count = "SELECT count(*) FROM admin_events";
            let list = "SELECT e.id, e.action, e.subject, s.email, e.actor, a.email, e.data, e.created_at \
                        FROM admin_events e LEFT JOIN accounts s ON s.id = e.subject \
                        LEFT JOIN accounts a ON a.id = e.actor ORDER BY e.row DESC LIMIT ?2 OFFSET ?1";
            read_page(conn, (count, list), &[], (skip, take), event)
        })
    }
}
