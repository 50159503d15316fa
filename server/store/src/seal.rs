//! Seals what must not lie open in the database: webhook secrets and deliveries.
//!
//! AES-256-GCM with a key that stands in a file of its own beside the database, so that a copy of
//! the database alone opens nothing. This key is the server's; no client's content comes here.

use crate::error::{Error, Result};
use crate::private_files;
use crate::source::Source;
use aes_gcm::aead::{Aead as _, Payload};
use aes_gcm::{Aes256Gcm, KeyInit as _, Nonce};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

const KEY_FILE: &str = "records.key";
const NONCE: usize = 12;

/// Seals and opens records.
pub(crate) struct Sealer(Aes256Gcm);

impl Sealer {
    /// Reads the key under `data`, or makes it if nothing was sealed yet; in memory a new one each time.
    ///
    /// # Errors
    /// [`Error::Io`] and, for a file that is missing or holds no key, [`Error::Config`].
    pub(super) fn open(data: Option<&Path>, source: &Source, has_sealed: bool) -> Result<Self> {
        let key = match data {
            None => source.bytes(),
            Some(data) => {
                let path = data.join(KEY_FILE);
                if has_sealed && !path.exists() {
                    return Err(missing_key_error(&path));
                }
                key_in(&path, source)?
            }
        };
        Ok(Self(Aes256Gcm::new(&key.into())))
    }

    /// Seals `plain`, bound to `about`.
    pub(crate) fn seal(
        &self,
        source: &Source,
        associated_data: &[u8],
        plain: &[u8],
    ) -> Result<Vec<u8>> {
        let nonce: [u8; NONCE] = source.bytes();
        let payload = Payload {
            msg: plain,
            aad: associated_data,
        };
        let sealed = self
            .0
            .encrypt(&Nonce::from(nonce), payload)
            .map_err(|_| Error::Internal("a record can't be sealed".into()))?;
        Ok([nonce.as_slice(), &sealed].concat())
    }

    /// Opens what [`Sealer::seal`] made with the same `about`.
    ///
    /// # Errors
    /// [`Error::Unopenable`] for anything else.
    pub(crate) fn open_record(&self, associated_data: &[u8], sealed: &[u8]) -> Result<Vec<u8>> {
        let refused = || {
            Error::Unopenable(format!(
                "a sealed record can't be opened: {KEY_FILE} in the data directory is not the one it was sealed with"
            ))
        };
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>().ok_or_else(refused)?;
        let payload = Payload {
            msg: sealed,
            aad: associated_data,
        };
        self.0
            .decrypt(&Nonce::from(*nonce), payload)
            .map_err(|_| refused())
    }
}

/// A new key would open nothing, and hide that the old one is to be found.
fn missing_key_error(path: &Path) -> Error {
    Error::Config(format!(
        "{} is missing, and the database beside it has records that only this key opens: webhook secrets, \
         and the keys that sign tokens. Restore the file from a backup (`cairn-server backup` puts it beside \
         the copy of the database); nothing was changed",
        path.display()
    ))
}

fn key_in(path: &Path, source: &Source) -> Result<[u8; 32]> {
    if path.exists() {
        // It may have been copied here under a loose umask.
        super::private_files::keep_private(path)?;
        return read_key(path);
    }
    let io = |what: &str| {
        let what = format!("can't {what} {}", path.display());
        move |source| Error::Io { what, source }
    };
    // Written whole before it has its name: a crash leaves a key or none.
    let fresh = path.with_extension(format!("{}.tmp", source.nonce()));
    let key: [u8; 32] = source.bytes();
    private_files::create_new()
        .open(&fresh)
        .and_then(|mut file| {
            file.write_all(hex::encode(key).as_bytes())?;
            file.sync_all()
        })
        .map_err(io("write"))?;
    let named = std::fs::hard_link(&fresh, path);
    std::fs::remove_file(&fresh).map_err(io("clean up beside"))?;
    match named {
        Ok(()) => Ok(key),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => read_key(path),
        Err(error) => Err(io("make")(error)),
    }
}

fn read_key(path: &Path) -> Result<[u8; 32]> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::Io {
        what: format!("can't read {}", path.display()),
        source,
    })?;
    let mut key = [0; 32];
    hex::decode_to_slice(text.trim(), &mut key).map_err(|_| {
        Error::Config(format!(
            "{} holds no key of 64 hexadecimal digits; restore it from a backup, or remove it: webhook \
             secrets and waiting deliveries are lost then",
            path.display()
        ))
    })?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Clock;

    #[test]
    fn a_record_opens_with_its_key_and_for_what_it_is_about() {
        let source = Source::new(Clock::System, None);
        let dir = tempfile::tempdir().unwrap();
        let first = Sealer::open(Some(dir.path()), &source, false).unwrap();
        let sealed = first.seal(&source, b"a", b"plain text").unwrap();
        assert!(!sealed.windows(5).any(|window| window == b"plain"));
        let again = Sealer::open(Some(dir.path()), &source, false).unwrap();
        assert_eq!(again.open_record(b"a", &sealed).unwrap(), b"plain text");
        assert!(again.open_record(b"b", &sealed).is_err());
        assert!(again.open_record(b"a", &sealed[..20]).is_err());
        let other = Sealer::open(None, &source, false).unwrap();
        assert!(other.open_record(b"a", &sealed).is_err());
        std::fs::write(dir.path().join(KEY_FILE), "nonsense").unwrap();
        assert!(matches!(
            Sealer::open(Some(dir.path()), &source, false),
            Err(Error::Config(_))
        ));
    }
}
