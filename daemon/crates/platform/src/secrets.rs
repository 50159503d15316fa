//! Where secrets are kept: the system's keyring, or a file that only the user can read.
//!
//! Stores bytes under names; what they mean, and whether they are sealed themselves, is not known here.

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

/// A place for secrets.
pub trait Secrets: Send + Sync {
    /// The secret of that name, or `None` if there is none.
    ///
    /// # Errors
    /// [`SecretsError`] where the place can't be reached or read.
    fn get(&self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, SecretsError>;

    /// Keeps a secret under that name, in place of an earlier one.
    ///
    /// # Errors
    /// [`SecretsError`] where the place can't be reached or written; an earlier secret is kept then.
    fn set(&self, name: &str, secret: &[u8]) -> Result<(), SecretsError>;

    /// Forgets the secret of that name; does nothing if there is none.
    ///
    /// # Errors
    /// [`SecretsError`] where the place can't be reached or written.
    fn delete(&self, name: &str) -> Result<(), SecretsError>;
}

/// Which place to use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SecretsChoice {
    /// The keyring of the system.
    Keyring,
    /// A file with mode 0600.
    File(PathBuf),
}

/// Why a secret can't be read or kept.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    #[error(
        "this session has no keyring service to keep secrets in ({reason}); start one \
         (gnome-keyring, KWallet, KeePassXC), or use `--secrets file` to keep them in a file that \
         only you can read"
    )]
    NoKeyring { reason: String },
    #[error("the keyring is locked ({reason}); unlock it and try again, or use `--secrets file`")]
    Locked { reason: String },
    #[error(
        "the keyring gave no answer within {} s, it may be waiting for a password in a window; \
         answer there, or use `--secrets file`",
        .0.as_secs()
    )]
    NoAnswer(Duration),
    #[error("the keyring can't {action} `{name}`: {reason}")]
    Keyring {
        action: &'static str,
        name: String,
        reason: String,
    },
    #[error("can't {action} the file of secrets {}: {source}", path.display())]
    File {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error(
        "other users can read the file of secrets {} (mode {mode:o}); run `chmod 600` on it and \
         consider the secrets in it known",
        path.display()
    )]
    Exposed { path: PathBuf, mode: u32 },
    #[error("the file of secrets {} is damaged ({reason}); remove it and log in again", path.display())]
    Damaged { path: PathBuf, reason: String },
}

/// Opens a place for secrets. `account_label` tells apart the secrets of several accounts or homes in
/// one keyring; people see it there.
///
/// # Errors
/// [`SecretsError::NoKeyring`] where the system has none running, or what the file says.
pub fn open(choice: &SecretsChoice, account_label: &str) -> Result<Box<dyn Secrets>, SecretsError> {
    Ok(match choice {
        SecretsChoice::Keyring => Box::new(KeyringSecrets::open(account_label)?),
        SecretsChoice::File(path) => Box::new(FileSecrets::open(path)?),
    })
}
