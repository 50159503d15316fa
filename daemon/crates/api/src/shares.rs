//! Share links: `/shares`, and the sealed files that they carry.

use crate::account::segment;
use crate::call::Call;
use crate::client::Api;
use crate::error::ApiError;
use cairn_model::NodeId;
use cairn_wire::Page;
use cairn_wire::shares::{
    CreateShare, PutSharedFiles, Share, ShareByEmail, SharedByEmail, ToggledShare, UpdateShare,
};
use http::Method;

const SHARES: &str = "/api/v1/shares";

impl Api {
    /// `GET /shares`: all links of the account, or those of one node; the newest first.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn shares(&self, node: Option<NodeId>) -> Result<Vec<Share>, ApiError> {
        let mut all = Vec::new();
        // Unlike other lists, this one counts its pages from 0.
        for page in 0_u64.. {
            let mut call = Call::get(SHARES).query(&[("page", page), ("page_size", 100)])?;
            if let Some(node) = node {
                call = call.query(&[("file_id", node)])?;
            }
            let response: Page<Share> = self.json(call).await?;
            let empty = response.content.is_empty();
            all.extend(response.content);
            // An empty page ends it, whatever total the server claims.
            if empty || page + 1 >= response.total_pages {
                break;
            }
        }
        Ok(all)
    }

    /// `GET /shares/{id}`: a link by its id or short code.
    ///
    /// # Errors
    /// [`ApiError::NotFound`].
    pub async fn share(&self, which: &str) -> Result<Share, ApiError> {
        self.json(Call::get(path(which, ""))).await
    }

    /// `POST /shares`: makes a link. With an id it is the same request when it is repeated.
    ///
    /// # Errors
    /// [`ApiError::Rejected`] for a setting out of range.
    pub async fn create_share(&self, new: &CreateShare) -> Result<Share, ApiError> {
        self.json(self.with_idempotency_key(Call::new(Method::POST, SHARES).json(new)?)?)
            .await
    }

    /// `POST /shares/email`: makes a link for one address and has it mailed there.
    ///
    /// # Errors
    /// [`ApiError::Rejected`] for what is no address.
    pub async fn share_by_email(&self, new: &ShareByEmail) -> Result<SharedByEmail, ApiError> {
        let call = Call::new(Method::POST, format!("{SHARES}/email")).json(new)?;
        self.json(self.with_idempotency_key(call)?).await
    }

    /// `PUT /shares/{id}`: changes the given settings.
    ///
    /// # Errors
    /// [`ApiError::NotFound`], [`ApiError::Rejected`] for a setting out of range.
    pub async fn update_share(&self, which: &str, change: &UpdateShare) -> Result<Share, ApiError> {
        let call = Call::new(Method::PUT, path(which, "")).json(change)?;
        self.json(call.mark_idempotent()).await
    }

    /// `PUT /shares/{id}/files`: adds files to what a link carries, or replaces them all.
    ///
    /// # Errors
    /// [`ApiError::NotFound`], [`ApiError::Rejected`] for a file outside of what is shared.
    pub async fn put_shared_files(
        &self,
        which: &str,
        files: &PutSharedFiles,
    ) -> Result<Share, ApiError> {
        let call = Call::new(Method::PUT, path(which, "/files")).json(files)?;
        self.json(call.mark_idempotent()).await
    }

    /// `POST /shares/{id}/toggle`: switches a link off, or on again.
    ///
    /// # Errors
    /// [`ApiError::NotFound`].
    pub async fn toggle_share(&self, which: &str) -> Result<ToggledShare, ApiError> {
        self.json(self.with_idempotency_key(Call::new(Method::POST, path(which, "/toggle")))?)
            .await
    }

    /// `DELETE /shares/{id}`: revokes a link for good.
    ///
    /// # Errors
    /// [`ApiError::NotFound`].
    pub async fn delete_share(&self, which: &str) -> Result<(), ApiError> {
        self.send_for_status(Call::new(Method::DELETE, path(which, "")).mark_idempotent())
            .await
    }
}

fn path(which: &str, part: &str) -> String {
    format!("{SHARES}/{}{part}", segment(which))
}
