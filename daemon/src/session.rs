//! The session of a command: a client of the server for the logged-in account, and the account's opened keys.

mod tokens;

use crate::account::{Account, not_logged_in};
use crate::failure::{CommandResult, Context as _, Failure};
use crate::keys;
use cairn_api::{Api, ApiError, ApiKey, Auth, HttpTransport, Login, RetryPolicy, Tokens};
use cairn_model::DeviceId;
use cairn_platform::Home;
use cairn_platform::secrets::{self, Secrets};
use cairn_space::account_keys::{self, AccountKey, AccountKeys};
use std::sync::Arc;
use std::time::Duration;
use tokens::SecretTokenStore;
use zeroize::Zeroizing;

const API_KEY: &str = "api-key";
const LOGIN: &str = "login";
const ACCOUNT_KEY: &str = "account-key";
/// The account key that is about to take the place of the other one.
const NEXT_ACCOUNT_KEY: &str = "next-account-key";

/// The client and the keys that a command works with.
pub(crate) struct Session {
    pub(crate) account: Account,
    pub(crate) api: Arc<Api>,
    pub(crate) keys: AccountKeys,
}

/// The credential that requests carry.
pub(crate) enum Credential {
    ApiKey(Zeroizing<String>),
    /// A login through a browser.
    Login(Tokens),
}

/// The choice of how long calls are retried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RetryProfile {
    /// A person waits for the result.
    Interactive,
    /// The profile of calls for which nobody waits.
    Background,
}

impl Session {
    /// Opens the keys of the logged-in account. Nothing is asked of the server.
    pub(crate) fn open(home: &Home, profile: RetryProfile) -> CommandResult<Self> {
        let account = Account::load(home)?;
        let secrets = open_secrets(home, &account)?;
        let keys = open_keys(home, &account, &*secrets)?;
        let transport = Arc::new(HttpTransport::default());
        let auth = kept_auth(home, &transport, secrets)?;
        let api = client(
            transport,
            &account.server,
            account.file_server.as_deref(),
            auth,
            account.device,
            profile,
        )?;
        Ok(Self { account, api, keys })
    }
}

/// Opens the account's keys with the stored account key. If something ended the program while new keys were being
/// taken over, the bundle of the home is that of the next account key already.
fn open_keys(home: &Home, account: &Account, secrets: &dyn Secrets) -> CommandResult<AccountKeys> {
    let bundle = keys::from_wire(&account.keys);
    let open = |key: &AccountKey| {
        account_keys::unlock_with_account_key(&bundle, key, account.account, account.space)
    };
    let kept = secrets.get(ACCOUNT_KEY)?.ok_or_else(not_logged_in)?;
    let opened = open(&AccountKey::from_bytes(&kept)?);
    if opened.is_err()
        && let Some(next) = next_key(secrets)?
        && let Ok(keys) = open(&next)
    {
        keep_account_key(home, secrets, &next)?;
        return Ok(keys);
    }
    opened.context("open this account's keys (run `cairn login` again)")
}

/// Returns the account key that is about to take the place of the other one.
pub(crate) fn next_key(secrets: &dyn Secrets) -> CommandResult<Option<AccountKey>> {
    let stored = secrets.get(NEXT_ACCOUNT_KEY)?;
    Ok(stored
        .map(|bytes| AccountKey::from_bytes(&bytes))
        .transpose()?)
}

/// Stores the account key of keys that are about to be in force.
pub(crate) fn keep_next_key(home: &Home, secrets: &dyn Secrets, key: &AccountKey) -> CommandResult {
    // A daemon may store a renewed login at the same time, and a file of secrets is written as a whole.
    let _one_at_a_time = tokens::lock(home)?;
    Ok(secrets.set(NEXT_ACCOUNT_KEY, &*key.to_bytes())?)
}

/// Stores the account key in force.
pub(crate) fn keep_account_key(
    home: &Home,
    secrets: &dyn Secrets,
    key: &AccountKey,
) -> CommandResult {
    let _one_at_a_time = tokens::lock(home)?;
    set_account_key(secrets, key)
}

fn set_account_key(secrets: &dyn Secrets, key: &AccountKey) -> CommandResult {
    secrets.set(ACCOUNT_KEY, &*key.to_bytes())?;
    Ok(secrets.delete(NEXT_ACCOUNT_KEY)?)
}

/// Returns the API key with which this home is logged in, if it is one.
pub(crate) fn own_api_key(secrets: &dyn Secrets) -> CommandResult<Option<Zeroizing<String>>> {
    let stored = secrets.get(API_KEY)?;
    Ok(stored.map(|key| Zeroizing::new(String::from_utf8_lossy(&key).into_owned())))
}

