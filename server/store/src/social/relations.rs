//! Keeping people away: blocking, muting, reporting.

use super::{Pair, other_display_name};
use crate::Store;
use crate::db::params;
use crate::error::Result;
use crate::rows::{fresh_id, name_of};
use cairn_model::AccountId;
use cairn_wire::Timestamp;
use cairn_wire::social::{Connection as SocialConnection, Report, ReportState, ReportUser};

impl Store {
    /// Blocks somebody: both stop following each other, and the other can't come near any more.
    ///
    /// # Errors
    /// 404, 400 for oneself.
    pub fn block(&self, me: AccountId, other: AccountId) -> Result<SocialConnection> {
        self.change_connection(me, other, |tx| {
            tx.conn.execute(
                "INSERT INTO blocks (blocker, blocked, created_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                params![me.as_bytes(), other.as_bytes(), tx.now],
            )?;
            tx.conn.execute(
                "DELETE FROM follows WHERE (follower = ?1 AND followee = ?2) OR (follower = ?2 AND followee = ?1)",
                params![me.as_bytes(), other.as_bytes()],
            )?;
            Ok(())
        })
    }

    /// Blocks somebody no longer; following does not come back by itself.
    ///
    /// # Errors
    /// 404, 400 for oneself.
    pub fn unblock(&self, me: AccountId, other: AccountId) -> Result<SocialConnection> {
        self.end_relation(Pair::Blocks, me, other)
    }

    /// Keeps somebody's activity out of the feed, without their knowing.
    ///
    /// # Errors
    /// 404, 400 for oneself.
    pub fn mute(&self, me: AccountId, other: AccountId) -> Result<SocialConnection> {
        self.change_connection(me, other, |tx| {
            tx.conn.execute(
                "INSERT INTO mutes (muter, muted, created_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                params![me.as_bytes(), other.as_bytes(), tx.now],
            )?;
            Ok(())
        })
    }

    /// Lets somebody's activity into the feed again.
    ///
    /// # Errors
    /// 404, 400 for oneself.
    pub fn unmute(&self, me: AccountId, other: AccountId) -> Result<SocialConnection> {
        self.end_relation(Pair::Mutes, me, other)
    }

    /// Hands a report to moderation; the reported learns nothing of it.
    ///
    /// # Errors
    /// 404, 400 for oneself.
    pub fn report(&self, me: AccountId, report: &ReportUser) -> Result<Report> {
        self.write(|tx| {
            other_display_name(tx.conn, me, report.user_id)?;
            let made = Report {
                id: fresh_id(tx.source),
                user_id: report.user_id,
                reason: report.reason,
                status: ReportState::Received,
                created_at: Timestamp(tx.now),
            };
            tx.conn.execute(
                "INSERT INTO reports (id, reporter, reported, reason, details, state, created_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    made.id.as_bytes(),
                    me.as_bytes(),
                    made.user_id.as_bytes(),
                    name_of(&made.reason),
                    report.details.as_deref().unwrap_or_default(),
                    name_of(&made.status),
                    tx.now
                ],
            )?;
            Ok(made)
        })
    }
}
