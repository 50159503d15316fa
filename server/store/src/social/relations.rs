//! Keeping people away: blocking and muting.

use super::Pair;
use crate::Store;
use crate::db::params;
use crate::error::Result;
use cairn_model::AccountId;
use cairn_wire::social::Connection as SocialConnection;

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
}
