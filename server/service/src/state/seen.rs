//! The times at which devices were seen, before they are in the database: a request must not cost a
//! write.

use crate::error::Result;
use cairn_model::{AccountId, DeviceId};
use cairn_store::Store;
use parking_lot::Mutex;
use std::collections::HashMap;
use uuid::Uuid;

/// A device is written down at most this often.
const INTERVAL_MS: i64 = 300_000;
/// Devices remembered at most; more than that are written down again.
const REMEMBERED: usize = 100_000;

/// The latest entry of each device in the database.
#[derive(Default)]
pub(crate) struct Seen(Mutex<HashMap<(AccountId, DeviceId), Entry>>);

#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry {
    at_ms: i64,
    login: Option<Uuid>,
}

impl Seen {
    /// Notes a request of a device.
    pub(crate) fn note(
        &self,
        store: &Store,
        (account, device): (AccountId, DeviceId),
        login: Option<Uuid>,
        now_ms: i64,
    ) -> Result<()> {
        {
            let mut all = self.0.lock();
            let known = all.get(&(account, device));
            if known.is_some_and(|one| one.login == login && now_ms - one.at_ms < INTERVAL_MS) {
                return Ok(());
            }
            if all.len() >= REMEMBERED {
                all.clear();
            }
            let entry = Entry {
                at_ms: now_ms,
                login,
            };
            all.insert((account, device), entry);
        }
        Ok(store.see_device(account, device, login)?)
    }

    /// Forgets a device: its next request is written down.
    pub(crate) fn forget(&self, account: AccountId, device: DeviceId) {
        self.0.lock().remove(&(account, device));
    }
}
