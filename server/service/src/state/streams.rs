//! The streams of changes that each account has open: each of them keeps a connection, of which a server has only so
//! many.

use super::AppState;
use crate::error::Result;
use cairn_model::AccountId;
use cairn_store::Error as StoreError;
use parking_lot::Mutex;
use std::collections::HashMap;

/// The seconds after which a client that was refused one may try again.
const RETRY_AFTER: u64 = 30;

/// Counts the open streams by account.
#[derive(Default)]
pub(crate) struct OpenStreams(Mutex<HashMap<AccountId, usize>>);

/// The place of one stream, until it is dropped.
pub(crate) struct StreamPlace {
    app: AppState,
    account: AccountId,
}

impl StreamPlace {
    /// Takes a place for a stream of an account.
    ///
    /// # Errors
    /// 429 while the account has as many as it may have.
    pub(crate) fn take(app: &AppState, account: AccountId) -> Result<Self> {
        let most = app.options.connections.streams;
        let mut open = app.streams.0.lock();
        let count = open.entry(account).or_insert(0);
        if *count >= most {
            let message = format!("the account has {most} streams open; close one first");
            return Err(StoreError::TooManyAttempts {
                message,
                retry_after: RETRY_AFTER,
            }
            .into());
        }
        *count += 1;
        drop(open);
        Ok(Self {
            app: app.clone(),
            account,
        })
    }
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let mut open = self.app.streams.0.lock();
        if let Some(count) = open.get_mut(&self.account) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.account);
            }
        }
    }
}
