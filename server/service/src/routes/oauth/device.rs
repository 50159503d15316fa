//! Device authorization (RFC 8628): for machines without a browser, a page on another one.

use super::request::{
    Credentials, Fields, PageParams, Refusal, Sent, authenticate, generate_secret, known_scope,
    stale_page,
};
use super::second_factor::{self, Next};
use crate::http::address::Address;
use crate::http::secret::show_once;
use crate::http::visitor::MaskedIp;
use crate::identity::failure::OAuthResult;
use crate::identity::page::{credentials, error_line, escape, notice, page};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cairn_model::AccountId;
use cairn_store::Source;
use cairn_store::{DEVICE_CODE_S, INTERVAL_S};
use cairn_wire::identity::{DeviceAuthorization, DeviceRequest};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// RFC 8628, section 6.1: no vowels, so that no words come about.
const ALPHABET: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(begin))
        .routes(routes!(show, submit))
}

fn fresh_user_code(source: &Source) -> String {
    let mut letters = String::new();
    while letters.len() < 8 {
        let [byte] = source.bytes::<1>();
        // Above, some letters would be more likely than others.
        if byte < 240 {
            letters.push(char::from(ALPHABET[usize::from(byte) % ALPHABET.len()]));
        }
    }
    letters
}

fn format_code(code: &str) -> String {
    let (first, second) = code.split_at_checked(4).unwrap_or((code, ""));
    format!("{first}-{second}")
}

/// A code as somebody typed it.
fn normalize_code(text: &str) -> String {
    text.chars()
        .filter(char::is_ascii_alphabetic)
        .map(|c| c.to_ascii_uppercase())
        .collect()
}

/// Begins: a code for the device and one for the person.
#[utoipa::path(
    post, path = "/oauth/device_authorization", tag = "identity", security(()),
    request_body(content = DeviceRequest, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The codes", body = DeviceAuthorization),
        (status = 400, description = "`client_id` is missing, or a scope is not supported"),
        (status = 401, description = "The client is unknown")
    )
)]
async fn begin(
    State(app): State<AppState>,
    Address(base): Address,
    Fields(request, parts): Fields<DeviceRequest>,
) -> OAuthResult<Response> {
    let from = Credentials::read(&parts.headers, request.client_id.as_deref(), None)?;
    let client = from.client(&app)?;
    let scope = known_scope(request.scope.as_deref())?;
    let (device_code, hash) = generate_secret(&app, "dc_");
    let user_code = fresh_user_code(&app.source);
    app.store
        .add_device_code(&hash, &user_code, &client.id, scope)?;
    let user_code = format_code(&user_code);
    let uri = format!("{base}/oauth/device");
    Ok(show_once(Json(DeviceAuthorization {
        device_code,
        verification_uri_complete: Some(format!("{uri}?user_code={user_code}")),
        verification_uri: uri,
        user_code,
        expires_in: DEVICE_CODE_S,
        interval: Some(INTERVAL_S.unsigned_abs()),
    })))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Code {
    /// The code that the device shows.
    user_code: Option<String>,
}

/// The form of the second page.
#[derive(Deserialize, ToSchema)]
struct Decision {
    #[serde(default)]
    email: String,
    #[serde(default)]
    password: String,
    #[serde(default)]
    form: String,
    /// `deny` turns the device away.
    action: Option<String>,
}

fn ask_for_code(app: &AppState, status: StatusCode, error: Option<&str>) -> Response {
    let error = error_line(error);
    let body = format!(
        "{error}<form method=\"get\" action=\"/oauth/device\"><label for=\"code\">Code that the device shows</label>\
         <input id=\"code\" name=\"user_code\" autocomplete=\"off\" autocapitalize=\"characters\" required>\
         <button class=\"main\">Continue</button></form>"
    );
    page(&app.source, status, "Log in a device", &body, None)
}

fn ask_for_login(
    app: &AppState,
    headers: &HeaderMap,
    secure: bool,
    code: &str,
    status: StatusCode,
    error: Option<(&str, &str)>,
) -> OAuthResult<Response> {
    let Some(device) = app.store.waiting_device(code)? else {
        let text = "There is no such code. It may have expired: codes are valid for ten minutes.";
        return Ok(ask_for_code(app, StatusCode::BAD_REQUEST, Some(text)));
    };
    let name = app
        .identity
        .client(&device.client)
        .map_or(device.client.as_str(), |client| client.name.as_str());
    let form = app.identity.forms.for_page(headers, &app.source, &code);
    let (email, error) = error.map_or(("", None), |(email, text)| (email, Some(text)));
    let body = format!(
        "<p>A device that shows the code <strong>{}</strong> wants to log in to your account with \
         <strong>{}</strong> ({}). Allow this only if it is your device and it is in front of you.</p>\
         <form method=\"post\" action=\"/oauth/device\">{}{}\
         <button class=\"main\" name=\"action\" value=\"allow\">Allow</button>\
         <button name=\"action\" value=\"deny\" formnovalidate>Deny</button></form>",
        format_code(code),
        escape(name),
        device.scope,
        form.hidden,
        credentials(email, error),
    );
    let response = page(&app.source, status, "Log in a device", &body, None);
    Ok(form.set_cookie(response, secure))
}

/// Shows the page for a code, or the one that asks for it.
#[utoipa::path(
    get, path = "/oauth/device", operation_id = "show_device", tag = "identity", security(()), params(Code),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 400, description = "There is no such code", body = String, content_type = "text/html")
    )
)]
async fn show(
    State(app): State<AppState>,
    address: Address,
    headers: HeaderMap,
    PageParams(query): PageParams<Code>,
) -> OAuthResult<Response> {
    match query.user_code.as_deref().map(normalize_code) {
        None => Ok(ask_for_code(&app, StatusCode::OK, None)),
        Some(code) => {
            let secure = address.is_secure();
            ask_for_login(&app, &headers, secure, &code, StatusCode::OK, None)
        }
    }
}

