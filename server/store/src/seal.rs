//! Seals what must not lie open in the database: webhook secrets and deliveries, secrets of second factors,
//! the server's own signing keys.
//!
//! AES-256-GCM with a key that stands in a file of its own beside the database, so that a copy of
//! the database alone opens nothing. This key is the server's; no client's content comes here.

use crate::error::{Error, Result};
use crate::key_file::{self, KEY_FILE, Key};
use crate::source::Source;
use aes_gcm::aead::{Aead as _, Payload};
use aes_gcm::{Aes256Gcm, KeyInit as _, Nonce};
use std::path::Path;

const NONCE: usize = 12;

/// Seals and opens records.
pub(crate) struct Sealer {
    newest: Aes256Gcm,
    /// The keys before it, as long as it is being replaced: they open only.
    earlier: Vec<Aes256Gcm>,
}

/// A record in view of a new key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Resealed {
    /// The newest key opens it.
    Already,
    /// The same, sealed with the newest key.
    Replaced(Vec<u8>),
    /// No key that is here opens it.
    Unopenable,
}

impl Sealer {
    /// Reads the keys under `data`, or makes one if nothing was sealed yet; in memory a new one each time.
    ///
    /// # Errors
    /// [`Error::Io`] and, for a file that is missing or holds no key, [`Error::Config`].
    pub(super) fn open(data: Option<&Path>, source: &Source, has_sealed: bool) -> Result<Self> {
        let keys = match data {
            None => vec![source.bytes()],
            Some(data) => key_file::read_or_make(data, source, has_sealed)?,
        };
        let mut ciphers = keys.iter().map(|key: &Key| Aes256Gcm::new(key.into()));
        let newest = ciphers
            .next()
            .ok_or_else(|| Error::Internal("there is no key for records".into()))?;
        Ok(Self {
            newest,
            earlier: ciphers.collect(),
        })
    }

    /// Seals `plain`, bound to `about`. A column that gets what this returns stands in `rotation::COLUMNS`.
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
            .newest
            .encrypt(&Nonce::from(nonce), payload)
            .map_err(|_| Error::Internal("a record can't be sealed".into()))?;
        Ok([nonce.as_slice(), &sealed].concat())
    }

    /// Opens what [`Sealer::seal`] made with the same `about`.
    ///
    /// # Errors
    /// [`Error::Unopenable`] for anything else.
    pub(crate) fn open_record(&self, associated_data: &[u8], sealed: &[u8]) -> Result<Vec<u8>> {
        std::iter::once(&self.newest)
            .chain(&self.earlier)
            .find_map(|key| open_with(key, associated_data, sealed))
            .ok_or_else(|| {
                Error::Unopenable(format!(
                    "a sealed record can't be opened: {KEY_FILE} in the data directory is not the one it was sealed with"
                ))
            })
    }

    /// Seals a record with the newest key, if it is sealed with an earlier one.
    pub(crate) fn reseal(
        &self,
        source: &Source,
        associated_data: &[u8],
        sealed: &[u8],
    ) -> Result<Resealed> {
        if open_with(&self.newest, associated_data, sealed).is_some() {
            return Ok(Resealed::Already);
        }
        match self.open_record(associated_data, sealed) {
            Ok(plain) => Ok(Resealed::Replaced(self.seal(
                source,
                associated_data,
                &plain,
            )?)),
            Err(_) => Ok(Resealed::Unopenable),
        }
    }
}

fn open_with(key: &Aes256Gcm, associated_data: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    let (nonce, sealed) = sealed.split_first_chunk::<NONCE>()?;
    let payload = Payload {
        msg: sealed,
        aad: associated_data,
    };
    key.decrypt(&Nonce::from(*nonce), payload).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Clock;

    #[test]
    fn an_earlier_key_opens_and_the_newest_seals() {
        let source = Source::new(Clock::System, None);
        let dir = tempfile::tempdir().unwrap();
        let data = Some(dir.path());
        let old = Sealer::open(data, &source, false).unwrap();
        let sealed = old.seal(&source, b"a", b"plain").unwrap();
        let [key] = key_file::read(dir.path()).unwrap()[..] else {
            panic!("one key");
        };
        key_file::replace(dir.path(), &source, &[[7; 32], key]).unwrap();
        let both = Sealer::open(data, &source, true).unwrap();
        assert_eq!(both.open_record(b"a", &sealed).unwrap(), b"plain");
        assert_eq!(
            both.reseal(&source, b"b", &sealed).unwrap(),
            Resealed::Unopenable
        );
        let Resealed::Replaced(anew) = both.reseal(&source, b"a", &sealed).unwrap() else {
            panic!("it was sealed with the old one");
        };
        assert_eq!(
            both.reseal(&source, b"a", &anew).unwrap(),
            Resealed::Already
        );
        assert!(old.open_record(b"a", &anew).is_err());
        key_file::replace(dir.path(), &source, &[[7; 32]]).unwrap();
        let new = Sealer::open(data, &source, true).unwrap();
        assert_eq!(new.open_record(b"a", &anew).unwrap(), b"plain");
        assert!(new.open_record(b"a", &sealed).is_err());
    }

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
