//! Identifies who is asking: `Authorization: Bearer` with an API key or a JWT.
//!
//! An API key is found by its SHA-256. A JWT is checked once and remembered until it expires.

pub(crate) mod access;
pub(crate) mod administrator;
pub(crate) mod api_key;
pub(crate) mod token;

use self::token::LOCAL_ISSUER;

use crate::error::{Error, Result};
use crate::identity::client::CAIRN;
use crate::state::AppState;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, Method, header};
use cairn_model::{AccountId, DeviceId};
use cairn_store::Scopes;
use cairn_store::{Actor, Space};
use cairn_wire::headers::DEVICE_ID;
use uuid::Uuid;

/// The keys of the account's files, sealed by its passphrase.
const KEY_BUNDLE: &str = "/api/v1/keys";
/// The second step of the account's logins.
const SECOND_FACTOR: &str = "/api/v1/useraccount/second-factor";
/// Requests with `POST` that change nothing: questions that do not fit into a query.
const READING_POSTS: [&str; 2] = ["/api/v1/downloads/batch", "/api/v1/revisions/batch"];
/// Paths whose changes make something that outlives the credential that made it (another credential, access for other
/// people, a receiver of events, the end of the account, of a team or of a device's logins), spend or pay out money or
/// the assistant's tokens, change what is set or shown of the whole account, or are the word of a device.
const OUTLIVING: [&str; 13] = [
    "/api/v1/ai",
    "/api/v1/apikeys",
    "/api/v1/checkpoints",
    "/api/v1/devices",
    "/api/v1/service-accounts",
    KEY_BUNDLE,
    "/api/v1/webhooks",
    "/api/v1/useraccount",
    "/api/v1/payment",
    "/api/v1/shares/defaults",
    "/api/v1/shares/theme",
    "/api/v1/social",
    "/api/v1/teams",
];
/// Paths that are no matter of files, which `files.read` does not reach.
const ACCOUNT_MATTERS: [&str; 5] = [
    "/api/v1/apikeys",
    "/api/v1/service-accounts",
    "/api/v1/payment",
    "/api/v1/webhooks",
    "/api/v1/useraccount/second-factor",
];

/// Paths whose responses have an address of the billing portal, which is a credential itself.
const PORTAL_ADDRESSES: [&str; 2] = [
    "/api/v1/payment/billing-portal",
    "/api/v1/payment/tokens/packs",
];

/// The paths of those who administer other accounts.
const ADMINISTRATION: &str = "/api/v1/admin";

/// The authenticated caller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    pub(crate) account: AccountId,
    /// The files that the request is about: the caller's own, or those of the team that `X-Space-Id` names.
    pub(crate) space: Space,
    pub(crate) device: Option<DeviceId>,
    /// Present in a team's space.
    pub(crate) team: Option<access::InTeam>,
}

/// The extent of a credential's access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Full,
    /// Requests that change nothing.
    Read,
}

/// The owner of a credential, and how far the credential reaches.
#[derive(Clone, Copy, Debug)]
pub struct Holder {
    pub account: AccountId,
    pub(crate) space: Space,
    pub access: Access,
    /// The credential was given to a program of somebody else: a service account or a registered
    /// application.
    pub delegated: bool,
    /// The login that an access token came from.
    pub(crate) login: Option<Uuid>,
}

impl Caller {
    pub(crate) fn actor(&self) -> Actor {
        Actor {
            account: self.account,
            device: self.device,
            space: self.space,
        }
    }
}

/// The bearer token of a request, if it has one.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| token.trim())
        .filter(|token| !token.is_empty())
}

/// Finds out who is asking, and how far the credential reaches: as the rate limiter found it, or else
/// from the store.
///
/// # Errors
/// 401 without a token that is known and in force, 400 for a device id that is none.
fn identify(
    app: &AppState,
    headers: &HeaderMap,
    extensions: &Extensions,
) -> Result<(Caller, Holder)> {
    let token = bearer(headers).ok_or_else(|| {
        Error::unauthorized(
            "the Authorization header is missing; send `Bearer` with an API key or an access token",
        )
    })?;
    let holder = match extensions.get::<Holder>() {
        Some(known) => *known,
        None => holder(app, token)?,
    };
    let device = access::uuid_header(headers, DEVICE_ID, "X-Device-Id")?;
    let caller = Caller {
        account: holder.account,
        space: holder.space,
        device,
        team: None,
    };
    Ok((caller, holder))
}

