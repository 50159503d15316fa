//! The authorization endpoint and its login page: a code for a client, with PKCE (S256) always.

mod request;

pub(super) use request::AuthorizationRequest;

use super::new_password;
use super::request::{PageParams, Refusal, Sent, authenticate, generate_secret, stale_page};
use super::second_factor::{self, Next};
use crate::http::address::Address;
use crate::http::visitor::MaskedIp;
use crate::identity::client::{CAIRN, Client};
use crate::identity::failure::{Failure, OAuthResult};
use crate::identity::page::{credentials, escape, page};
use crate::state::AppState;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cairn_model::AccountId;
use cairn_store::{NewCode, Scopes};
use request::{CheckedRequest, check_client, policy_source};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(show, submit))
}

/// The login form.
#[derive(Deserialize, ToSchema)]
struct Login {
    #[serde(default)]
    email: String,
    #[serde(default)]
    password: String,
    /// The request that the page was shown for.
    #[serde(default)]
    form: String,
    /// `cancel` turns the client away.
    action: Option<String>,
}

/// A form: that of the login page, or an authorization request of a client (OpenID Connect Core, section 3.1.2.1).
#[derive(Deserialize)]
struct Submitted {
    #[serde(flatten)]
    login: Login,
    #[serde(flatten)]
    request: AuthorizationRequest,
}

/// The sentence above the login form, as HTML. A person who has just started Cairn's own program to log
/// in needs no warning about it.
fn purpose(client: &Client, scope: Scopes) -> String {
    if client.id == CAIRN {
        return "Log in to connect <strong>Cairn</strong> on your device to your account."
            .to_owned();
    }
    let name = escape(&client.name);
    let reach = if scope.has(Scopes::FILES) {
        "It will be able to see and change everything in your account."
    } else if scope.has(Scopes::READ) {
        "It will be able to see everything in your account."
    } else {
        "It will learn who you are."
    };
    format!("<strong>{name}</strong> wants to use your account. {reach}")
}

fn login_page(
    app: &AppState,
    headers: &HeaderMap,
    known: &CheckedRequest<'_>,
    scope: Scopes,
    status: StatusCode,
    error: Option<(&str, &str)>,
) -> Response {
    let form = app
        .identity
        .forms
        .for_page(headers, &app.source, known.request);
    let (email, error) = error.map_or(("", None), |(email, text)| (email, Some(text)));
    let body = format!(
        "<p>{}</p><form method=\"post\" action=\"/oauth/authorize\">{}{}\
         <button class=\"main\" name=\"action\" value=\"login\">Log in</button>\
         <button name=\"action\" value=\"cancel\" formnovalidate>Cancel</button></form>",
        purpose(known.client, scope),
        form.hidden,
        credentials(email, error),
    ) + new_password::forgotten_link(app);
    let onward = policy_source(&known.redirect);
    let response = page(&app.source, status, "Log in", &body, Some(&onward));
    form.set_cookie(response, known.issuer.starts_with("https:"))
}

/// Shows the login page.
#[utoipa::path(
    get, path = "/oauth/authorize", tag = "identity", security(()), params(AuthorizationRequest),
    responses(
        (status = 200, description = "The login page", body = String, content_type = "text/html"),
        (status = 303, description = "Back to the client, with an error"),
        (status = 400, description = "The client or its address is unknown", body = String, content_type = "text/html")
    )
)]
async fn show(
    State(app): State<AppState>,
    Address(issuer): Address,
    headers: HeaderMap,
    PageParams(request): PageParams<AuthorizationRequest>,
) -> Response {
    begin(&app, &issuer, &headers, &request.without_empty())
}

/// Returns the login page for an authorization request.
fn begin(
    app: &AppState,
    issuer: &str,
    headers: &HeaderMap,
    request: &AuthorizationRequest,
) -> Response {
    let known = match check_client(app, request, issuer) {
        Ok(known) => known,
        Err(page) => return *page,
    };
    match known.check() {
        Ok((scope, _)) => login_page(app, headers, &known, scope, StatusCode::OK, None),
        Err(failure) => known.refuse(&failure),
    }
}

