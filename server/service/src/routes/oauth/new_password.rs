//! Pages behind the links of mails: a new password for who has forgotten theirs, and the first one of an account
//! that an administrator has offered.
//!
//! The links have the configured address of the server. One taken from a request would let its sender choose
//! where somebody else's code goes.

use super::request::{PageParams, Sent, stale_page};
use crate::error::{Error, Result, add_header};
use crate::http::visitor::MaskedIp;
use crate::identity::failure::OAuthResult;
use crate::identity::links::PasswordLink;
use crate::identity::page::{error_line, escape, notice, page};
use crate::identity::password::{MIN_PASSWORD, check_new};
use crate::state::AppState;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(show_forgotten, submit_forgotten))
        .routes(routes!(show_password, submit_password))
}

/// The link of a mail. One that was cut off is a link that has ended.
#[derive(Clone, Debug, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Link {
    /// `reset` or `registration`
    #[serde(default)]
    purpose: String,
    #[serde(default)]
    email: String,
    #[serde(default)]
    code: String,
}

impl Link {
    /// Returns what its page sets a password for.
    fn kind(&self) -> Option<PasswordLink> {
        PasswordLink::parse(&self.purpose)
    }

    /// Returns true if its code is good.
    fn is_open(&self, app: &AppState) -> Result<bool> {
        let Some(kind) = self.kind() else {
            return Ok(false);
        };
        let purpose = kind.purpose();
        Ok(app.store.is_code_open(&purpose, &self.email, &self.code)?)
    }
}

/// The form that asks for an address.
#[derive(Deserialize, ToSchema)]
struct Forgotten {
    #[serde(default)]
    email: String,
    #[serde(default)]
    form: String,
}

/// The form with a new password.
#[derive(Deserialize, ToSchema)]
struct NewPassword {
    #[serde(default)]
    password: String,
    #[serde(default)]
    again: String,
    #[serde(default)]
    form: String,
}

/// Returns the line under a login form for who has forgotten the password, if the server can send them a link.
pub(super) fn forgotten_link(app: &AppState) -> &'static str {
    if is_offered(app) {
        "<p><a href=\"/oauth/forgotten\">Forgotten the password?</a></p>"
    } else {
        ""
    }
}

/// Returns true if the server can send somebody a link for a new password.
fn is_offered(app: &AppState) -> bool {
    app.options.mail.is_some()
}

fn unavailable_page(app: &AppState) -> Response {
    notice(
        &app.source,
        StatusCode::NOT_FOUND,
        "Forgotten password",
        "This server sends no mail. Ask whoever runs it for a new password.",
    )
}

fn with_form(
    app: &AppState,
    headers: &HeaderMap,
    content: &impl Serialize,
    action: &str,
    title: &str,
    fields: &str,
    status: StatusCode,
) -> Response {
    let form = app.identity.forms.for_page(headers, &app.source, content);
    let body = format!(
        "<form method=\"post\" action=\"{action}\">{}{fields}</form>",
        form.hidden
    );
    let response = page(&app.source, status, title, &body, None);
    let secure = app
        .options
        .public_url
        .as_deref()
        .is_some_and(|url| url.starts_with("https:"));
    form.set_cookie(response, secure)
}

/// Shows the page that asks for the address of an account.
#[utoipa::path(
    get, path = "/oauth/forgotten", tag = "identity", security(()),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 404, description = "The server sends no mail", body = String, content_type = "text/html")
    )
)]
async fn show_forgotten(State(app): State<AppState>, headers: HeaderMap) -> Response {
    if !is_offered(&app) {
        return unavailable_page(&app);
    }
    let fields = "<label for=\"email\">Email</label>\
        <input id=\"email\" name=\"email\" type=\"email\" autocomplete=\"username\" required>\
        <button class=\"main\">Send a link</button>";
    with_form(
        &app,
        &headers,
        &(),
        "/oauth/forgotten",
        "Forgotten password",
        fields,
        StatusCode::OK,
    )
}

/// Sends a link for a new password, if there is such an account; the page says the same if there is none.
#[utoipa::path(
    post, path = "/oauth/forgotten", tag = "identity", security(()),
    request_body(content = Forgotten, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The mail is on its way, if there is such an account", body = String, content_type = "text/html"),
        (status = 400, description = "The form is not one of this browser, or too old", body = String, content_type = "text/html"),
        (status = 404, description = "The server sends no mail", body = String, content_type = "text/html")
    )
)]
async fn submit_forgotten(
    State(app): State<AppState>,
    Sent(sent, parts): Sent<Forgotten>,
) -> OAuthResult<Response> {
    if !is_offered(&app) {
        return Ok(unavailable_page(&app));
    }
    let opened = app
        .identity
        .forms
        .open::<()>(&parts.headers, &sent.form, app.source.now_ms());
    if opened.is_none() {
        return Ok(stale_page(&app));
    }
    let email = sent.email.trim();
    app.send_password_link(email)?;
    Ok(notice(
        &app.source,
        StatusCode::OK,
        "Look into your mail",
        &format!(
            "If there is an account with this address, a link for a new password is on its way. It is good for {}.",
            PasswordLink::Reset.lifetime()
        ),
    ))
}