/// The credential that the last login left here.
fn kept_auth(
    home: &Home,
    transport: &Arc<HttpTransport>,
    secrets: Box<dyn Secrets>,
) -> CommandResult<Arc<dyn Auth>> {
    if let Some(key) = secrets.get(API_KEY)? {
        let key = Zeroizing::new(String::from_utf8(key.to_vec()).map_err(|_| not_logged_in())?);
        return Ok(Arc::new(ApiKey::new(key.as_str())));
    }
    if secrets.get(LOGIN)?.is_none() {
        return Err(not_logged_in());
    }
    let store = Arc::new(SecretTokenStore::new(home, secrets));
    Ok(Arc::new(Login::new(transport.clone(), store)))
}

/// Makes a client of a server with an API key. Nothing is asked of it yet.
pub(crate) fn connect(
    server: &str,
    file_server: Option<&str>,
    credential: &Credential,
    device: DeviceId,
    profile: RetryProfile,
) -> CommandResult<Arc<Api>> {
    let token = match credential {
        Credential::ApiKey(key) => key.as_str(),
        // Just given out: it holds until the login is done.
        Credential::Login(tokens) => &tokens.access_token,
    };
    let transport = Arc::new(HttpTransport::default());
    let auth = Arc::new(ApiKey::new(token));
    client(transport, server, file_server, auth, device, profile)
}

/// Makes the failure of an address that can't be one.
pub(crate) fn address_error(error: ApiError) -> Failure {
    if let ApiError::Protocol(text) = error {
        Failure::usage(text)
    } else {
        Failure::from(error)
    }
}

fn client(
    transport: Arc<HttpTransport>,
    server: &str,
    file_server: Option<&str>,
    auth: Arc<dyn Auth>,
    device: DeviceId,
    profile: RetryProfile,
) -> CommandResult<Arc<Api>> {
    let api = Api::new(transport, server, file_server, auth, device).map_err(address_error)?;
    let retry = match profile {
        RetryProfile::Background => RetryPolicy::default(),
        RetryProfile::Interactive => RetryPolicy {
            tries: 3,
            longest_retry_after: Duration::from_secs(20),
            after_silence: false,
            ..RetryPolicy::default()
        },
    };
    Ok(Arc::new(api.with_retry(retry)))
}

/// Opens the place where the account's secrets are kept.
pub(crate) fn open_secrets(home: &Home, account: &Account) -> CommandResult<Box<dyn Secrets>> {
    Ok(secrets::open(&account.secrets.choice(home), &label(home))?)
}

/// Stores the secrets that a later start needs.
pub(crate) fn keep_secrets(
    home: &Home,
    secrets: &dyn Secrets,
    credential: &Credential,
    keys: &AccountKeys,
) -> CommandResult {
    // A daemon may renew the former login at the same time: what it stores must not take the place of this one.
    let _one_at_a_time = tokens::lock(home)?;
    match credential {
        Credential::ApiKey(key) => {
            secrets.set(API_KEY, key.as_bytes())?;
            secrets.delete(LOGIN)?;
        }
        Credential::Login(tokens) => {
            tokens::write(secrets, tokens)?;
            secrets.delete(API_KEY)?;
        }
    }
    set_account_key(secrets, &keys.account_key)
}

/// Deletes the stored secrets.
pub(crate) fn forget_secrets(secrets: &dyn Secrets) -> CommandResult {
    for name in [API_KEY, LOGIN, ACCOUNT_KEY, NEXT_ACCOUNT_KEY] {
        secrets.delete(name)?;
    }
    Ok(())
}

/// The end of a credential at a logout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LoginEnd {
    /// The login was ended at its provider.
    Ended,
    /// The provider could not be reached.
    Unreachable,
    /// An API key, which other programs may use, too.
    ApiKey,
    /// There was none.
    Nothing,
}

/// Ends the stored login at its provider, as far as it can be reached.
pub(crate) async fn end_login(secrets: &dyn Secrets) -> CommandResult<LoginEnd> {
    // One that can't be read can't be ended, and is forgotten next.
    let Ok(Some(tokens)) = tokens::read(secrets) else {
        let has_key = matches!(secrets.get(API_KEY), Ok(Some(_)));
        return Ok(if has_key {
            LoginEnd::ApiKey
        } else {
            LoginEnd::Nothing
        });
    };
    if let Some(endpoint) = &tokens.revocation_endpoint {
        let transport = HttpTransport::default();
        if let Err(error) = cairn_api::revoke(&transport, endpoint, &tokens.refresh_token).await {
            tracing::warn!(%error, "the login could not be ended at the server; it ends by itself");
            return Ok(LoginEnd::Unreachable);
        }
    }
    Ok(LoginEnd::Ended)
}

/// Returns the label of this home's secrets, which separates them from those of another home in the same
/// keyring.
pub(crate) fn label(home: &Home) -> String {
    format!("cairn-{}", home.tag())
}
