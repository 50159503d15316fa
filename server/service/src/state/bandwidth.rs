//! The amount that an account or a team transfers in a month, and where that ends.

use crate::error::Result;
use cairn_model::AccountId;
use cairn_store::{Error as StoreError, Result as StoreResult, Store, Tx};
use parking_lot::Mutex;
use std::collections::HashMap;

/// Transferred bytes that may be lost by a crash, per account.
const UNWRITTEN: u64 = 64 * 1024 * 1024;

/// Transferred bytes on their way into the database: a download must not cost a write.
#[derive(Default)]
pub(crate) struct Bandwidth(Mutex<HashMap<AccountId, Pending>>);

/// The bytes of one month that are not written down yet.
struct Pending {
    month: String,
    bytes: u64,
}

impl Bandwidth {
    pub(crate) fn add(&self, store: &Store, account: AccountId, bytes: u64) -> Result<()> {
        let fresh = Pending {
            month: store.month(),
            bytes,
        };
        let due = {
            let mut all = self.0.lock();
            match all.get_mut(&account) {
                None => {
                    all.insert(account, fresh);
                    return Ok(());
                }
                Some(pending) if pending.month != fresh.month => std::mem::replace(pending, fresh),
                Some(pending) => {
                    pending.bytes += bytes;
                    if pending.bytes < UNWRITTEN {
                        return Ok(());
                    }
                    let bytes = std::mem::take(&mut pending.bytes);
                    Pending { bytes, ..fresh }
                }
            }
        };
        Ok(store.add_bandwidth(account, &due.month, due.bytes)?)
    }

    /// Refuses a transfer that goes beyond what the account, or the team, may transfer this month.
    ///
    /// # Errors
    /// 507.
    pub(crate) fn admit(&self, store: &Store, account: AccountId, bytes: u64) -> Result<()> {
        let (written, limit) = store.bandwidth(account)?;
        Ok(self.fits(account, &store.month(), written, limit, bytes)?)
    }

    /// The same within a transaction, which leaves nothing behind if the transfer is refused.
    ///
    /// # Errors
    /// 507.
    pub(crate) fn admit_in(&self, tx: &Tx<'_>, account: AccountId, bytes: u64) -> StoreResult<()> {
        let (written, limit) = tx.bandwidth(account)?;
        self.fits(account, &tx.month(), written, limit, bytes)
    }

    fn fits(
        &self,
        account: AccountId,
        month: &str,
        written: u64,
        limit: u64,
        bytes: u64,
    ) -> StoreResult<()> {
        let pending = self
            .0
            .lock()
            .get(&account)
            .filter(|pending| pending.month == month)
            .map_or(0, |pending| pending.bytes);
        let used = written.saturating_add(pending);
        if bytes > 0 && used.saturating_add(bytes) > limit {
            return Err(StoreError::QuotaFull(format!(
                "this month's bandwidth is used up: {used} of {limit} bytes were transferred and this \
                 needs {bytes} more; it begins anew with the next month"
            )));
        }
        Ok(())
    }

    pub(crate) fn flush(&self, store: &Store, account: AccountId) -> Result<()> {
        let due = self.0.lock().remove(&account);
        match due {
            Some(due) if due.bytes > 0 => Ok(store.add_bandwidth(account, &due.month, due.bytes)?),
            Some(_) | None => Ok(()),
        }
    }

    /// Writes what is pending for everyone.
    pub(crate) fn flush_all(&self, store: &Store) -> Result<()> {
        let accounts: Vec<AccountId> = self.0.lock().keys().copied().collect();
        accounts
            .into_iter()
            .try_for_each(|account| self.flush(store, account))
    }

    /// Drops what is pending.
    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }
}
