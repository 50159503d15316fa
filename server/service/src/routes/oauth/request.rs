//! The parts of a request that the endpoints of the identity provider read.

use crate::error::{Error, add_header};
use crate::http::extract::QueryParams;
use crate::http::form;
use crate::identity::client::Client;
use crate::identity::failure::{Failure, OAuthResult};
use crate::identity::page::notice;
use crate::identity::password;
use crate::state::AppState;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use cairn_model::AccountId;
use cairn_store::{Account, CLIENT_PREFIX, Hash, Scopes};
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// A form-encoded body, with the head of its request.
pub(super) struct Fields<T>(pub(super) T, pub(super) Parts);

impl<T: DeserializeOwned> FromRequest<AppState> for Fields<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &AppState) -> OAuthResult<Self> {
        let (parts, content) = request.into_parts();
        if !form::is_form(&parts.headers) {
            return Err(Failure::request(form::NO_FORM));
        }
        let request = Request::from_parts(parts.clone(), content);
        let fields = form::read(request, None).await?;
        Ok(Self(fields, parts))
    }
}

/// The same for the forms of our own pages, where a person reads what is wrong.
pub(super) struct Sent<T>(pub(super) T, pub(super) Parts);

impl<T: DeserializeOwned> FromRequest<AppState> for Sent<T> {
    type Rejection = Response;

    async fn from_request(request: Request, app: &AppState) -> Result<Self, Response> {
        match Fields::from_request(request, app).await {
            Ok(Fields(fields, parts)) => Ok(Self(fields, parts)),
            Err(failure) => Err(notice(
                &app.source,
                failure.status,
                "Can't read this form",
                &failure.description,
            )),
        }
    }
}

/// The query parameters of our own pages, where a person reads what is wrong.
pub(super) struct PageParams<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequestParts<AppState> for PageParams<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, Response> {
        match QueryParams::from_request_parts(parts, app).await {
            Ok(QueryParams(value)) => Ok(Self(value)),
            Err(error) => {
                let failure = Failure::from(error);
                Err(notice(
                    &app.source,
                    failure.status,
                    "Can't read this address",
                    &failure.description,
                ))
            }
        }
    }
}

/// Makes a secret for somebody to keep, and what is kept of it here.
pub(super) fn generate_secret(app: &AppState, prefix: &str) -> (String, Hash) {
    let text = format!(
        "{prefix}{}",
        URL_SAFE_NO_PAD.encode(app.source.bytes::<32>())
    );
    let hash = hash(&text);
    (text, hash)
}

/// Returns what is kept of a secret.
pub(super) fn hash(text: &str) -> Hash {
    Sha256::digest(text).into()
}

/// A client's id and secret: from the `Authorization` header, or else from the form.
pub(super) struct Credentials {
    pub(super) id: String,
    pub(super) secret: Option<String>,
}

impl Credentials {
    /// Reads them from a request.
    ///
    /// # Errors
    /// A missing id, a header that can't be read, or credentials in both places.
    pub(super) fn read(
        headers: &HeaderMap,
        id: Option<&str>,
        secret: Option<&str>,
    ) -> OAuthResult<Self> {
        let Some(basic) = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|text| text.split_once(' '))
            // RFC 9110, section 11.1: names of schemes have no case.
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"))
            .map(|(_, credentials)| credentials)
        else {
            return Ok(Self {
                id: id
                    .filter(|id| !id.is_empty())
                    .ok_or_else(|| Failure::request("'client_id' is missing"))?
                    .to_owned(),
                secret: secret.filter(|text| !text.is_empty()).map(str::to_owned),
            });
        };
        let bad = || Failure::client("the Authorization header can't be read");
        let text = STANDARD.decode(basic.trim()).map_err(|_| bad())?;
        let text = String::from_utf8(text).map_err(|_| bad())?;
        let (name, password) = text.split_once(':').ok_or_else(bad)?;
        // RFC 6749, section 2.3.1: both are form-encoded.
        let plain = |text: &str| {
            serde_urlencoded::from_str::<Vec<(String, String)>>(&format!("x={text}"))
                .ok()
                .and_then(|pairs| pairs.into_iter().next())
                .map(|(_, value)| value)
                .ok_or_else(bad)
        };
        let (id_here, secret_here) = (plain(name)?, plain(password)?);
        if id.is_some_and(|id| id != id_here) || secret.is_some() {
            return Err(Failure::request("the client names itself twice"));
        }
        Ok(Self {
            id: id_here,
            secret: Some(secret_here).filter(|text| !text.is_empty()),
        })
    }

    /// Returns the registered client that these are the credentials of.
    pub(super) fn client<'a>(&self, app: &'a AppState) -> OAuthResult<&'a Client> {
        let client = app.identity.client(&self.id);
        client
            .filter(|client| client.is_proven_by(self.secret.as_deref()))
            .ok_or_else(|| Failure::client("the client is unknown, or its secret is wrong"))
    }
}

