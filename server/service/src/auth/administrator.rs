//! The caller as an administrator of other accounts.

use super::Caller;
use crate::error::{Error, Result};
use crate::state::AppState;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use cairn_model::AccountId;
use cairn_store::Administrator;

/// A caller who administers other accounts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admin(AccountId);

impl Admin {
    /// Returns the caller as the log names them.
    pub(crate) fn by(self) -> Administrator {
        Administrator::Account(self.0)
    }

    /// Refuses a change to an account that administers others, the caller's own included: one credential in
    /// wrong hands must not be able to keep all the others out.
    ///
    /// # Errors
    /// 403; 404 for an account that is not there.
    pub(crate) fn check_may_change(self, app: &AppState, account: AccountId) -> Result<()> {
        let found = app
            .store
            .account(account)?
            .ok_or_else(|| Error::not_found(format!("there is no account {account}")))?;
        if found.admin {
            return Err(Error::forbidden(
                "the account administers others; it is changed on the server's command line (`cairn-server user`)",
            ));
        }
        Ok(())
    }
}

impl FromRequestParts<AppState> for Admin {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self> {
        let caller = Caller::from_request_parts(parts, app).await?;
        match app.store.account(caller.account)? {
            Some(account) if account.admin => Ok(Self(account.id)),
            Some(_) | None => Err(Error::forbidden(
                "only an administrator of this server may do this",
            )),
        }
    }
}
