//! Service accounts: credentials with which a program gets tokens of the account that made them.

use super::Store;
use super::access::{self, Table};
use super::caps::Cap;
use super::logins::Hash;
use super::page::read_page;
use super::rows::{id as read_id, word};
use crate::db::{self, Optional as _, Row, params};
use crate::error::{Error, Result};
use crate::scope::Scopes;
use cairn_model::{AccountId, ServiceScope};
use cairn_wire::Timestamp;
use cairn_wire::identity::ServiceAccount;
use uuid::Uuid;

/// The prefix of a service account's client id.
pub const CLIENT_PREFIX: &str = "sa_";
const MAX_ACTIVE: Cap = Cap {
    rows: "service_accounts WHERE account = ?1 AND deleted_at IS NULL",
    most: 20,
    whose: "the account has",
    name: "service accounts",
};

const COLUMNS: &str = "id, name, scope, created_at, last_used_at";

fn service_account(row: &Row<'_>) -> db::Result<ServiceAccount> {
    let id = Uuid::from_bytes(row.get(0)?);
    Ok(ServiceAccount {
        id: id.to_string(),
        name: row.get(1)?,
        client_id: format!("{CLIENT_PREFIX}{}", id.simple()),
        scope: word(row, 2)?,
        created_at: Timestamp(row.get(3)?),
        last_used_at: row.get::<Option<i64>>(4)?.map(Timestamp),
    })
}

impl Store {
    /// Makes a service account.
    ///
    /// # Errors
    /// 409 for an account with as many as it may have.
    pub fn add_service_account(
        &self,
        account: AccountId,
        name: &str,
        scope: ServiceScope,
        secret: &Hash,
    ) -> Result<ServiceAccount> {
        self.write(|tx| {
            MAX_ACTIVE.check(tx.conn, params![account.as_bytes()])?;
            let id = tx.fresh_uuid();
            let sql = format!(
                "INSERT INTO service_accounts (id, account, name, secret, scope, created_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING {COLUMNS}"
            );
            Ok(tx.conn.query_row(
                &sql,
                params![
                    id.as_bytes(),
                    account.as_bytes(),
                    name,
                    secret,
                    scope.as_str(),
                    tx.now
                ],
                service_account,
            )?)
        })
    }

    /// One page of an account's service accounts, oldest first, and their number.
    pub fn service_accounts(
        &self,
        account: AccountId,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<ServiceAccount>, u64)> {
        self.read(|conn| {
            let count =
                "SELECT count(*) FROM service_accounts WHERE account = ?1 AND deleted_at IS NULL";
            let list = format!(
                "SELECT {COLUMNS} FROM service_accounts WHERE account = ?1 AND deleted_at IS NULL \
                 ORDER BY created_at, id LIMIT ?3 OFFSET ?2"
            );
            let which = params![account.as_bytes()];
            read_page(conn, (count, &list), which, (skip, take), service_account)
        })
    }

    /// Deletes a service account.
    ///
    /// # Errors
    /// 404 for one that does not exist, 403 for one of somebody else.
    pub fn delete_service_account(&self, account: AccountId, id: Uuid) -> Result<()> {
        self.write(|tx| {
            let changed = tx.conn.execute(
                "UPDATE service_accounts SET deleted_at = ?3 WHERE account = ?1 AND id = ?2 AND deleted_at IS NULL",
                params![account.as_bytes(), id.as_bytes(), tx.now],
            )?;
            if changed == 0 {
                let mine = tx.conn.query_row(
                    "SELECT EXISTS (SELECT 1 FROM service_accounts WHERE account = ?1 AND id = ?2)",
                    params![account.as_bytes(), id.as_bytes()],
                    |row| row.get(0),
                )?;
                let what = format!("service account {id}");
                return Err(if mine {
                    Error::not_found(format!("there is no {what}"))
                } else {
                    access::absent_error(tx.conn, Table::ServiceAccounts, id.as_bytes(), &what)
                });
            }
            Ok(())
        })
    }

    /// The account and the scope of a service account whose secret has this hash.
    pub fn use_service_account(
        &self,
        id: Uuid,
        secret: &Hash,
    ) -> Result<Option<(AccountId, Scopes)>> {
        self.write(|tx| {
            Ok(tx
                .conn
                .query_row(
                    "UPDATE service_accounts SET last_used_at = ?3 WHERE id = ?1 AND secret = ?2 \
                     AND deleted_at IS NULL RETURNING account, scope",
                    params![id.as_bytes(), secret, tx.now],
                    |row| {
                        let scope = Scopes::parse(&row.get::<String>(1)?);
                        Ok((read_id(row, 0)?, scope.unwrap_or_default()))
                    },
                )
                .optional()?)
        })
    }
}
