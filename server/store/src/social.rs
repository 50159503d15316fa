//! Relations between users: profiles, following, blocking, the feed.
//!
//! A user who is blocked can't see the profile, follow, tip, subscribe, comment on the other's files, mail a share
//! link to the other or invite them to a team (403). Only the owner sees a private profile.

mod feed;
mod follows;
mod profiles;
mod relations;
mod reports;

pub use follows::Side;
pub use profiles::Handle;

use super::rows::{fresh_id, name_of};
use super::{Store, Tx};
use crate::db::{Connection, Optional as _, params};
use crate::error::{Error, Result};
use cairn_model::AccountId;
use cairn_wire::social::{Connection as SocialConnection, FeedEntryKind, Relationship};
use serde_json::Value;

/// Returns whether `from` follows, blocks or mutes `to`.
fn pair_exists(conn: &Connection, table: Pair, from: AccountId, to: AccountId) -> Result<bool> {
    let sql = format!("SELECT EXISTS (SELECT 1 FROM {})", table.of_pair());
    Ok(conn
        .prepare_cached(&sql)?
        .query_row(params![from.as_bytes(), to.as_bytes()], |row| row.get(0))?)
}

/// The tables of relations from one user to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pair {
    Follows,
    Blocks,
    Mutes,
}

impl Pair {
    /// Returns the table and the condition for the one row of two users.
    fn of_pair(self) -> &'static str {
        match self {
            Self::Follows => "follows WHERE follower = ?1 AND followee = ?2",
            Self::Blocks => "blocks WHERE blocker = ?1 AND blocked = ?2",
            Self::Mutes => "mutes WHERE muter = ?1 AND muted = ?2",
        }
    }
}

/// Refuses `who` if `by` has blocked them.
///
/// # Errors
/// 403.
pub(super) fn refuse_blocked(conn: &Connection, who: AccountId, by: AccountId) -> Result<()> {
    if pair_exists(conn, Pair::Blocks, by, who)? {
        return Err(Error::Forbidden(format!("the user {by} has blocked you")));
    }
    Ok(())
}

impl Tx<'_> {
    /// Refuses `who` if the account with this e-mail address has blocked them.
    ///
    /// # Errors
    /// 403.
    pub fn refuse_blocked_at(&self, who: AccountId, email: &str) -> Result<()> {
        match self.account_with_email(email)? {
            Some(by) if pair_exists(self.conn, Pair::Blocks, by, who)? => {
                Err(Error::Forbidden(format!("{email} has blocked you")))
            }
            Some(_) | None => Ok(()),
        }
    }
}

fn relationship(following: bool, followed_by: bool) -> Relationship {
    match (following, followed_by) {
        (true, true) => Relationship::Friends,
        (true, false) => Relationship::Following,
        (false, true) => Relationship::FollowsYou,
        (false, false) => Relationship::None,
    }
}

fn social_connection(
    conn: &Connection,
    me: AccountId,
    other: AccountId,
) -> Result<SocialConnection> {
    let is_following = pair_exists(conn, Pair::Follows, me, other)?;
    let is_followed_by = pair_exists(conn, Pair::Follows, other, me)?;
    Ok(SocialConnection {
        user_id: other,
        relationship: relationship(is_following, is_followed_by),
        is_following,
        is_followed_by,
        is_blocked: pair_exists(conn, Pair::Blocks, me, other)?,
        is_muted: pair_exists(conn, Pair::Mutes, me, other)?,
    })
}

/// Returns the display name of another user.
///
/// # Errors
/// 400 for the caller, 404 if there is no such user.
fn other_display_name(conn: &Connection, me: AccountId, other: AccountId) -> Result<String> {
    if me == other {
        return Err(Error::invalid("you can't do this with your own account"));
    }
    conn.prepare_cached("SELECT display_name FROM accounts WHERE id = ?1")?
        .query_row([other.as_bytes()], |row| row.get(0))
        .optional()?
        .ok_or_else(|| no_user(other))
}

fn no_user(user: AccountId) -> Error {
    Error::not_found(format!("there is no user {user}"))
}

impl Store {
    /// Changes how an account stands to another one, and returns how it stands then.
    ///
    /// # Errors
    /// 404, 400 for oneself.
    fn change_connection(
        &self,
        me: AccountId,
        other: AccountId,
        change: impl FnOnce(&Tx<'_>) -> Result<()>,
    ) -> Result<SocialConnection> {
        self.write(|tx| {
            other_display_name(tx.conn, me, other)?;
            change(tx)?;
            social_connection(tx.conn, me, other)
        })
    }

    /// Takes an account out of a relation to another one.
    fn end_relation(
        &self,
        table: Pair,
        me: AccountId,
        other: AccountId,
    ) -> Result<SocialConnection> {
        self.change_connection(me, other, |tx| {
            tx.conn.execute(
                &format!("DELETE FROM {}", table.of_pair()),
                params![me.as_bytes(), other.as_bytes()],
            )?;
            Ok(())
        })
    }
}

impl Tx<'_> {
    /// Creates the profile of an account if it has none.
    pub(super) fn ensure_profile(&self, account: AccountId) -> Result<()> {
        self.conn
            .prepare_cached(
                "INSERT INTO profiles (account, tip_jar) VALUES (?1, ?2) ON CONFLICT (account) DO NOTHING",
            )?
            .execute(params![account.as_bytes(), fresh_id(self.source).as_bytes()])?;
        Ok(())
    }

    /// Adds an activity of an account to the feeds of its followers.
    pub(crate) fn publish(
        &self,
        account: AccountId,
        kind: FeedEntryKind,
        data: &Value,
    ) -> Result<()> {
        self.conn
            .prepare_cached(
                "INSERT INTO activities (id, account, kind, data, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                fresh_id(self.source).as_bytes(),
                account.as_bytes(),
                name_of(&kind),
                data.to_string(),
                self.now
            ])?;
        Ok(())
    }
}
