//! The page where people look after their own account: its logins, the second factor, the password.
//!
//! The server keeps nothing for a page that is open: the account that it belongs to stands in its forms, which only
//! the browser that was shown them can send back. A page ends ten minutes after the last click, an hour after its
//! login, and with the password.

mod actions;
mod pages;

use super::request::{Refusal, Sent, authenticate};
use super::second_factor::{self, Next, name_password};
use crate::auth::disabled_error;
use crate::error::Result;
use crate::http::address::Address;
use crate::http::visitor::MaskedIp;
use crate::identity::failure::OAuthResult;
use crate::state::AppState;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cairn_model::AccountId;
use cairn_store::Account;
use pages::{Note, login_page};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

/// The time after which the page asks for another login, however much it is used.
const LONGEST_MS: i64 = 60 * 60 * 1000;
const EXPIRED: &str = "This page has expired. Log in again.";

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(show, submit))
        .routes(routes!(change))
}

/// The login form.
#[derive(Deserialize, ToSchema)]
struct AccountLogin {
    #[serde(default)]
    email: String,
    #[serde(default)]
    password: String,
    #[serde(default)]
    form: String,
}

/// Marks the form of the login page.
#[derive(Serialize, Deserialize)]
struct LoginForm {
    log_in_to_account: bool,
}

/// The account that a page belongs to. No other form has a field of the first one's name, so that none can be taken
/// for it.
#[derive(Serialize, Deserialize)]
struct SignedIn {
    account_page_of: AccountId,
    /// Names the password that was given: another one ends the page.
    password: String,
    since: i64,
}

/// One of the forms of the page.
#[derive(Deserialize, ToSchema)]
struct AccountChange {
    #[serde(default)]
    form: String,
    /// Shows the page again if absent.
    action: Option<AccountAction>,
    /// The login to end.
    session: Option<Uuid>,
    /// Six digits, or, to switch the second factor off, a recovery code.
    #[serde(default)]
    code: String,
    /// The password in force.
    #[serde(default)]
    password: String,
    #[serde(default)]
    new_password: String,
    #[serde(default)]
    again: String,
}

/// The things that somebody can do on the page.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum AccountAction {
    Show,
    End,
    EndAll,
    SetUp,
    Confirm,
    Remove,
    ChangePassword,
    LogOut,
}

/// A request of somebody who is logged in to the page.
struct Visit<'a> {
    app: &'a AppState,
    headers: &'a HeaderMap,
    address: &'a Address,
    account: Account,
    signed_in: SignedIn,
}

/// Shows the page that asks for e-mail and password.
#[utoipa::path(
    get, path = "/oauth/account", operation_id = "show_account", tag = "identity", security(()),
    responses((status = 200, description = "The login page", body = String, content_type = "text/html"))
)]
async fn show(State(app): State<AppState>, address: Address, headers: HeaderMap) -> Response {
    login_page(&app, &headers, &address, StatusCode::OK, None)
}

/// Takes the login form, and shows the page of the account.
#[utoipa::path(
    post, path = "/oauth/account", operation_id = "open_account", tag = "identity", security(()),
    request_body(content = AccountLogin, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The page, or the one that asks for the second factor", body = String, content_type = "text/html"),
        (status = 400, description = "The form is not one of this browser, or too old", body = String, content_type = "text/html"),
        (status = 403, description = "E-mail or password is wrong", body = String, content_type = "text/html"),
        (status = 429, description = "Too many wrong passwords", body = String, content_type = "text/html")
    )
)]
async fn submit(
    State(app): State<AppState>,
    address: Address,
    MaskedIp(from): MaskedIp,
    Sent(login, parts): Sent<AccountLogin>,
) -> OAuthResult<Response> {
    let now = app.source.now_ms();
    let forms = &app.identity.forms;
    let again = |refusal: Refusal| {
        let error = Some((login.email.as_str(), refusal.text.as_str()));
        let page = login_page(&app, &parts.headers, &address, refusal.status, error);
        refusal.mark(page)
    };
    let opened = forms.open::<LoginForm>(&parts.headers, &login.form, now);
    if opened.is_none() {
        return Ok(again(Refusal::new(StatusCode::BAD_REQUEST, EXPIRED)));
    }
    let account = match authenticate(&app, &login.email, &login.password, &from).await? {
        Ok(account) => account,
        Err(refusal) => return Ok(again(refusal)),
    };
    let asked = second_factor::ask(&app, &parts.headers, &address, &account, Next::Account)?;
    match asked {
        Some(page) => Ok(page),
        None => finish(&app, &parts.headers, &address, Some(account)),
    }
}

/// Ends the login with the page of the account, or without one by asking again.
pub(super) fn finish(
    app: &AppState,
    headers: &HeaderMap,
    address: &Address,
    account: Option<Account>,
) -> OAuthResult<Response> {
    let Some(account) = account else {
        return Ok(login_page(app, headers, address, StatusCode::OK, None));
    };
    let signed_in = SignedIn {
        account_page_of: account.id,
        password: name_password(app, &account)?.unwrap_or_default(),
        since: app.source.now_ms(),
    };
    let visit = Visit {
        app,
        headers,
        address,
        account,
        signed_in,
    };
    Ok(visit.overview(StatusCode::OK, Note::Nothing)?)
}

/// Takes one of the forms of the page, and shows it again as it is then.
#[utoipa::path(
    post, path = "/oauth/account/change", operation_id = "change_account", tag = "identity", security(()),
    request_body(content = AccountChange, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "It is done", body = String, content_type = "text/html"),
        (status = 400, description = "The form is not one of this browser, or too old, or the new password can't be one", body = String, content_type = "text/html"),
        (status = 403, description = "The password or the code is wrong, or the account is disabled or about to be deleted", body = String, content_type = "text/html"),
        (status = 409, description = "The second factor is set up already, or none is", body = String, content_type = "text/html"),
        (status = 429, description = "Too many wrong passwords or codes", body = String, content_type = "text/html")
    )
)]
async fn change(
    State(app): State<AppState>,
    address: Address,
    MaskedIp(from): MaskedIp,
    Sent(sent, parts): Sent<AccountChange>,
) -> OAuthResult<Response> {
    let headers = &parts.headers;
    let again = |status, text: &str| login_page(&app, headers, &address, status, Some(("", text)));
    let Some((account, signed_in)) = owner_of(&app, headers, &sent.form)? else {
        return Ok(again(StatusCode::BAD_REQUEST, EXPIRED));
    };
    if account.disabled {
        let text = disabled_error().to_string();
        return Ok(again(StatusCode::FORBIDDEN, &text));
    }
    let mut visit = Visit {
        app: &app,
        headers,
        address: &address,
        account,
        signed_in,
    };
    match visit.carry_out(&sent, &from).await {
        Ok(response) => Ok(response),
        Err(error) if error.status().is_client_error() => Ok(visit.refuse(&error)?),
        Err(error) => Err(error.into()),
    }
}

/// Returns the account of the page that a form belongs to, as long as its login lasts.
fn owner_of(
    app: &AppState,
    headers: &HeaderMap,
    form: &str,
) -> Result<Option<(Account, SignedIn)>> {
    let now = app.source.now_ms();
    let opened = app.identity.forms.open::<SignedIn>(headers, form, now);
    let Some(signed_in) = opened.filter(|signed_in| now - signed_in.since < LONGEST_MS) else {
        return Ok(None);
    };
    let Some(account) = app.store.account(signed_in.account_page_of)? else {
        return Ok(None);
    };
    let same = name_password(app, &account)?.as_ref() == Some(&signed_in.password);
    Ok(same.then_some((account, signed_in)))
}