/// Returns the refusal of an account that the administrator has switched off.
pub(crate) fn disabled_error() -> Error {
    Error::forbidden("the account is disabled; ask the operator of this server")
}

/// The account behind a token, and its personal space.
///
/// # Errors
/// 401 for a token that is unknown or not in force, 403 for one that was not given for the API and for a
/// disabled account.
pub fn holder(app: &AppState, token: &str) -> Result<Holder> {
    if token.starts_with(api_key::PREFIX) {
        let holder = app
            .store
            .key_holder(&api_key::hash(token))?
            .ok_or_else(|| Error::unauthorized("the API key is unknown, expired or revoked"))?;
        if holder.disabled {
            return Err(disabled_error());
        }
        return Ok(Holder {
            account: holder.account,
            space: holder.space,
            access: Access::Full,
            delegated: false,
            login: None,
        });
    }
    let verified = app.tokens.verify(token, app.source.now_ms())?;
    let access = if verified.scope.has(Scopes::FILES) {
        Access::Full
    } else if verified.scope.has(Scopes::READ) {
        Access::Read
    } else {
        return Err(Error::Scope(
            "the access token has neither the scope `files` nor `files.read`",
        ));
    };
    let account = app
        .store
        .account(verified.account)?
        .ok_or_else(|| Error::unauthorized("the access token's account is gone; log in again"))?;
    if account.disabled {
        return Err(disabled_error());
    }
    // The command line ends logins from another process, and so do other servers.
    if app.store.login_has_ended(verified.login, verified.id)? {
        return Err(Error::unauthorized(
            "the login of this access token has ended; log in again",
        ));
    }
    Ok(Holder {
        account: account.id,
        space: account.space,
        access,
        delegated: ![CAIRN, LOCAL_ISSUER].contains(&verified.client.as_str()),
        login: Some(verified.login),
    })
}

/// Returns true for a path itself and for those below it.
fn is_below(path: &str, family: &str) -> bool {
    path.strip_prefix(family)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Finds out who is asking, and checks that the credential reaches as far as the request.
///
/// # Errors
/// As [`identify`]; 403 for a change by a credential that only reads.
pub(crate) fn authorize(app: &AppState, request: &Parts) -> Result<Caller> {
    let (method, path) = (&request.method, request.uri.path());
    let (caller, holder) = identify(app, &request.headers, &request.extensions)?;
    let reads = matches!(*method, Method::GET | Method::HEAD) || READING_POSTS.contains(&path);
    if holder.access == Access::Read && !reads {
        return Err(Error::Scope(
            "the access token only has the scope `files.read`, and this changes something",
        ));
    }
    let below = |families: &[&str]| families.iter().any(|family| is_below(path, family));
    let outlives = holder.delegated && (!reads && below(&OUTLIVING) || below(&PORTAL_ADDRESSES));
    let beyond_files = holder.access == Access::Read
        && (below(&ACCOUNT_MATTERS) || holder.delegated && below(&[KEY_BUNDLE, SECOND_FACTOR]));
    // A program that acts for an administrator doesn't get access to the accounts of others.
    let administers =
        is_below(path, ADMINISTRATION) && (holder.delegated || holder.access == Access::Read);
    if outlives || beyond_files || administers {
        return Err(Error::forbidden(
            "this access token is for files; for accounts, keys, devices, teams, profiles, settings, payments, \
             webhooks and the assistant use an API key, or log in with Cairn",
        ));
    }
    if let Some(device) = caller.device {
        let (device, now) = ((caller.account, device), app.source.now_ms());
        app.seen.note(&app.store, device, holder.login, now)?;
    }
    Ok(caller)
}

impl FromRequestParts<AppState> for Caller {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self> {
        let caller = authorize(app, parts)?;
        access::enter(app, caller, parts)
    }
}

#[cfg(test)]
mod tests {
    use super::is_below;

    #[test]
    fn a_path_has_the_rights_of_its_own_family() {
        assert!(is_below("/api/v1/keys", "/api/v1/keys"));
        assert!(is_below("/api/v1/keys/recovery", "/api/v1/keys"));
        assert!(!is_below("/api/v1/keys-of-teams", "/api/v1/keys"));
        assert!(!is_below("/api/v1", "/api/v1/keys"));
    }
}