/// Takes the page's form: lets the device in, or turns it away.
#[utoipa::path(
    post, path = "/oauth/device", operation_id = "submit_device", tag = "identity", security(()),
    request_body(content = Decision, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "It is decided, or the page that asks for the second factor", body = String, content_type = "text/html"),
        (status = 400, description = "The form or the code is too old", body = String, content_type = "text/html"),
        (status = 403, description = "E-mail or password is wrong", body = String, content_type = "text/html"),
        (status = 429, description = "Too many wrong passwords", body = String, content_type = "text/html")
    )
)]
async fn submit(
    State(app): State<AppState>,
    address: Address,
    MaskedIp(from): MaskedIp,
    Sent(decision, parts): Sent<Decision>,
) -> OAuthResult<Response> {
    let now = app.source.now_ms();
    let code = app
        .identity
        .forms
        .open::<String>(&parts.headers, &decision.form, now);
    let Some(code) = code else {
        return Ok(stale_page(&app));
    };
    let again = |refusal: Refusal| {
        let error = Some((decision.email.as_str(), refusal.text.as_str()));
        let (headers, secure) = (&parts.headers, address.is_secure());
        let page = ask_for_login(&app, headers, secure, &code, refusal.status, error)?;
        Ok(refusal.mark(page))
    };
    if decision.action.as_deref() == Some("deny") {
        return finish(&app, &code, None);
    }
    let account = match authenticate(&app, &decision.email, &decision.password, &from).await? {
        Ok(account) => account,
        Err(refusal) => return again(refusal),
    };
    let next = Next::Device(code.clone());
    if let Some(page) = second_factor::ask(&app, &parts.headers, &address, &account, next)? {
        return Ok(page);
    }
    finish(&app, &code, Some(account.id))
}

/// Lets the device that waits under a code into an account, or, without one, turns it away.
pub(super) fn finish(
    app: &AppState,
    code: &str,
    account: Option<AccountId>,
) -> OAuthResult<Response> {
    if !app.store.decide_device(code, account)? {
        let text = "The code has expired, or has been used. Ask the device for a new one.";
        return Ok(ask_for_code(app, StatusCode::BAD_REQUEST, Some(text)));
    }
    let (title, text) = match account {
        Some(_) => ("The device is logged in", "You can close this page."),
        None => (
            "The device was not allowed",
            "It has no access to your account.",
        ),
    };
    Ok(notice(&app.source, StatusCode::OK, title, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_store::Clock;

    #[test]
    fn a_code_is_read_however_it_was_typed() {
        let source = Source::new(Clock::System, None);
        let code = fresh_user_code(&source);
        assert!(code.len() == 8 && code.bytes().all(|b| ALPHABET.contains(&b)));
        assert_eq!(
            normalize_code(&format!(" {} ", format_code(&code).to_lowercase())),
            code
        );
    }
}