fn password_page(
    app: &AppState,
    headers: &HeaderMap,
    link: &Link,
    error: Option<&str>,
) -> Response {
    let (title, button) = match link.kind() {
        Some(PasswordLink::Registration) => ("Your account", "Make the account"),
        Some(PasswordLink::Reset) | None => ("New password", "Set the password"),
    };
    let error = error_line(error);
    let status = if error.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::BAD_REQUEST
    };
    let fields = format!(
        "{error}<p>{}</p><input type=\"hidden\" name=\"email\" autocomplete=\"username\" value=\"{}\">\
         <label for=\"password\">New password</label>\
         <input id=\"password\" name=\"password\" type=\"password\" autocomplete=\"new-password\" minlength=\"{MIN_PASSWORD}\" required>\
         <label for=\"again\">The same again</label>\
         <input id=\"again\" name=\"again\" type=\"password\" autocomplete=\"new-password\" required>\
         <button class=\"main\">{button}</button>",
        escape(&format!(
            "The password for logging in as {}. It is not the passphrase of your files, which no server knows.",
            link.email
        )),
        escape(&link.email),
    );
    with_form(
        app,
        headers,
        link,
        "/oauth/password",
        title,
        &fields,
        status,
    )
}

fn expired_page(app: &AppState) -> Response {
    notice(
        &app.source,
        StatusCode::GONE,
        "This link has ended",
        "It was used already, or it is too old. Ask for another one.",
    )
}

fn refusal_page(app: &AppState, error: &Error) -> Response {
    let title = "The password can't be set";
    let mut response = notice(&app.source, error.status(), title, &error.to_string());
    add_header(&mut response, error.header());
    response
}

/// Shows the page behind the link of a mail. It changes nothing: programs that look into mails open links, too.
#[utoipa::path(
    get, path = "/oauth/password", tag = "identity", security(()), params(Link),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 400, description = "The address can't be read", body = String, content_type = "text/html"),
        (status = 410, description = "The link was used, or it is too old", body = String, content_type = "text/html")
    )
)]
async fn show_password(
    State(app): State<AppState>,
    headers: HeaderMap,
    PageParams(link): PageParams<Link>,
) -> OAuthResult<Response> {
    if !link.is_open(&app)? {
        return Ok(expired_page(&app));
    }
    Ok(password_page(&app, &headers, &link, None))
}

/// Does in its turn what a link is for: a hash takes a core for a while, as a check of a password does.
async fn set_password(
    app: &AppState,
    kind: PasswordLink,
    link: Link,
    password: String,
    from: String,
) -> Result<bool, Error> {
    let _place = app.identity.queue.enter(&from)?;
    let _permit = app.identity.checks.acquire().await;
    let worker = app.clone();
    tokio::task::spawn_blocking(move || {
        worker.password_from_link(kind, &link.email, &link.code, &password, &from)
    })
    .await
    .map_err(|e| Error::internal(format!("a password can't be set: {e}")))?
}

/// Sets the password, which ends all logins, or makes the account; the address is proved by that.
#[utoipa::path(
    post, path = "/oauth/password", tag = "identity", security(()),
    request_body(content = NewPassword, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The password is set", body = String, content_type = "text/html"),
        (status = 400, description = "The password is too short, too long or too easy to guess, or the form is not one of this browser", body = String, content_type = "text/html"),
        (status = 409, description = "There is an account with this address already", body = String, content_type = "text/html"),
        (status = 410, description = "The link was used, or it is too old", body = String, content_type = "text/html"),
        (status = 429, description = "Too many wrong codes for this address", body = String, content_type = "text/html")
    )
)]
async fn submit_password(
    State(app): State<AppState>,
    MaskedIp(from): MaskedIp,
    Sent(sent, parts): Sent<NewPassword>,
) -> OAuthResult<Response> {
    let now = app.source.now_ms();
    let Some(link) = app
        .identity
        .forms
        .open::<Link>(&parts.headers, &sent.form, now)
    else {
        return Ok(stale_page(&app));
    };
    if let Err(text) = check_new(&sent.password, &sent.again, &link.email) {
        return Ok(password_page(&app, &parts.headers, &link, Some(&text)));
    }
    if !link.is_open(&app)? {
        return Ok(expired_page(&app));
    }
    let Some(kind) = link.kind() else {
        return Ok(expired_page(&app));
    };
    let done = set_password(&app, kind, link, sent.password, from).await;
    match done {
        Ok(true) => Ok(notice(
            &app.source,
            StatusCode::OK,
            "The password is set",
            "Log in with it in Cairn: `cairn login`, or Settings in its window.",
        )),
        Ok(false) => Ok(expired_page(&app)),
        Err(error) if error.status() == StatusCode::CONFLICT => Ok(notice(
            &app.source,
            StatusCode::CONFLICT,
            "There is an account already",
            "An account with this address exists. If its password is forgotten, ask for a new one.",
        )),
        Err(error) if error.status().is_client_error() => Ok(refusal_page(&app, &error)),
        Err(error) => Err(error.into()),
    }
}