/// Takes the login page's form and leads back to the client with a code. An authorization request that a client sends
/// as a form gets the login page, as with `GET`.
#[utoipa::path(
    post, path = "/oauth/authorize", tag = "identity", security(()),
    request_body(content = Login, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The page that asks for the second factor, or the login page", body = String, content_type = "text/html"),
        (status = 303, description = "Back to the client, with a code or an error"),
        (status = 400, description = "The form is not one of this browser, or too old", body = String, content_type = "text/html"),
        (status = 403, description = "E-mail or password is wrong", body = String, content_type = "text/html"),
        (status = 429, description = "Too many wrong passwords", body = String, content_type = "text/html")
    )
)]
async fn submit(
    State(app): State<AppState>,
    address: Address,
    MaskedIp(from): MaskedIp,
    Sent(Submitted { login, request }, parts): Sent<Submitted>,
) -> OAuthResult<Response> {
    let request = request.without_empty();
    if login.form.is_empty() && request.has_client() {
        return Ok(begin(&app, &address.0, &parts.headers, &request));
    }
    let now = app.source.now_ms();
    let Some(request) =
        app.identity
            .forms
            .open::<AuthorizationRequest>(&parts.headers, &login.form, now)
    else {
        return Ok(stale_page(&app));
    };
    let known = match check_client(&app, &request, &address.0) {
        Ok(known) => known,
        Err(page) => return Ok(*page),
    };
    let (scope, challenge) = match known.check() {
        Ok(checked) => checked,
        Err(failure) => return Ok(known.refuse(&failure)),
    };
    if login.action.as_deref() == Some("cancel") {
        return Ok(known.refuse(&access_denied()));
    }
    let again = |refusal: Refusal| {
        let error = Some((login.email.as_str(), refusal.text.as_str()));
        let page = login_page(&app, &parts.headers, &known, scope, refusal.status, error);
        refusal.mark(page)
    };
    let account = match authenticate(&app, &login.email, &login.password, &from).await? {
        Ok(account) => account,
        Err(refusal) => return Ok(again(refusal)),
    };
    let next = Next::Authorize(Box::new(request.clone()));
    if let Some(page) = second_factor::ask(&app, &parts.headers, &address, &account, next)? {
        return Ok(page);
    }
    redirect_with_code(&app, &known, scope, challenge, account.id)
}

/// Leads back to the client with a code for the account.
fn redirect_with_code(
    app: &AppState,
    known: &CheckedRequest<'_>,
    scope: Scopes,
    challenge: String,
    account: AccountId,
) -> OAuthResult<Response> {
    let (code, hash) = generate_secret(app, "");
    app.store.add_code(
        &hash,
        &NewCode {
            account,
            client: known.client.id.clone(),
            redirect_uri: known.request.redirect_uri.clone().unwrap_or_default(),
            challenge,
            scope,
            nonce: known.request.nonce.clone(),
        },
    )?;
    Ok(known.redirect(&[("code", &code)]))
}

/// Ends a login that went over another page: with the account that it showed, or without one.
pub(super) fn finish(
    app: &AppState,
    address: &Address,
    request: &AuthorizationRequest,
    account: Option<AccountId>,
) -> OAuthResult<Response> {
    let known = match check_client(app, request, &address.0) {
        Ok(known) => known,
        Err(page) => return Ok(*page),
    };
    let Some(account) = account else {
        return Ok(known.refuse(&access_denied()));
    };
    match known.check() {
        Ok((scope, challenge)) => redirect_with_code(app, &known, scope, challenge, account),
        Err(failure) => Ok(known.refuse(&failure)),
    }
}

fn access_denied() -> Failure {
    Failure::new("access_denied", "the request was denied")
}
