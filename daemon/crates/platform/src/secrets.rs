//! Storage of secrets: the system's keyring, or a file that only the user can read.
//!
//! Stores bytes under names and knows nothing of their meaning, nor whether they are sealed.

mod file;
mod keyring;
#[cfg(test)]
mod tests;

pub use file::FileSecrets;
pub use keyring::KeyringSecrets;

use std::io;
use std::path::PathBuf;
use std::time::Duration;
use zeroize::Zeroizing;

/// A storage of secrets.
pub trait Secrets: Send + Sync {
    /// Returns the secret of that name, or `None` if there is none.
    ///
    /// # Errors
    /// [`SecretsError`] if the storage can't be reached or read.
    fn get(&self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, SecretsError>;

    /// Stores a secret under that name, in place of an earlier one.
    ///
    /// # Errors
    /// [`SecretsError`] if the storage can't be reached or written; the earlier secret stays then, but after
    /// [`SecretsError::Timeout`] the keyring may still store the new one.
    fn set(&self, name: &str, secret: &[u8]) -> Result<(), SecretsError>;

    /// Deletes the secret of that name; does nothing if there is none.
    ///
    /// # Errors
    /// [`SecretsError`] if the storage can't be reached or written; the secret stays then, but after
    /// [`SecretsError::Timeout`] the keyring may still delete it.
    fn delete(&self, name: &str) -> Result<(), SecretsError>;
}

/// The storage to use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SecretsChoice {
    /// The keyring of the system.
    Keyring,
    /// A file that only the user can read (mode 0600 on Unix).
    File(PathBuf),
}

/// The reason why a secret can't be read or stored.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    #[error(
        "this session has no keyring service to store secrets in ({reason}); start one \
         (gnome-keyring, KWallet, KeePassXC), or use `--secrets file` to store them in a file that \
         only you can read"
    )]
    NoKeyring { reason: String },
    #[error("the keyring is locked ({reason}); unlock it and try again, or use `--secrets file`")]
    Locked { reason: String },
    #[error(
        "the keyring did not respond within {} s; it may be waiting for a password in a window: enter \
         it there, or use `--secrets file`",
        .0.as_secs()
    )]
    Timeout(Duration),
    #[error("the keyring can't {action} `{name}`: {reason}")]
    Keyring {
        action: &'static str,
        name: String,
        reason: String,
    },
    #[error("can't {action} the secrets file {}: {source}", path.display())]
    File {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error(
        "other users can read the secrets file {} (mode {mode:o}); run `chmod 600` on it and replace \
         the secrets in it, because others may know them",
        path.display()
    )]
    Exposed { path: PathBuf, mode: u32 },
    #[error("the secrets file {} is damaged ({reason}); remove it and log in again", path.display())]
    Damaged { path: PathBuf, reason: String },
}

/// Opens a storage of secrets. `account_label` distinguishes several accounts or homes in one keyring;
/// people see it there.
///
/// # Errors
/// [`SecretsError::NoKeyring`] or [`SecretsError::Timeout`] for the keyring, [`SecretsError::Exposed`],
/// [`SecretsError::Damaged`] or [`SecretsError::File`] for the file.
pub fn open(choice: &SecretsChoice, account_label: &str) -> Result<Box<dyn Secrets>, SecretsError> {
    Ok(match choice {
        SecretsChoice::Keyring => Box::new(KeyringSecrets::open(account_label)?),
        SecretsChoice::File(path) => Box::new(FileSecrets::open(path)?),
    })
}
