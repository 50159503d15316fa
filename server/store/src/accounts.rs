//! Accounts, and the personal space of each: the tree of the account's own files.

use super::rows::id;
use super::{Space, Store, Tx};
use crate::db::{self, Connection, Optional as _, Row, params};
use crate::error::{Error, Result};
use crate::options::{Limits, to_sql_limit};
use cairn_model::address::normalize;
use cairn_model::{AccountId, SpaceId};

/// An account's row.
#[derive(Clone, Debug)]
pub struct Account {
    pub id: AccountId,
    pub email: String,
    pub display_name: String,
    pub space: Space,
    pub created_at: i64,
    /// The administrator has switched it off.
    pub disabled: bool,
    /// Somebody has proved to read the mails of its address.
    pub email_verified: bool,
    /// True if it administers other accounts.
    pub admin: bool,
}

/// The values that a new account is made of; `password` is a bcrypt hash.
pub struct NewAccount<'a> {
    pub email: &'a str,
    pub password: &'a str,
    pub limits: Limits,
}

const COLUMNS: &str = "a.id, a.email, a.display_name, a.created_at, s.row, s.id, \
     a.disabled_at IS NOT NULL, a.email_verified_at IS NOT NULL, \
     a.admin_since IS NOT NULL";

fn account(row: &Row<'_>) -> db::Result<Account> {
    Ok(Account {
        id: id(row, 0)?,
        email: row.get(1)?,
        display_name: row.get(2)?,
        created_at: row.get(3)?,
        space: Space {
            row: row.get(4)?,
            id: id(row, 5)?,
        },
        disabled: row.get(6)?,
        email_verified: row.get(7)?,
        admin: row.get(8)?,
    })
}

/// Finds the account with an address, however that is spelt. The spelling as it is goes first: the database may have
/// accounts from before addresses were kept in one form.
fn by_email(conn: &Connection, email: &str) -> Result<Option<Account>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM accounts a JOIN spaces s ON s.row = a.space WHERE a.email = ?1"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    match statement.query_row([email.trim()], account).optional()? {
        Some(found) => Ok(Some(found)),
        None => Ok(statement
            .query_row([normalize(email)], account)
            .optional()?),
    }
}

impl Store {
    /// Returns true if there is any account.
    pub fn has_accounts(&self) -> Result<bool> {
        self.read(|conn| {
            Ok(
                conn.query_row("SELECT EXISTS (SELECT 1 FROM accounts)", [], |row| {
                    row.get(0)
                })?,
            )
        })
    }

    /// Makes an account with an empty personal space.
    ///
    /// # Errors
    /// A conflict if the address is taken.
    pub fn add_account(&self, new: &NewAccount<'_>) -> Result<Account> {
        self.write(|tx| tx.add_account(new))
    }

    /// Returns the account with an address.
    ///
    /// # Errors
    /// [`Error::NotFound`] if nobody has the address.
    pub fn account_by_email(&self, email: &str) -> Result<Account> {
        self.read(|conn| by_email(conn, email))?.ok_or_else(|| {
            Error::not_found(format!(
                "there is no account {email}; make it with `cairn-server user add {email}`"
            ))
        })
    }

    /// The account with an address, and the hash of its password.
    pub fn account_with_password(&self, email: &str) -> Result<Option<(Account, String)>> {
        self.read(|conn| {
            let Some(found) = by_email(conn, email)? else {
                return Ok(None);
            };
            let hash = conn
                .prepare_cached("SELECT password FROM accounts WHERE id = ?1")?
                .query_row([found.id.as_bytes()], |row| row.get(0))?;
            Ok(Some((found, hash)))
        })
    }

    pub fn account(&self, id: AccountId) -> Result<Option<Account>> {
        self.read_one(|conn| {
            let sql = format!(
                "SELECT {COLUMNS} FROM accounts a JOIN spaces s ON s.row = a.space WHERE a.id = ?1"
            );
            Ok(conn
                .prepare_cached(&sql)?
                .query_row([id.as_bytes()], account)
                .optional()?)
        })
    }
}

impl Tx<'_> {
    /// Makes an account with an empty personal space.
    ///
    /// # Errors
    /// A conflict if the address is taken.
    pub fn add_account(&self, new: &NewAccount<'_>) -> Result<Account> {
        let email = normalize(new.email);
        if by_email(self.conn, &email)?.is_some() {
            return Err(Error::conflict(format!(
                "an account {email} exists already"
            )));
        }
        let space: SpaceId = self.source.id(SpaceId::from_random_bytes);
        let account: AccountId = self.source.id(AccountId::from_random_bytes);
        let row: i64 = self.conn.query_row(
            "INSERT INTO spaces (id, kind, created_at) VALUES (?1, 'personal', ?2) RETURNING row",
            params![space.as_bytes(), self.now],
            |row| row.get(0),
        )?;
        let display_name = email.split('@').next().unwrap_or_default().to_owned();
        self.conn.execute(
                "INSERT INTO accounts (id, email, display_name, password, space, created_at, storage_limit, \
                 bandwidth_limit, file_count_limit) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                params![
                    account.as_bytes(),
                    email,
                    display_name,
                    new.password,
                    row,
                    self.now,
                    to_sql_limit(new.limits.storage),
                    to_sql_limit(new.limits.bandwidth),
                    to_sql_limit(new.limits.files)
                ],
            )?;
        self.ensure_profile(account)?;
        Ok(Account {
            id: account,
            email,
            display_name,
            space: Space { row, id: space },
            created_at: self.now,
            disabled: false,
            email_verified: false,
            admin: false,
        })
    }

    /// Notes that somebody has proved to read the mails of an account's address.
    pub fn verify_email(&self, account: AccountId) -> Result<()> {
        self.conn.execute(
            "UPDATE accounts SET email_verified_at = coalesce(email_verified_at, ?2) WHERE id = ?1",
            params![account.as_bytes(), self.now],
        )?;
        Ok(())
    }

    /// Returns the account with an address, in whatever case that is written.
    pub fn whole_account_with_email(&self, email: &str) -> Result<Option<Account>> {
        by_email(self.conn, email)
    }

    /// Returns the name by which an account is called towards others.
    pub fn display_name(&self, account: AccountId) -> Result<String> {
        Ok(self
            .conn
            .prepare_cached("SELECT display_name FROM accounts WHERE id = ?1")?
            .query_row([account.as_bytes()], |row| row.get(0))?)
    }

    /// The account with an e-mail address, if there is one.
    pub fn account_with_email(&self, email: &str) -> Result<Option<AccountId>> {
        Ok(by_email(self.conn, email)?.map(|account| account.id))
    }
}
