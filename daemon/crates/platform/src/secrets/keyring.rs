//! Secrets in the system's keyring: Secret Service on Linux, Keychain on macOS, Credential Manager on
//! Windows.
//!
//! Every call runs on a thread of its own, so that a keyring that waits for a password can't block
//! the caller for ever, and so that it works inside an async runtime.

use super::{Secrets, SecretsError};
use crate::timeout::run_with_timeout;
use keyring_core::{CredentialStore, Entry, Error};
use std::sync::Arc;
use std::time::Duration;
use zeroize::Zeroizing;

/// Long enough to type a password in the keyring's window.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The entries of one account in the system's keyring.
pub struct KeyringSecrets {
    store: Arc<CredentialStore>,
    account: String,
}

impl std::fmt::Debug for KeyringSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyringSecrets")
            .field("account", &self.account)
            .finish_non_exhaustive()
    }
}

impl KeyringSecrets {
    /// Connects to the keyring.
    ///
    /// # Errors
    /// [`SecretsError::NoKeyring`], [`SecretsError::Timeout`].
    pub fn open(account_label: &str) -> Result<Self, SecretsError> {
        let store = with_timeout(system_store)?
            .map_err(|e| SecretsError::NoKeyring { reason: reason(&e) })?;
        Ok(Self {
            store,
            account: account_label.to_owned(),
        })
    }

    fn with_entry<T: Send + 'static>(
        &self,
        action: &'static str,
        name: &str,
        work: impl FnOnce(&Entry) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, SecretsError> {
        let store = Arc::clone(&self.store);
        let service = format!("cairn:{}", self.account);
        let user = name.to_owned();
        with_timeout(move || work(&store.build(&service, &user, None)?))?
            .map_err(|e| convert(&e, action, name))
    }
}

impl Secrets for KeyringSecrets {
    fn get(&self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, SecretsError> {
        self.with_entry("read", name, |entry| match entry.get_secret() {
            Ok(secret) => Ok(Some(Zeroizing::new(secret))),
            Err(Error::NoEntry) => Ok(None),
            Err(e) => Err(e),
        })
    }

    fn set(&self, name: &str, secret: &[u8]) -> Result<(), SecretsError> {
        let secret = Zeroizing::new(secret.to_vec());
        self.with_entry("store", name, move |entry| entry.set_secret(&secret))
    }

    fn delete(&self, name: &str) -> Result<(), SecretsError> {
        self.with_entry("delete", name, |entry| match entry.delete_credential() {
            Err(Error::NoEntry) => Ok(()),
            result => result,
        })
    }
}

#[cfg(target_os = "linux")]
fn system_store() -> Result<Arc<CredentialStore>, Error> {
    let store: Arc<CredentialStore> = zbus_secret_service_keyring_store::Store::new()?;
    Ok(store)
}

#[cfg(target_os = "macos")]
fn system_store() -> Result<Arc<CredentialStore>, Error> {
    let store: Arc<CredentialStore> = apple_native_keyring_store::keychain::Store::new()?;
    Ok(store)
}

#[cfg(windows)]
fn system_store() -> Result<Arc<CredentialStore>, Error> {
    let store: Arc<CredentialStore> = windows_native_keyring_store::Store::new()?;
    Ok(store)
}

fn with_timeout<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, SecretsError> {
    run_with_timeout(TIMEOUT, work).ok_or(SecretsError::Timeout(TIMEOUT))
}

fn convert(error: &Error, action: &'static str, name: &str) -> SecretsError {
    if let Error::NoStorageAccess(_) = error {
        return SecretsError::Locked {
            reason: reason(error),
        };
    }
    SecretsError::Keyring {
        action,
        name: name.to_owned(),
        reason: reason(error),
    }
}

/// Returns the innermost cause: the outer layers only repeat it.
fn reason(error: &Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
