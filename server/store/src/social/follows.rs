//! Following: who follows whom, and whom one might.

use super::{Pair, other_display_name, refuse_blocked, relationship, social_connection};
use crate::db::{self, Row, params};
use crate::error::{Error, Result};
use crate::page::read_page;
use crate::rows::id;
use crate::{Store, Tx};
use cairn_model::AccountId;
use cairn_wire::Timestamp;
use cairn_wire::notifications::NotificationKind;
use cairn_wire::social::FeedEntryKind;
use cairn_wire::social::{Connection as SocialConnection, Contact, Suggestion, Visibility};
use serde_json::json;

/// Public people whom `?1` neither follows, blocks nor mutes, and who do not block `?1`.
const FROM_SUGGESTED: &str = "FROM accounts a JOIN profiles p ON p.account = a.id \
     WHERE a.id <> ?1 AND p.visibility = 'public' AND a.deletion_requested_at IS NULL \
     AND NOT EXISTS (SELECT 1 FROM follows f WHERE f.follower = ?1 AND f.followee = a.id) \
     AND NOT EXISTS (SELECT 1 FROM blocks b WHERE (b.blocker = ?1 AND b.blocked = a.id) \
     OR (b.blocker = a.id AND b.blocked = ?1)) \
     AND NOT EXISTS (SELECT 1 FROM mutes m WHERE m.muter = ?1 AND m.muted = a.id)";

/// The side of following to list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    Followers,
    Following,
}

impl Side {
    /// The column of the person listed, and of the person asked about.
    fn columns(self) -> (&'static str, &'static str) {
        match self {
            Self::Followers => ("follower", "followee"),
            Self::Following => ("followee", "follower"),
        }
    }
}

fn contact(row: &Row<'_>) -> db::Result<Contact> {
    Ok(Contact {
        user_id: id(row, 0)?,
        display_name: row.get(1)?,
        username: row.get(2)?,
        relationship: relationship(row.get(3)?, row.get(4)?),
        since: Timestamp(row.get(5)?),
    })
}

impl Tx<'_> {
    fn follow(&self, me: AccountId, other: AccountId) -> Result<SocialConnection> {
        let name = other_display_name(self.conn, me, other)?;
        refuse_blocked(self.conn, me, other)?;
        let before = social_connection(self.conn, me, other)?;
        if before.is_blocked {
            return Err(Error::conflict(format!(
                "you block the user {other}; unblock them first"
            )));
        }
        let visibility: Visibility = self.conn.query_row(
            "SELECT coalesce((SELECT visibility FROM profiles WHERE account = ?1), 'public')",
            [other.as_bytes()],
            |row| crate::rows::word(row, 0),
        )?;
        if visibility == Visibility::Private && !before.is_following {
            return Err(Error::Forbidden(format!(
                "the profile of {other} is private; nobody can follow it"
            )));
        }
        if before.is_following {
            return Ok(before);
        }
        self.conn.execute(
            "INSERT INTO follows (follower, followee, created_at) VALUES (?1, ?2, ?3)",
            params![me.as_bytes(), other.as_bytes(), self.now],
        )?;
        let data = json!({"user_id": me, "mutual": before.is_followed_by});
        let title = if before.is_followed_by {
            "Somebody whom you follow follows you back"
        } else {
            "You have a new follower"
        };
        self.notify(other, NotificationKind::Follow, title, &data)?;
        self.publish(
            me,
            FeedEntryKind::Followed,
            &json!({"user_id": other, "display_name": name}),
        )?;
        social_connection(self.conn, me, other)
    }
}

impl Store {
    /// Follows somebody; following again changes nothing.
    ///
    /// # Errors
    /// 404, 400 for oneself, 403 where the other blocks or is private, 409 for somebody one blocks.
    pub fn follow(&self, me: AccountId, other: AccountId) -> Result<SocialConnection> {
        self.write(|tx| tx.follow(me, other))
    }

    /// Stops following a user.
    ///
    /// # Errors
    /// 404, 400 for oneself.
    pub fn unfollow(&self, me: AccountId, other: AccountId) -> Result<SocialConnection> {
        self.end_relation(Pair::Follows, me, other)
    }

    /// Returns how the caller stands to somebody.
    ///
    /// # Errors
    /// 404, 400 for oneself.
    pub fn social_connection(&self, me: AccountId, other: AccountId) -> Result<SocialConnection> {
        self.read(|conn| {
            other_display_name(conn, me, other)?;
            social_connection(conn, me, other)
        })
    }

    /// One page of followers or followed, latest first, and their number.
    pub fn contacts(
        &self,
        me: AccountId,
        side: Side,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<Contact>, u64)> {
        let (listed, asked) = side.columns();
        self.read(|conn| {
            let count = format!("SELECT count(*) FROM follows WHERE {asked} = ?1");
            let list = format!(
                "SELECT a.id, a.display_name, p.username, \
                 EXISTS (SELECT 1 FROM follows x WHERE x.follower = ?1 AND x.followee = a.id), \
                 EXISTS (SELECT 1 FROM follows x WHERE x.follower = a.id AND x.followee = ?1), f.created_at \
                 FROM follows f JOIN accounts a ON a.id = f.{listed} \
                 LEFT JOIN profiles p ON p.account = a.id WHERE f.{asked} = ?1 \
                 ORDER BY f.created_at DESC, a.id LIMIT ?3 OFFSET ?2"
            );
            let which = params![me.as_bytes()];
            read_page(conn, (&count, &list), which, (skip, take), contact)
        })
    }

    /// People whom one might follow: those whom one's own people follow, teammates, and whoever is
    /// followed and active most.
    pub fn suggestions(
        &self,
        me: AccountId,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<Suggestion>, u64)> {
        self.read(|conn| {
            let count = format!("SELECT count(*) {FROM_SUGGESTED}");
            let list = format!(
                "SELECT a.id, a.display_name, p.username, \
                 (SELECT count(*) FROM follows mine JOIN follows theirs ON theirs.follower = mine.followee \
                  WHERE mine.follower = ?1 AND theirs.followee = a.id) AS mutual, \
                 (SELECT count(*) FROM team_members mine JOIN team_members theirs ON theirs.team = mine.team \
                  WHERE mine.account = ?1 AND theirs.account = a.id) AS teams, \
                 (SELECT count(*) FROM follows f WHERE f.followee = a.id) AS followers, \
                 (SELECT count(*) FROM activities t WHERE t.account = a.id) AS acts \
                 {FROM_SUGGESTED} \
                 ORDER BY mutual DESC, teams DESC, followers DESC, acts DESC, a.created_at, a.id \
                 LIMIT ?3 OFFSET ?2"
            );
            let which = params![me.as_bytes()];
            read_page(conn, (&count, &list), which, (skip, take), |row| {
                Ok(Suggestion {
                    user_id: id(row, 0)?,
                    display_name: row.get(1)?,
                    username: row.get(2)?,
                    mutual_connections: row.get(3)?,
                    shared_teams: row.get(4)?,
                    follower_count: row.get(5)?,
                })
            })
        })
    }
}
