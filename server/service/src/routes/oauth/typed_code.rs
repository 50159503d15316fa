//! The code that somebody typed on the page of the second factor, and where the login goes on.

use super::request::{Refusal, Sent, stale_page};
use super::second_factor::{Next, Waiting, code_page, name_password};
use super::{account, authorize, device};
use crate::auth::disabled_error;
use crate::http::address::Address;
use crate::identity::failure::OAuthResult;
use crate::state::AppState;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cairn_store::Account;
use serde::Deserialize;
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

/// Takes the code that follows a password: leads back to the client, lets the device in, or opens the account's page.
#[utoipa::path(
    post, path = "/oauth/second-factor", operation_id = "submit_second_factor", tag = "identity", security(()),
    request_body(content = TypedCode, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "It is decided about the device, or the page of the account", body = String, content_type = "text/html"),
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
        return finish(&app, &parts.headers, &address, &waiting.next, None);
    }
    let Some(account) = app.store.account(waiting.second_factor_of)? else {
        return Ok(stale_page(&app));
    };
    if name_password(&app, &account)?.as_ref() != Some(&waiting.password) {
        return Ok(stale_page(&app));
    }
    let again = |refusal: Refusal| {
        let (status, error) = (refusal.status, Some(refusal.text.as_str()));
        let page = code_page(&app, &parts.headers, &address, &waiting, status, error);
        Ok(refusal.mark(page))
    };
    if account.disabled {
        return again(Refusal::of(&disabled_error()));
    }
    match app.take_code(account.id, &sent.code) {
        Ok(true) => {
            let headers = &parts.headers;
            finish(&app, headers, &address, &waiting.next, Some(account))
        }
        Ok(false) => again(Refusal::new(
            StatusCode::FORBIDDEN,
            "The code is wrong, or was used before. The app shows another one every 30 seconds.",
        )),
        Err(error) if error.status().is_client_error() => again(Refusal::of(&error)),
        Err(error) => Err(error.into()),
    }
}

/// Ends a login well, or without an account by turning the client or the device away.
fn finish(
    app: &AppState,
    headers: &HeaderMap,
    address: &Address,
    next: &Next,
    account: Option<Account>,
) -> OAuthResult<Response> {
    let id = account.as_ref().map(|account| account.id);
    match next {
        Next::Authorize(request) => authorize::finish(app, address, request, id),
        Next::Device(code) => device::finish(app, code, id),
        Next::Account => account::finish(app, headers, address, account),
    }
}
