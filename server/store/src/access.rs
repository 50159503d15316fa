//! Refusals of things that belong to others (403) or do not exist (404).

use crate::db::{Connection, params};
use crate::error::{Error, Result};

/// A table whose rows are found by the column `id`.
#[derive(Clone, Copy)]
pub(super) enum Table {
    ApiKeys,
    Invitations,
    Notifications,
    RetentionRules,
    ServiceAccounts,
    Spaces,
    Teams,
    Webhooks,
}

impl Table {
    fn name(self) -> &'static str {
        match self {
            Self::ApiKeys => "api_keys",
            Self::Invitations => "team_invitations",
            Self::Notifications => "notifications",
            Self::RetentionRules => "retention_rules",
            Self::ServiceAccounts => "service_accounts",
            Self::Spaces => "spaces",
            Self::Teams => "teams",
            Self::Webhooks => "webhooks",
        }
    }
}

/// Returns the refusal of something that exists and is not the caller's.
pub(super) fn forbidden_error(what: &str) -> Error {
    Error::Forbidden(format!("you have no access to the {what}"))
}

/// Returns true if somebody has a row with this id.
fn exists(conn: &Connection, table: Table, id: &[u8; 16]) -> Result<bool> {
    let sql = format!(
        "SELECT EXISTS (SELECT 1 FROM {} WHERE id = ?1)",
        table.name()
    );
    Ok(conn
        .prepare_cached(&sql)?
        .query_row(params![id], |row| row.get(0))?)
}

/// Returns the error for something that the caller has not: `what`, such as `webhook ID`.
pub(super) fn absent_error(conn: &Connection, table: Table, id: &[u8; 16], what: &str) -> Error {
    match exists(conn, table, id) {
        Ok(true) => forbidden_error(what),
        Ok(false) => Error::not_found(format!("there is no {what}")),
        Err(error) => error,
    }
}
