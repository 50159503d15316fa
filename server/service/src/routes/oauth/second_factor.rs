//! The page that asks for a code after the password, for accounts with a second factor.
//!
//! The server keeps nothing between the two pages: that the password was right stands in the form, which only
//! the browser that was shown it can send back.

use super::authorize::AuthorizationRequest;
use crate::error::Result;
use crate::http::address::Address;
use crate::identity::page::{error_line, page};
use crate::state::AppState;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cairn_model::AccountId;
use cairn_store::Account;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A login whose password was right. No other form has a field of the first one's name, so that none can be
/// taken for it.
#[derive(Serialize, Deserialize)]
pub(super) struct Waiting {
    pub(super) second_factor_of: AccountId,
    /// Names the password that was given: another one ends the login.
    pub(super) password: String,
    pub(super) next: Next,
}

/// The rest of a login.
#[derive(Serialize, Deserialize)]
pub(super) enum Next {
    /// Back to a client.
    Authorize(Box<AuthorizationRequest>),
    /// A device waits under this code.
    Device(String),
    /// The page of the account.
    Account,
}

/// Names the password of an account without telling anything of it: its hash has a salt of 128 bits.
pub(super) fn name_password(app: &AppState, account: &Account) -> Result<Option<String>> {
    let known = app.store.account_with_password(&account.email)?;
    Ok(known
        .filter(|(found, _)| found.id == account.id)
        .map(|(_, hash)| hex::encode(Sha256::digest(hash))))
}

/// Returns the page that asks for a code, for an account that has a second factor.
pub(super) fn ask(
    app: &AppState,
    headers: &HeaderMap,
    address: &Address,
    account: &Account,
    next: Next,
) -> Result<Option<Response>> {
    if !app.store.asks_second_factor(account.id)? {
        return Ok(None);
    }
    let waiting = Waiting {
        second_factor_of: account.id,
        password: name_password(app, account)?.unwrap_or_default(),
        next,
    };
    Ok(Some(code_page(
        app,
        headers,
        address,
        &waiting,
        StatusCode::OK,
        None,
    )))
}

pub(super) fn code_page(
    app: &AppState,
    headers: &HeaderMap,
    address: &Address,
    waiting: &Waiting,
    status: StatusCode,
    error: Option<&str>,
) -> Response {
    let form = app.identity.forms.for_page(headers, &app.source, waiting);
    let body = format!(
        "{}<p>Type the code that your authenticator app shows, or one of your recovery codes.</p>\
         <form method=\"post\" action=\"/oauth/second-factor\">{}\
         <label for=\"code\">Code</label>\
         <input id=\"code\" name=\"code\" autocomplete=\"one-time-code\" autofocus required>\
         <button class=\"main\" name=\"action\" value=\"login\">Log in</button>\
         <button name=\"action\" value=\"cancel\" formnovalidate>Cancel</button></form>",
        error_line(error),
        form.hidden,
    );
    let onward = match &waiting.next {
        Next::Authorize(request) => request.redirect_source(),
        Next::Device(_) | Next::Account => None,
    };
    let response = page(&app.source, status, "Log in", &body, onward.as_deref());
    form.set_cookie(response, address.is_secure())
}
