//! The feed: what the people whom one follows did, latest first.

use crate::Store;
use crate::db::params;
use crate::error::Result;
use crate::page::read_page;
use crate::rows::{id, json, word};
use cairn_model::AccountId;
use cairn_wire::Timestamp;
use cairn_wire::social::FeedEntry;

/// The activities of people whom one follows and neither mutes nor is kept from by a block or a private profile.
const FROM_SQL: &str = "FROM activities t JOIN follows f ON f.followee = t.account AND f.follower = ?1 \
     JOIN accounts a ON a.id = t.account JOIN profiles p ON p.account = t.account \
     WHERE p.visibility <> 'private' \
     AND NOT EXISTS (SELECT 1 FROM mutes m WHERE m.muter = ?1 AND m.muted = t.account) \
     AND NOT EXISTS (SELECT 1 FROM blocks b WHERE (b.blocker = ?1 AND b.blocked = t.account) \
     OR (b.blocker = t.account AND b.blocked = ?1))";

impl Store {
    /// One page of an account's feed, and the number of all entries.
    pub fn feed(&self, me: AccountId, skip: u64, take: u64) -> Result<(Vec<FeedEntry>, u64)> {
        self.read(|conn| {
            let count = format!("SELECT count(*) {FROM_SQL}");
            let list = format!(
                "SELECT t.id, t.account, a.display_name, p.username, t.kind, t.data, t.created_at \
                 {FROM_SQL} ORDER BY t.row DESC LIMIT ?3 OFFSET ?2"
            );
            let which = params![me.as_bytes()];
            read_page(conn, (&count, &list), which, (skip, take), |row| {
                Ok(FeedEntry {
                    id: id(row, 0)?,
                    user_id: id(row, 1)?,
                    display_name: row.get(2)?,
                    username: row.get(3)?,
                    kind: word(row, 4)?,
                    data: json(row, 5)?,
                    created_at: Timestamp(row.get(6)?),
                })
            })
        })
    }
}
