//! An authorization request: its client, the address that its result goes to, and whether it can be granted.

use super::super::request::known_scope;
use crate::identity::client::Client;
use crate::identity::failure::{Failure, OAuthResult};
use crate::identity::page::notice;
use crate::state::AppState;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use cairn_store::Scopes;
use reqwest::Url;
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

/// A challenge of S256 is 32 bytes in base64url.
const CHALLENGE: usize = 43;
/// `state` and `nonce` are handed back or signed; nobody needs longer ones.
const MAX_OPAQUE: usize = 1_000;

/// An authorization request (OpenID Connect Core, section 3.1.2.1).
#[derive(Clone, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuthorizationRequest {
    /// `code`
    response_type: Option<String>,
    client_id: Option<String>,
    pub(super) redirect_uri: Option<String>,
    scope: Option<String>,
    state: Option<String>,
    pub(super) nonce: Option<String>,
    code_challenge: Option<String>,
    /// `S256`
    code_challenge_method: Option<String>,
    prompt: Option<String>,
    /// `query`, as without it
    response_mode: Option<String>,
    /// Refused, as the next one: not supported.
    request: Option<String>,
    request_uri: Option<String>,
}

impl AuthorizationRequest {
    /// Returns it without the parameters that have no value: they count as left out (RFC 6749, section 3.1).
    pub(super) fn without_empty(mut self) -> Self {
        for field in [
            &mut self.response_type,
            &mut self.client_id,
            &mut self.redirect_uri,
            &mut self.scope,
            &mut self.state,
            &mut self.nonce,
            &mut self.code_challenge,
            &mut self.code_challenge_method,
            &mut self.prompt,
            &mut self.response_mode,
            &mut self.request,
            &mut self.request_uri,
        ] {
            if field.as_deref() == Some("") {
                *field = None;
            }
        }
        self
    }

    /// Returns true if it names a client.
    pub(super) fn has_client(&self) -> bool {
        self.client_id.is_some()
    }

    /// Returns the source (of a content security policy) that its result goes to.
    pub(crate) fn redirect_source(&self) -> Option<String> {
        let url = Url::parse(self.redirect_uri.as_deref()?).ok()?;
        Some(policy_source(&url))
    }
}

/// Returns what a content security policy calls the place that an address leads to: its origin, or its scheme if that
/// is an application's own, which has no origins.
pub(super) fn policy_source(url: &Url) -> String {
    let origin = url.origin();
    if origin.is_tuple() {
        origin.ascii_serialization()
    } else {
        format!("{}:", url.scheme())
    }
}

/// A request whose client and address are known: failures may go there now.
pub(super) struct CheckedRequest<'a> {
    pub(super) client: &'a Client,
    pub(super) redirect: Url,
    pub(super) request: &'a AuthorizationRequest,
    pub(super) issuer: &'a str,
}

impl CheckedRequest<'_> {
    /// Leads back to the client.
    pub(super) fn redirect(&self, parameters: &[(&str, &str)]) -> Response {
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

    pub(super) fn refuse(&self, failure: &Failure) -> Response {
        self.redirect(&[
            ("error", failure.error),
            ("error_description", &failure.description),
        ])
    }

    /// Checks whether the rest can be granted.
    pub(super) fn check(&self) -> OAuthResult<(Scopes, String)> {
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
        if request
            .response_mode
            .as_deref()
            .is_some_and(|mode| mode != "query")
        {
            return Err(Failure::request("'response_mode' has to be 'query'"));
        }
        let scope = known_scope(request.scope.as_deref())?;
        self.check_prompt()?;
        Ok((scope, challenge))
    }

    /// Refuses a request that wants no page: every login has one.
    fn check_prompt(&self) -> OAuthResult<()> {
        let prompts = self.request.prompt.as_deref().unwrap_or_default();
        let mut prompts = prompts.split_ascii_whitespace();
        if !prompts.clone().any(|one| one == "none") {
            return Ok(());
        }
        if prompts.any(|one| one != "none") {
            return Err(Failure::request("'prompt' is 'none' and something else"));
        }
        Err(Failure::new(
            "login_required",
            "every login asks for the password",
        ))
    }
}

/// Finds the client and checks where the response is to go. A failure stays on this page: it must not
/// lead anywhere.
pub(super) fn check_client<'a>(
    app: &'a AppState,
    request: &'a AuthorizationRequest,
    issuer: &'a str,
) -> Result<CheckedRequest<'a>, Box<Response>> {
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
        Ok(url) if client.may_redirect_to(redirect) => Ok(CheckedRequest {
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
