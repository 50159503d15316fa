//! The account: its data in one response, quota, keys, devices, API keys, health.

use crate::call::Call;
use crate::client::Api;
use crate::error::ApiError;
use crate::names::Named;
use crate::paging::Paging;
use cairn_model::{DeviceId, percent_encode};
use cairn_wire::Page;
use cairn_wire::account::{
    AccountInfo, ApiKey, CreateApiKey, CreatedApiKey, Device, KnownDevice, Quota, RemovedDevice,
};
use cairn_wire::keys::{KeyBundle, PutKeys};
use cairn_wire::second_factor::{
    BeginSecondFactor, BegunSecondFactor, ConfirmSecondFactor, RecoveryCodes, RemoveSecondFactor,
    SecondFactorStatus,
};
use http::Method;

const SECOND_FACTOR: &str = "/api/v1/useraccount/second-factor";
/// The largest number of pages of one list.
const MAX_PAGES: u64 = 10_000;
/// The largest number of elements of one list.
const MAX_ELEMENTS: u64 = 1_000_000;

impl Api {
    /// `GET /useraccount/composite`.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn account(&self) -> Result<AccountInfo, ApiError> {
        self.json(Call::get("/api/v1/useraccount/composite")).await
    }

    /// `GET /userusage/quota-limit`.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn quota(&self) -> Result<Quota, ApiError> {
        self.json(Call::get("/api/v1/userusage/quota-limit")).await
    }

    /// `GET /keys`: the account's key bundle.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] where the account has none yet. The caller decides whether that can
    /// be true: a server may hide a bundle that exists.
    pub async fn keys(&self) -> Result<KeyBundle, ApiError> {
        self.json(Call::get("/api/v1/keys")).await
    }

    /// `PUT /keys`: replaces the bundle of the given version, or makes the first one.
    ///
    /// # Errors
    /// [`ApiError::PreconditionFailed`] if another version is there, [`ApiError::Forbidden`] if
    /// `current_auth` is not that of the passphrase in force.
    pub async fn put_keys(&self, keys: &PutKeys, replaces: Option<u64>) -> Result<(), ApiError> {
        let call = Call::new(Method::PUT, "/api/v1/keys").json(keys)?;
        let call = match replaces {
            Some(version) => call.if_match(version)?,
            None => call,
        };
        self.send_for_status(call).await
    }

    /// `GET /useraccount/second-factor`: whether logins ask for a code.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn second_factor(&self) -> Result<SecondFactorStatus, ApiError> {
        self.json(Call::get(SECOND_FACTOR)).await
    }

    /// `POST /useraccount/second-factor`: makes a secret, which no login asks for until it is confirmed.
    ///
    /// # Errors
    /// [`ApiError::Forbidden`] for a wrong password, [`ApiError::Conflict`] if there is a second factor.
    pub async fn begin_second_factor(
        &self,
        begin: &BeginSecondFactor,
    ) -> Result<BegunSecondFactor, ApiError> {
        self.json(Call::new(Method::POST, SECOND_FACTOR).json(begin)?)
            .await
    }

    /// `POST /useraccount/second-factor/confirm`: logins ask for codes from then on.
    ///
    /// # Errors
    /// [`ApiError::Forbidden`] for a wrong code, [`ApiError::Conflict`] if there is none to confirm.
    pub async fn confirm_second_factor(
        &self,
        confirm: &ConfirmSecondFactor,
    ) -> Result<RecoveryCodes, ApiError> {
        let path = format!("{SECOND_FACTOR}/confirm");
        self.json(Call::new(Method::POST, path).json(confirm)?)
            .await
    }

    /// `POST /useraccount/second-factor/remove`: logins ask for the password alone.
    ///
    /// # Errors
    /// [`ApiError::Forbidden`] for a wrong password or code, [`ApiError::Conflict`] if there is none.
    pub async fn remove_second_factor(&self, remove: &RemoveSecondFactor) -> Result<(), ApiError> {
        let path = format!("{SECOND_FACTOR}/remove");
        self.send_for_status(Call::new(Method::POST, path).json(remove)?)
            .await
    }

    /// `GET /devices`: all devices of the account.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn devices(&self) -> Result<Vec<KnownDevice>, ApiError> {
        self.all_pages("/api/v1/devices", &()).await
    }

    /// `PUT /devices/{id}`: makes this device known, or renames it.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn put_device(&self, device: &Device) -> Result<(), ApiError> {
        let path = format!("/api/v1/devices/{}", device.id);
        self.send_for_status(Call::new(Method::PUT, path).json(device)?.mark_idempotent())
            .await
    }

    /// `DELETE /devices/{id}`: ends the device's logins.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn remove_device(&self, id: DeviceId) -> Result<RemovedDevice, ApiError> {
        let path = format!("/api/v1/devices/{id}");
        self.json(Call::new(Method::DELETE, path)).await
    }

    /// `GET /apikeys`: metadata of all API keys.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn api_keys(&self) -> Result<Vec<ApiKey>, ApiError> {
        self.all_pages("/api/v1/apikeys", &()).await
    }

    /// `POST /apikeys`: makes an API key; only this response has it whole.
    ///
    /// # Errors
    /// [`ApiError::Rejected`] or [`ApiError::Conflict`] at the eleventh active key.
    pub async fn create_api_key(&self, key: &CreateApiKey) -> Result<CreatedApiKey, ApiError> {
        self.json(self.with_idempotency_key(Call::new(Method::POST, "/api/v1/apikeys").json(key)?)?)
            .await
    }

    /// `DELETE /apikeys/{id}`: makes an API key worthless.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn revoke_api_key(&self, id: &str) -> Result<(), ApiError> {
        let path = format!("/api/v1/apikeys/{}", percent_encode(id));
        self.delete(Call::new(Method::DELETE, path)).await
    }

    /// `GET /health`: the server's own account of itself.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn health(&self) -> Result<serde_json::Value, ApiError> {
        self.json(Call::get("/api/v1/health")).await
    }

    /// Returns all elements of a paged list, in the server's order.
    pub(crate) async fn all_pages<T, Q>(&self, path: &str, query: &Q) -> Result<Vec<T>, ApiError>
    where
        T: serde::de::DeserializeOwned,
        Q: serde::Serialize,
    {
        self.pages_from(1, path, query).await
    }

    /// Returns all elements of a paged list, with the names in it opened.
    pub(crate) async fn named_pages<T, Q>(&self, path: &str, query: &Q) -> Result<Vec<T>, ApiError>
    where
        T: serde::de::DeserializeOwned + Named,
        Q: serde::Serialize,
    {
        let mut all = self.all_pages(path, query).await?;
        self.open_names(&mut all);
        Ok(all)
    }

    /// Returns all elements of a paged list whose first page has this number, in the server's order.
    ///
    /// # Errors
    /// [`ApiError::Protocol`] for a list that doesn't end, or a page that is too long.
    pub(crate) async fn pages_from<T, Q>(
        &self,
        first: u64,
        path: &str,
        query: &Q,
    ) -> Result<Vec<T>, ApiError>
    where
        T: serde::de::DeserializeOwned,
        Q: serde::Serialize,
    {
        let mut all = Vec::new();
        let mut paging = Paging::up_to(MAX_ELEMENTS);
        for read in 0..MAX_PAGES {
            let call = Call::get(path)
                .query(query)?
                .query(&[("page", first + read), ("page_size", 100)])?;
            let response: Page<T> = self.json(call).await?;
            // An empty page ends it, whatever total the server claims.
            let is_last = response.content.is_empty() || read + 1 >= response.total_pages;
            let next = (!is_last).then(|| (first + read + 1).to_string());
            paging.advance(response.content.len(), next.as_deref())?;
            all.extend(response.content);
            if is_last {
                return Ok(all);
            }
        }
        Err(ApiError::Protocol("the list has too many pages".to_owned()))
    }
}
