//! The authorization endpoint and its login page: a code for a client, with PKCE (S256) always.

mod request;

pub(super) use request::scope;

use super::new_password;
use super::request::{Sent, authenticate, generate_secret};
use crate::http::address::Address;
use crate::http::extract::QueryParams;
use crate::http::visitor::MaskedIp;
use crate::identity::client::{CAIRN, Client};
use crate::identity::failure::{Failure, OAuthResult};
use crate::identity::form::Browser;
use crate::identity::page::{credentials, escape, notice, page};
use crate::state::AppState;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use cairn_store::NewCode;
use cairn_store::Scopes;
use request::{AuthorizationRequest, Known, check_client};
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
    known: &Known<'_>,
    scope: Scopes,
    status: StatusCode,
    error: Option<(&str, &str)>,
) -> Response {
    let browser = Browser::of(headers, &app.source);
    let form = app
        .identity
        .forms
        .seal(&browser, known.request, app.source.now_ms());
    let (email, error) = error.map_or(("", None), |(email, text)| (email, Some(text)));
    let body = format!(
        "<p>{}</p><form method=\"post\" action=\"/oauth/authorize\">\
         <input type=\"hidden\" name=\"form\" value=\"{}\">{}\
         <button class=\"main\" name=\"action\" value=\"login\">Log in</button>\
         <button name=\"action\" value=\"cancel\" formnovalidate>Cancel</button></form>",
        purpose(known.client, scope),
        escape(&form),
        credentials(email, error),
    ) + if new_password::is_offered(app) {
        "<p><a href=\"/oauth/forgotten\">Forgotten the password?</a></p>"
    } else {
        ""
    };
    let onward = known.redirect.origin().ascii_serialization();
    let mut response = page(&app.source, status, "Log in", &body, Some(&onward));
    if let Some(cookie) = browser.cookie(known.issuer.starts_with("https:")) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
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
    QueryParams(request): QueryParams<AuthorizationRequest>,
) -> Response {
    let known = match check_client(&app, &request, &issuer) {
        Ok(known) => known,
        Err(page) => return *page,
    };
    match known.check() {
        Ok((scope, _)) => login_page(&app, &headers, &known, scope, StatusCode::OK, None),
        Err(failure) => known.refuse(&failure),
    }
}

/// Takes the login page's form and leads back to the client with a code.
#[utoipa::path(
    post, path = "/oauth/authorize", tag = "identity", security(()),
    request_body(content = Login, content_type = "application/x-www-form-urlencoded"),
    responses(
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
    Sent(login, parts): Sent<Login>,
) -> OAuthResult<Response> {
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
        return Ok(known.refuse(&Failure::new("access_denied", "the person said no")));
    }
    let again = |status, text: &str| {
        let error = Some((login.email.as_str(), text));
        login_page(&app, &parts.headers, &known, scope, status, error)
    };
    let account = match authenticate(&app, &login.email, &login.password, &from).await? {
        Ok(account) => account,
        Err((status, text)) => return Ok(again(status, &text)),
    };
    let (code, hash) = generate_secret(&app, "");
    app.store.add_code(
        &hash,
        &NewCode {
            account: account.id,
            client: known.client.id.clone(),
            redirect_uri: request.redirect_uri.clone().unwrap_or_default(),
            challenge,
            scope,
            nonce: request.nonce.clone(),
        },
    )?;
    Ok(known.lead(&[("code", &code)]))
}

/// For a form that can't be taken any more.
pub(super) fn stale_page(app: &AppState) -> Response {
    notice(
        &app.source,
        StatusCode::BAD_REQUEST,
        "This page has expired",
        "Go back to where you came from and start again. Your browser must allow cookies for this address.",
    )
}
