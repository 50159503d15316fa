//! The authorization endpoint and its login page: a code for a client, with PKCE (S256) always.

use super::{Sent, fresh};
use crate::error::Result;
use crate::http::address::Address;
use crate::http::extract::Params;
use crate::http::visitor::MaskedIp;
use crate::identity::client::{CAIRN, Client};
use crate::identity::failure::{Failure, OAuthResult};
use crate::identity::form::Browser;
use crate::identity::page::{credentials, escape, notice, page};
use crate::identity::password;
use crate::state::AppState;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use cairn_store::NewCode;
use cairn_store::Scopes;
use reqwest::Url;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// A challenge of S256 is 32 bytes in base64url.
const CHALLENGE: usize = 43;
/// `state` and `nonce` are handed back or signed; nobody needs longer ones.
const MAX_OPAQUE: usize = 1_000;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(show, submit))
}

/// An authorization request (OpenID Connect Core, section 3.1.2.1).
#[derive(Clone, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct AuthorizationRequest {
    /// `code`
    response_type: Option<String>,
    client_id: Option<String>,
    redirect_uri: Option<String>,
    scope: Option<String>,
    state: Option<String>,
    nonce: Option<String>,
    code_challenge: Option<String>,
    /// `S256`
    code_challenge_method: Option<String>,
    prompt: Option<String>,
    /// Not supported, as the next one.
    request: Option<String>,
    request_uri: Option<String>,
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

/// A request whose client and address are known: failures may go there now.
struct Known<'a> {
    client: &'a Client,
    redirect: Url,
    request: &'a AuthorizationRequest,
    issuer: &'a str,
}

impl Known<'_> {
    /// Leads back to the client.
    fn lead(&self, parameters: &[(&str, &str)]) -> Response {
        let mut url = self.redirect.clone();
        {
            let mut pairs = url.query_pairs_mut();
            pairs.extend_pairs(parameters);
            if let Some(state) = &self.request.state {
                pairs.append_pair("state", state);
            }
            pairs.append_pair("iss", self.issuer);
        }
        let mut response = StatusCode::SEE_OTHER.into_response();
        let headers = response.headers_mut();
        if let Ok(url) = HeaderValue::from_str(url.as_str()) {
            headers.insert(header::LOCATION, url);
        }
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(
            header::REFERRER_POLICY,
            HeaderValue::from_static("no-referrer"),
        );
        response
    }

    fn refuse(&self, failure: &Failure) -> Response {
        self.lead(&[
            ("error", failure.error),
            ("error_description", &failure.description),
        ])
    }

    /// Checks whether the rest can be granted.
    fn check(&self) -> OAuthResult<(Scopes, String)> {
        let request = self.request;
        // What stands in them would have to replace what stands beside them.
        for (value, error) in [
            (&request.request, "request_not_supported"),
            (&request.request_uri, "request_uri_not_supported"),
        ] {
            if value.is_some() {
                return Err(Failure::new(error, "request objects are not supported"));
            }
        }
        if request.response_type.as_deref() != Some("code") {
            return Err(Failure::new(
                "unsupported_response_type",
                "'response_type' has to be 'code'",
            ));
        }
        let challenge = request.code_challenge.clone().unwrap_or_default();
        let method = request.code_challenge_method.as_deref();
        if challenge.len() != CHALLENGE || method != Some("S256") {
            return Err(Failure::request(
                "PKCE is needed: 'code_challenge' of 43 characters with 'code_challenge_method' S256",
            ));
        }
        let opaque = [&request.state, &request.nonce];
        if opaque
            .into_iter()
            .flatten()
            .any(|text| text.len() > MAX_OPAQUE)
        {
            return Err(Failure::request("'state' or 'nonce' is too long"));
        }
        let scope = scope(request.scope.as_deref())?;
        if request.prompt.as_deref() == Some("none") {
            return Err(Failure::new(
                "login_required",
                "every login asks for the password",
            ));
        }
        Ok((scope, challenge))
    }
}

/// The scopes of a request, or those of one that names none.
pub(super) fn scope(text: Option<&str>) -> OAuthResult<Scopes> {
    let bad = || Failure::new("invalid_scope", "'scope' names one that is not supported");
    let scope = Scopes::parse(text.unwrap_or_default()).ok_or_else(bad)?;
    Ok(if scope.is_empty() {
        Scopes::DEFAULT
    } else {
        scope
    })
}

/// Finds the client and checks where the response is to go. A failure stays on this page: it must not
/// lead anywhere.
fn known<'a>(
    app: &'a AppState,
    request: &'a AuthorizationRequest,
    issuer: &'a str,
) -> Result<Known<'a>, Box<Response>> {
    let refuse = |text: &str| {
        Box::new(notice(
            &app.source,
            StatusCode::BAD_REQUEST,
            "Can't sign you in",
            text,
        ))
    };
    let client = request
        .client_id
        .as_deref()
        .and_then(|id| app.identity.client(id))
        .ok_or_else(|| refuse("This server doesn't know the application that sent you here."))?;
    let redirect = request.redirect_uri.as_deref().unwrap_or_default();
    match Url::parse(redirect) {
        Ok(url) if client.may_redirect_to(redirect) => Ok(Known {
            client,
            redirect: url,
            request,
            issuer,
        }),
        Ok(_) | Err(_) => Err(refuse(
            "The application wants the result of your login sent to an address that it has not registered.",
        )),
    }
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
    );
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
    Params(request): Params<AuthorizationRequest>,
) -> Response {
    let known = match known(&app, &request, &issuer) {
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
        return Ok(stale(&app));
    };
    let known = match known(&app, &request, &address.0) {
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
    let account = match password::check(&app, &login.email, &from, &login.password).await {
        Ok(Some(account)) => account,
        Ok(None) => {
            return Ok(again(
                StatusCode::FORBIDDEN,
                "The email address or the password is wrong.",
            ));
        }
        Err(error) if error.status().is_client_error() => {
            return Ok(again(error.status(), &error.to_string()));
        }
        Err(error) => return Err(error.into()),
    };
    let (code, hash) = fresh(&app, "");
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
pub(super) fn stale(app: &AppState) -> Response {
    notice(
        &app.source,
        StatusCode::BAD_REQUEST,
        "This page has expired",
        "Go back to where you came from and start again. Your browser must allow cookies for this address.",
    )
}