/// A service account that has proven who it is.
pub(super) struct Service {
    pub(super) id: Uuid,
    pub(super) account: AccountId,
    pub(super) scope: Scopes,
}

impl Credentials {
    /// Returns the service account that these are the credentials of.
    pub(super) fn service_account(&self, app: &AppState) -> OAuthResult<Service> {
        let refused = || Failure::client("the service account is unknown, or its secret is wrong");
        let id = self
            .id
            .strip_prefix(CLIENT_PREFIX)
            .and_then(|text| Uuid::try_parse(text).ok())
            .ok_or_else(refused)?;
        let secret = self.secret.as_deref().ok_or_else(refused)?;
        let (account, scope) = app
            .store
            .use_service_account(id, &hash(secret))?
            .ok_or_else(refused)?;
        Ok(Service { id, account, scope })
    }
}

/// The reason why a form is shown again.
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) text: String,
    /// The header that belongs to the status, such as `Retry-After`.
    header: Option<(HeaderName, String)>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self {
            status,
            text: text.into(),
            header: None,
        }
    }

    /// Reads it from an error that is the request's.
    pub(super) fn of(error: &Error) -> Self {
        Self {
            status: error.status(),
            text: error.to_string(),
            header: error.header(),
        }
    }

    /// Adds the header that belongs to it to the page that shows it.
    pub(super) fn mark(self, mut page: Response) -> Response {
        add_header(&mut page, self.header);
        page
    }
}

/// Finds the account that an e-mail address and a password of a form belong to; `from` is the masked
/// address that the attempt comes from. The inner error is what the form is shown with again.
pub(super) async fn authenticate(
    app: &AppState,
    email: &str,
    password: &str,
    from: &str,
) -> OAuthResult<Result<Account, Refusal>> {
    match password::check(app, email, from, password).await {
        Ok(Some(account)) => Ok(Ok(account)),
        Ok(None) => {
            let text = "The email address or the password is wrong.";
            Ok(Err(Refusal::new(StatusCode::FORBIDDEN, text)))
        }
        Err(error) if error.status().is_client_error() => Ok(Err(Refusal::of(&error))),
        Err(error) => Err(error.into()),
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

/// Reads the scopes of an authorization request: those that are unknown are passed over (OpenID Connect Core, section
/// 3.1.2.1), as long as one is known.
pub(super) fn known_scope(text: Option<&str>) -> OAuthResult<Scopes> {
    let text = text.unwrap_or_default();
    let known: Vec<&str> = text
        .split_ascii_whitespace()
        .filter(|one| Scopes::parse(one).is_some())
        .collect();
    if known.is_empty() {
        return scope(Some(text));
    }
    scope(Some(&known.join(" ")))
}

/// Returns the page about a form that can't be taken any more.
pub(super) fn stale_page(app: &AppState) -> Response {
    notice(
        &app.source,
        StatusCode::BAD_REQUEST,
        "This page has expired",
        "Go back to where you came from and start again. Your browser must allow cookies for this address.",
    )
}
