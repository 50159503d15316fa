//! Turns of requests with an idempotency key: one of the same key runs at a time, on whatever server.

use super::leases::{NOW, SERVER};
use crate::Store;
use crate::db::params;
use crate::error::Result;
use cairn_model::AccountId;

impl Store {
    /// Takes the turn of a key, unless a server that is alive has it. Without other servers it is always free.
    ///
    /// # Errors
    /// A database that fails.
    pub fn take_turn(&self, account: AccountId, key: &str) -> Result<bool> {
        let Some(cluster) = &self.cluster else {
            return Ok(true);
        };
        let sql = format!(
            "INSERT INTO running_requests AS r (account, key, holder) VALUES (?1, ?2, ?3) \
             ON CONFLICT (account, key) DO UPDATE SET holder = excluded.holder \
             WHERE NOT EXISTS (SELECT 1 FROM leases l WHERE l.name = '{SERVER}' || r.holder AND l.expires_at > {NOW})"
        );
        self.each_alone(|conn| {
            let taken = conn.prepare_cached(&sql)?.execute(params![
                account.as_bytes(),
                key,
                cluster.id()
            ])?;
            Ok(taken > 0)
        })
    }

    /// Gives the turn of a key back.
    ///
    /// # Errors
    /// A database that fails: the turn is free once this server has ended.
    pub fn give_turn_back(&self, account: AccountId, key: &str) -> Result<()> {
        let Some(cluster) = &self.cluster else {
            return Ok(());
        };
        self.each_alone(|conn| {
            conn.prepare_cached(
                "DELETE FROM running_requests WHERE account = ?1 AND key = ?2 AND holder = ?3",
            )?
            .execute(params![account.as_bytes(), key, cluster.id()])?;
            Ok(())
        })
    }
}
