//! Share links: `/shares`, and the encrypted lists of their files (with the keys of the chunks).

use crate::call::Call;
use crate::client::Api;
use crate::error::ApiError;
use cairn_model::{NodeId, percent_encode};
use cairn_wire::shares::{
    CreateShare, PutSharedFiles, Share, ShareByEmail, SharedByEmail, ToggledShare, UpdateShare,
};
use http::Method;

const SHARES: &str = "/api/v1/shares";

impl Api {
    /// `GET /shares`: all links of the account, or those of one node; the newest first.
    ///
    /// # Errors
    /// [`ApiError`] if a page can't be fetched.
    pub async fn shares(&self, node: Option<NodeId>) -> Result<Vec<Share>, ApiError> {
        let query: Vec<_> = node.iter().map(|node| ("file_id", node)).collect();
        // Unlike other lists, this one counts its pages from 0.
        let mut links: Vec<Share> = self.pages_from(0, SHARES, &query).await?;
        self.open_names(&mut links);
        Ok(links)
    }

    /// `GET /shares/{id}`: a link by its id or short code.
    ///
    /// # Errors
    /// [`ApiError::NotFound`].
    pub async fn share(&self, which: &str) -> Result<Share, ApiError> {
        self.json_with_names(Call::get(path(which, ""))).await
    }

    /// `POST /shares`: makes a link. If `new` has an id, repeating the request makes no second link.
    ///
    /// # Errors
    /// [`ApiError::Rejected`] for a setting out of range.
    pub async fn create_share(&self, new: &CreateShare) -> Result<Share, ApiError> {
        self.json_with_names(self.with_idempotency_key(Call::new(Method::POST, SHARES).json(new)?)?)
            .await
    }

    /// `POST /shares/email`: makes a link for one address and has it mailed there.
    ///
    /// # Errors
    /// [`ApiError::Rejected`] if the e-mail address is not valid.
    pub async fn share_by_email(&self, new: &ShareByEmail) -> Result<SharedByEmail, ApiError> {
        let call = Call::new(Method::POST, format!("{SHARES}/email")).json(new)?;
        self.json_with_names(self.with_idempotency_key(call)?).await
    }

    /// `PUT /shares/{id}`: changes the given settings.
    ///
    /// # Errors
    /// [`ApiError::NotFound`], [`ApiError::Rejected`] for a setting out of range.
    pub async fn update_share(&self, which: &str, change: &UpdateShare) -> Result<Share, ApiError> {
        let call = Call::new(Method::PUT, path(which, "")).json(change)?;
        self.json_with_names(call.mark_idempotent()).await
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
        self.json_with_names(call.mark_idempotent()).await
    }

    /// `POST /shares/{id}/toggle`: switches a link off, or on again.
    ///
    /// # Errors
    /// [`ApiError::NotFound`].
    pub async fn toggle_share(&self, which: &str) -> Result<ToggledShare, ApiError> {
        self.json(self.with_idempotency_key(Call::new(Method::POST, path(which, "/toggle")))?)
            .await
    }

    /// `DELETE /shares/{id}`: revokes a link permanently.
    ///
    /// # Errors
    /// [`ApiError::NotFound`].
    pub async fn delete_share(&self, which: &str) -> Result<(), ApiError> {
        self.delete(Call::new(Method::DELETE, path(which, "")))
            .await
    }
}

fn path(which: &str, part: &str) -> String {
    format!("{SHARES}/{}{part}", percent_encode(which))
}
