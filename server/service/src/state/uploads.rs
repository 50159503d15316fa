//! The uploads in progress that are kept in memory.

use crate::error::Result;
use cairn_model::{AccountId, UploadId};
use cairn_store::{OpenUpload, Store};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// Uploads whose chunk lists are kept in memory; more are read from the database again.
const KEPT_OPEN: usize = 256;

/// Chunk lists of uploads in progress, so that a chunk does not cost reading the list again.
#[derive(Default)]
pub(crate) struct OpenUploads(Mutex<HashMap<UploadId, Arc<OpenUpload>>>);

impl OpenUploads {
    /// Returns an upload of this account, from memory if it is known there.
    ///
    /// # Errors
    /// Not found for one that has ended, expired or is another account's.
    pub(crate) fn get(
        &self,
        store: &Store,
        account: AccountId,
        id: UploadId,
    ) -> Result<Arc<OpenUpload>> {
        let known = self.0.lock().get(&id).cloned();
        if let Some(known) =
            known.filter(|it| it.account == account && it.expires_at > store.source().now_ms())
        {
            return Ok(known);
        }
        let fresh = Arc::new(store.upload(account, id)?);
        let mut open = self.0.lock();
        if open.len() >= KEPT_OPEN {
            open.clear();
        }
        open.insert(id, fresh.clone());
        Ok(fresh)
    }

    /// Drops one that has ended.
    pub(crate) fn forget(&self, id: UploadId) {
        self.0.lock().remove(&id);
    }

    /// Drops everything.
    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }
}
