//! The page that asks for a code after the password, for accounts with a second factor.
//!
//! The server keeps nothing between the two pages: that the password was right stands in the form, which only
//! the browser that was shown it can send back.

use super::request::{Sent, stale_page};
use super::{authorize, device};
use crate::auth::disabled_error;
use crate::error::Result;
use crate::http::address::Address;
use crate::identity::failure::OAuthResult;
use crate::identity::form::Browser;
use crate::identity::page::{error_line, escape, page};
use crate::state::AppState;
use authorize::AuthorizationRequest;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use cairn_model::AccountId;
use cairn_store::Account;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(submit))
}

/// The code that somebody typed.
#[derive(Deserialize, ToSchema)]
struct TypedCode {
    /// Six digits, or a recovery code.
    #[serde(default)]
    code: String,
    /// The login that the page was shown for.
    #[serde(default)]
    form: String,
    /// `cancel` ends the login.
    action: Option<String>,
}

/// A login whose password was right. No other form has a field of the first one's name, so that none can be
/// taken for it.
#[derive(Serialize, Deserialize)]
struct Waiting {
    second_factor_of: AccountId,
    /// Names the password that was given: another one ends the login.
    password: String,
    next: Next,
}

/// The rest of a login.
#[derive(Serialize, Deserialize)]
pub(super) enum Next {
    /// Back to a client.
    Authorize(Box<AuthorizationRequest>),
    /// A device waits under this code.
    Device(String),
}

/// Names the password of an account without telling anything of it: its hash has a salt of 128 bits.
fn name_password(app: &AppState, account: &Account) -> Result<Option<String>> {
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

fn code_page(
    app: &AppState,
    headers: &HeaderMap,
    address: &Address,
    waiting: &Waiting,
    status: StatusCode,
    error: Option<&str>,
) -> Response {
    let browser = Browser::of(headers, &app.source);
    let form = app
        .identity
        .forms
        .seal(&browser, waiting, app.source.now_ms());
    let body = format!(
        "{}<p>Type the code that your authenticator app shows, or one of your recovery codes.</p>\
         <form method=\"post\" action=\"/oauth/second-factor\"><input type=\"hidden\" name=\"form\" value=\"{}\">\
         <label for=\"code\">Code</label>\
         <input id=\"code\" name=\"code\" autocomplete=\"one-time-code\" autofocus required>\
         <button class=\"main\" name=\"action\" value=\"login\">Log in</button>\
         <button name=\"action\" value=\"cancel\" formnovalidate>Cancel</button></form>",
        error_line(error),
        escape(&form),
    );
    let onward = match &waiting.next {
        Next::Authorize(request) => request.redirect_origin(),
        Next::Device(_) => None,
    };
    let mut response = page(&app.source, status, "Log in", &body, onward.as_deref());
    if let Some(cookie) = browser.cookie(address.is_secure()) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Takes the code that follows a password: leads back to the client, or lets the device in.
#[utoipa::path(
    post, path = "/oauth/second-factor", operation_id = "submit_second_factor", tag = "identity", security(()),
    request_body(content = TypedCode, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "It is decided about the device", body = String, content_type = "text/html"),
        (status = 303, description = "Back to the client, with a code or an error"),
        (status = 400, description = "The form is not one of this browser, or too old", body = String, content_type = "text/html"),
        (status = 403, description = "The code is wrong", body = String, content_type = "text/html"),
        (status = 429, description = "Too many wrong codes", body = String, content_type = "text/html")
    )
)]
async fn submit(
    State(app): State<AppState>,
    address: Address,
    Sent(sent, parts): Sent<TypedCode>,
) -> OAuthResult<Response> {
    let now = app.source.now_ms();
    let forms = &app.identity.forms;
    let Some(waiting) = forms.open::<Waiting>(&parts.headers, &sent.form, now) else {
        return Ok(stale_page(&app));
    };
    if sent.action.as_deref() == Some("cancel") {
        return finish(&app, &address, &waiting.next, None);
    }
    let Some(account) = app.store.account(waiting.second_factor_of)? else {
        return Ok(stale_page(&app));
    };
    if name_password(&app, &account)?.as_ref() != Some(&waiting.password) {
        return Ok(stale_page(&app));
    }
    let again = |status, text: &str| {
        let headers = &parts.headers;
        Ok(code_page(
            &app,
            headers,
            &address,
            &waiting,
            status,
            Some(text),
        ))
    };
    if account.disabled {
        return again(StatusCode::FORBIDDEN, &disabled_error().to_string());
    }
    match app.take_code(account.id, &sent.code) {
        Ok(true) => finish(&app, &address, &waiting.next, Some(account.id)),
        Ok(false) => again(
            StatusCode::FORBIDDEN,
            "The code is wrong, or was used before. The app shows another one every 30 seconds.",
        ),
        Err(error) if error.status().is_client_error() => again(error.status(), &error.to_string()),
        Err(error) => Err(error.into()),
    }
}

/// Ends a login well, or without an account by turning the client or the device away.
fn finish(
    app: &AppState,
    address: &Address,
    next: &Next,
    account: Option<AccountId>,
) -> OAuthResult<Response> {
    match next {
        Next::Authorize(request) => authorize::finish(app, address, request, account),
        Next::Device(code) => device::finish(app, code, account),
    }
}
