//! A logged-in account at work: its client of the server, and its opened keys.

use crate::account::{Account, not_logged_in};
use crate::failure::{Doing as _, Failure, Outcome};
use crate::keys;
use cairn_api::{Api, ApiError, ApiKey, HttpTransport, RetryPolicy};
use cairn_crypto::{AccountKey, Unlocked};
use cairn_model::DeviceId;
use cairn_platform::Home;
use cairn_platform::secrets::{self, Secrets};
use cairn_transfer::Transfer;
use std::sync::Arc;
use std::time::Duration;
use zeroize::Zeroizing;

const API_KEY: &str = "api-key";
const ACCOUNT_KEY: &str = "account-key";

/// What a command needs to speak with the service.
pub(crate) struct Session {
    pub(crate) account: Account,
    pub(crate) api: Arc<Api>,
    pub(crate) keys: Unlocked,
}

/// How long a call keeps trying.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Patience {
    /// A person waits for the answer.
    Person,
    /// Nobody does.
    Daemon,
}

impl Session {
    /// Opens the keys of the logged-in account. Nothing is asked of the server.
    pub(crate) fn open(home: &Home, patience: Patience) -> Outcome<Self> {
        let account = Account::load(home)?;
        let secrets = open_secrets(home, &account)?;
        let api_key = secrets.get(API_KEY)?.ok_or_else(not_logged_in)?;
        let api_key =
            Zeroizing::new(String::from_utf8(api_key.to_vec()).map_err(|_| not_logged_in())?);
        let account_key = secrets.get(ACCOUNT_KEY)?.ok_or_else(not_logged_in)?;
        let account_key = AccountKey::from_bytes(&account_key)?;
        let bundle = keys::from_wire(&account.keys);
        let keys = cairn_crypto::unlock_with_account_key(
            &bundle,
            &account_key,
            account.account,
            account.space,
        )
        .doing("open this account's keys (run `cairn login` again)")?;
        let api = connect(
            &account.server,
            account.file_server.as_deref(),
            &api_key,
            account.device,
            patience,
        )?;
        Ok(Self { account, api, keys })
    }

    /// Transfers of the personal space.
    pub(crate) fn transfer(&self) -> Transfer {
        let options = cairn_transfer::Options::default();
        Transfer::new(
            self.api.clone(),
            self.keys.space.clone(),
            self.account.device,
            options,
        )
    }
}

/// Makes a client of a server. Nothing is asked of it yet.
pub(crate) fn connect(
    server: &str,
    file_server: Option<&str>,
    api_key: &str,
    device: DeviceId,
    patience: Patience,
) -> Outcome<Arc<Api>> {
    let transport = Arc::new(HttpTransport::new()?);
    let auth = Arc::new(ApiKey::new(api_key));
    let api = Api::new(transport, server, file_server, auth, device).map_err(|error| {
        if let ApiError::Protocol(text) = error {
            Failure::usage(text)
        } else {
            Failure::from(error)
        }
    })?;
    let retry = match patience {
        Patience::Daemon => RetryPolicy::default(),
        Patience::Person => RetryPolicy {
            tries: 3,
            longest_retry_after: Duration::from_secs(20),
            ..RetryPolicy::default()
        },
    };
    Ok(Arc::new(api.with_retry(retry)))
}

/// Opens the place where the account's secrets are kept.
pub(crate) fn open_secrets(home: &Home, account: &Account) -> Outcome<Box<dyn Secrets>> {
    Ok(secrets::open(&account.secrets.choice(home), &label(home))?)
}

/// Keeps what a later start needs.
pub(crate) fn keep_secrets(secrets: &dyn Secrets, api_key: &str, keys: &Unlocked) -> Outcome {
    secrets.set(API_KEY, api_key.as_bytes())?;
    Ok(secrets.set(ACCOUNT_KEY, &*keys.account_key.to_bytes())?)
}

/// Forgets them.
pub(crate) fn forget_secrets(secrets: &dyn Secrets) -> Outcome {
    secrets.delete(API_KEY)?;
    Ok(secrets.delete(ACCOUNT_KEY)?)
}

/// Tells this home's secrets from those of another one in the same keyring.
pub(crate) fn label(home: &Home) -> String {
    format!("cairn-{}", home.tag())
}
