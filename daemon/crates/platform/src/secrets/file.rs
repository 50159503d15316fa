//! Secrets in a JSON file that only its owner can read, for machines without a keyring.
//!
//! The bytes are not sealed: whoever reads the file has the secrets, so the command line warns about it.

use super::{Secrets, SecretsError};
use crate::atomic_write::{FileMode, replace_file};
use crate::lock::wait_for_lock;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// A file of secrets.
#[derive(Debug)]
pub struct FileSecrets {
    path: PathBuf,
}

type Kept = BTreeMap<String, Zeroizing<String>>;

impl FileSecrets {
    /// Opens the file at `path`; it is made by the first secret.
    ///
    /// # Errors
    /// [`SecretsError::Exposed`] where others can read it, [`SecretsError::Damaged`].
    pub fn open(path: &Path) -> Result<Self, SecretsError> {
        let secrets = Self {
            path: path.to_path_buf(),
        };
        secrets.read()?;
        Ok(secrets)
    }

    fn file_error(&self, action: &'static str) -> impl FnOnce(io::Error) -> SecretsError {
        let path = self.path.clone();
        move |source| SecretsError::File {
            action,
            path,
            source,
        }
    }

    fn damaged_error(&self, reason: impl ToString) -> SecretsError {
        SecretsError::Damaged {
            path: self.path.clone(),
            reason: reason.to_string(),
        }
    }

    fn read(&self) -> Result<Kept, SecretsError> {
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => Zeroizing::new(text),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Kept::new()),
            Err(e) => return Err(self.file_error("read")(e)),
        };
        self.check_mode()?;
        let kept: BTreeMap<String, String> =
            serde_json::from_str(&text).map_err(|e| self.damaged_error(e))?;
        Ok(kept
            .into_iter()
            .map(|(name, secret)| (name, Zeroizing::new(secret)))
            .collect())
    }

    #[cfg(unix)]
    fn check_mode(&self) -> Result<(), SecretsError> {
        use std::os::unix::fs::PermissionsExt as _;
        let found = std::fs::metadata(&self.path).map_err(self.file_error("read"))?;
        let mode = found.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(SecretsError::Exposed {
                path: self.path.clone(),
                mode,
            });
        }
        Ok(())
    }

    /// The user's profile is closed to others on the other systems.
    #[cfg(not(unix))]
    fn check_mode(&self) -> Result<(), SecretsError> {
        Ok(())
    }

    fn change(&self, change: impl FnOnce(&mut Kept)) -> Result<(), SecretsError> {
        // Two names that are set at once, by this process or another one, are both kept.
        let lock = wait_for_lock(&self.path.with_extension("lock"));
        let _lock = lock.map_err(self.file_error("lock"))?;
        let mut kept = self.read()?;
        change(&mut kept);
        let plain: BTreeMap<&str, &str> = kept
            .iter()
            .map(|(name, secret)| (name.as_str(), secret.as_str()))
            .collect();
        let text = Zeroizing::new(serde_json::to_vec(&plain).map_err(|e| self.damaged_error(e))?);
        replace_file(&self.path, &text, FileMode::Private).map_err(self.file_error("write"))
    }
}

impl Secrets for FileSecrets {
    fn get(&self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, SecretsError> {
        let kept = self.read()?;
        let Some(text) = kept.get(name) else {
            return Ok(None);
        };
        let secret = STANDARD
            .decode(text.as_bytes())
            .map_err(|e| self.damaged_error(format!("`{name}`: {e}")))?;
        Ok(Some(Zeroizing::new(secret)))
    }

    fn set(&self, name: &str, secret: &[u8]) -> Result<(), SecretsError> {
        self.change(|kept| {
            kept.insert(name.to_owned(), Zeroizing::new(STANDARD.encode(secret)));
        })
    }

    fn delete(&self, name: &str) -> Result<(), SecretsError> {
        self.change(|kept| {
            kept.remove(name);
        })
    }
}
