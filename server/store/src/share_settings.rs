//! Settings that an account's links have in common: their defaults and the look of their pages.

use super::{Store, Tx};
use crate::db::{Connection, Optional as _, params};
use crate::error::Result;
use cairn_model::AccountId;
use cairn_wire::shares::{ShareDefaults, ShareTheme};
use serde::de::DeserializeOwned;

/// The kind of settings: each is stored as one JSON object.
#[derive(Clone, Copy)]
enum Part {
    Defaults,
    Theme,
}

impl Part {
    fn column(self) -> &'static str {
        match self {
            Self::Defaults => "defaults",
            Self::Theme => "theme",
        }
    }
}

fn get<T: DeserializeOwned + Default>(
    conn: &Connection,
    account: AccountId,
    part: Part,
) -> Result<T> {
    let text: Option<String> = conn
        .prepare_cached(&format!(
            "SELECT {} FROM share_settings WHERE account = ?1",
            part.column()
        ))?
        .query_row([account.as_bytes()], |row| row.get(0))
        .optional()?;
    Ok(text
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default())
}

fn set<T: serde::Serialize>(tx: &Tx<'_>, account: AccountId, part: Part, value: &T) -> Result<()> {
    let column = part.column();
    tx.conn
        .prepare_cached(&format!(
            "INSERT INTO share_settings (account, {column}) VALUES (?1, ?2) \
             ON CONFLICT (account) DO UPDATE SET {column} = excluded.{column}"
        ))?
        .execute(params![
            account.as_bytes(),
            serde_json::to_string(value).unwrap_or_default()
        ])?;
    Ok(())
}

impl Tx<'_> {
    pub fn share_defaults(&self, account: AccountId) -> Result<ShareDefaults> {
        get(self.conn, account, Part::Defaults)
    }

    pub fn set_share_defaults(&self, account: AccountId, defaults: &ShareDefaults) -> Result<()> {
        set(self, account, Part::Defaults, defaults)
    }

    pub fn share_theme(&self, account: AccountId) -> Result<ShareTheme> {
        get(self.conn, account, Part::Theme)
    }

    pub fn set_share_theme(&self, account: AccountId, theme: &ShareTheme) -> Result<()> {
        set(self, account, Part::Theme, theme)
    }
}

impl Store {
    pub fn share_defaults(&self, account: AccountId) -> Result<ShareDefaults> {
        self.read(|conn| get(conn, account, Part::Defaults))
    }

    pub fn share_theme(&self, account: AccountId) -> Result<ShareTheme> {
        self.read(|conn| get(conn, account, Part::Theme))
    }
}
