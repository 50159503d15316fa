//! Codes that are sent by mail: who sends one back reads the mails of that address.
//!
//! Earlier codes stay good beside a new one, and an address has few at once. So whoever asks for codes of
//! somebody else neither ends theirs nor fills their mailbox.

use super::{Store, Tx};
use crate::db::{Optional as _, params};
use crate::error::{Error, Result};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// A code is good for so long.
const CODE_MS: i64 = 15 * 60_000;
/// A link to a page of the server, for somebody who may read the mail tomorrow.
const LINK_MS: i64 = 3 * 86_400_000;
/// Codes of one purpose and address that are good at once.
const MAX_OPEN: u32 = 3;
/// Wrong codes until the right ones count no more. Of 100,000,000 codes nobody guesses one so.
const MAX_FAILURES: u32 = 20;

/// The subject of a code: a code for one thing opens no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodePurpose {
    /// A new password for who can't log in.
    PasswordReset,
    /// An account that an administrator offers.
    Registration,
    /// An address that a share link allows; the id of the link.
    Share(Uuid),
}

impl CodePurpose {
    fn name(&self) -> String {
        match self {
            Self::PasswordReset => "password_reset".into(),
            Self::Registration => "registration".into(),
            Self::Share(id) => format!("share {id}"),
        }
    }

    /// Returns the time for which a code is good, in milliseconds.
    pub fn lifetime_ms(&self) -> i64 {
        match self {
            Self::Registration => LINK_MS,
            Self::PasswordReset | Self::Share(_) => CODE_MS,
        }
    }
}

/// A code that was right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedCode {
    /// True if it went by mail alone, so that it proves that its user reads what is sent to the address.
    pub mailed: bool,
}

fn hash(code: &str) -> [u8; 32] {
    Sha256::digest(code.trim().as_bytes()).into()
}

impl Tx<'_> {
    /// Makes a code for an address; `None` while it has three. Codes that people type have eight digits, those in
    /// links 128 bits.
    pub fn new_code(&self, purpose: &CodePurpose, email: &str) -> Result<Option<String>> {
        let name = purpose.name();
        let open: u32 = self
            .conn
            .prepare_cached(
                "SELECT count(*) FROM mail_codes WHERE purpose = ?1 AND email = ?2 AND expires_at > ?3",
            )?
            .query_row(params![name, email, self.now], |row| row.get(0))?;
        if open >= MAX_OPEN {
            return Ok(None);
        }
        let code = match purpose {
            CodePurpose::Registration | CodePurpose::PasswordReset => {
                hex::encode(self.source.bytes::<16>())
            }
            CodePurpose::Share(_) => {
                let number = u64::from_be_bytes(self.source.bytes::<8>()) % 100_000_000;
                format!("{number:08}")
            }
        };
        self.conn
            .prepare_cached(
                "INSERT INTO mail_codes (purpose, email, hash, mailed, expires_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5) \
                 ON CONFLICT (purpose, email, hash) DO UPDATE SET mailed = excluded.mailed, failures = 0, \
                 expires_at = excluded.expires_at",
            )?
            .execute(params![
                name,
                email,
                hash(&code),
                self.mail_queue.is_enabled(),
                self.now + purpose.lifetime_ms()
            ])?;
        Ok(Some(code))
    }

    /// Takes a code that was sent, once and in time, and ends the others of its purpose and address; `None` for a
    /// wrong one.
    ///
    /// # Errors
    /// [`Error::TooManyAttempts`] after twenty wrong codes, until theirs have expired.
    pub fn use_code(
        &self,
        purpose: &CodePurpose,
        email: &str,
        code: &str,
    ) -> Result<Option<UsedCode>> {
        let name = purpose.name();
        let failures: u32 = self
            .conn
            .prepare_cached(
                "SELECT coalesce(max(failures), 0) FROM mail_codes \
                 WHERE purpose = ?1 AND email = ?2 AND expires_at > ?3",
            )?
            .query_row(params![name, email, self.now], |row| row.get(0))?;
        if failures >= MAX_FAILURES {
            return Err(Error::TooManyAttempts {
                message: "too many wrong codes; ask for a new one later".into(),
                retry_after: (CODE_MS / 1000).unsigned_abs(),
            });
        }
        let mailed: Option<bool> = self
            .conn
            .prepare_cached(
                "SELECT mailed FROM mail_codes WHERE purpose = ?1 AND email = ?2 AND hash = ?3 AND expires_at > ?4",
            )?
            .query_row(params![name, email, hash(code), self.now], |row| row.get(0))
            .optional()?;
        let sql = match mailed {
            Some(_) => "DELETE FROM mail_codes WHERE purpose = ?1 AND email = ?2",
            None => {
                "UPDATE mail_codes SET failures = failures + 1 WHERE purpose = ?1 AND email = ?2"
            }
        };
        self.conn
            .prepare_cached(sql)?
            .execute(params![name, email])?;
        Ok(mailed.map(|mailed| UsedCode { mailed }))
    }
}

impl Store {
    /// Returns true if a code is good, without using it.
    pub fn is_code_open(&self, purpose: &CodePurpose, email: &str, code: &str) -> Result<bool> {
        let now = self.source().now_ms();
        self.read(|conn| {
            Ok(conn
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM mail_codes \
                     WHERE purpose = ?1 AND email = ?2 AND hash = ?3 AND expires_at > ?4)",
                )?
                .query_row(params![purpose.name(), email, hash(code), now], |row| {
                    row.get(0)
                })?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Clock, Source};
    use std::sync::Arc;

    const SHARE: CodePurpose = CodePurpose::Share(Uuid::from_u128(7));

    fn store() -> Store {
        let clock = Clock::Virtual {
            start_ms: 1_000_000,
        };
        crate::testing::open(Arc::new(Source::new(clock, Some(1))))
    }

    fn send(store: &Store, purpose: &CodePurpose) -> Option<String> {
        store.write(|tx| tx.new_code(purpose, "a@b.c")).unwrap()
    }

    fn fits(store: &Store, purpose: &CodePurpose, email: &str, code: &str) -> Result<bool> {
        let used = store.write(|tx| tx.use_code(purpose, email, code))?;
        Ok(used.is_some())
    }

    #[test]
    fn a_code_is_good_once_for_its_purpose_and_address_and_in_time() {
        let store = store();
        let code = send(&store, &SHARE).unwrap();
        assert_eq!(code.len(), 8);
        for (purpose, email) in [
            (CodePurpose::Share(Uuid::from_u128(8)), "a@b.c"),
            (CodePurpose::PasswordReset, "a@b.c"),
            (SHARE, "b@b.c"),
        ] {
            assert!(!fits(&store, &purpose, email, &code).unwrap());
        }
        assert!(fits(&store, &SHARE, "A@b.c", &format!(" {code} ")).unwrap());
        assert!(!fits(&store, &SHARE, "a@b.c", &code).unwrap());
        let late = send(&store, &SHARE).unwrap();
        store.source().advance(CODE_MS.unsigned_abs());
        assert!(!fits(&store, &SHARE, "a@b.c", &late).unwrap());
    }

    #[test]
    fn a_second_code_leaves_the_first_and_there_is_no_fourth() {
        let store = store();
        let first = send(&store, &SHARE).unwrap();
        assert!(send(&store, &SHARE).is_some());
        assert!(send(&store, &SHARE).is_some());
        assert_eq!(send(&store, &SHARE), None);
        assert!(fits(&store, &SHARE, "a@b.c", &first).unwrap());
        assert!(send(&store, &SHARE).is_some());
    }

    #[test]
    fn twenty_wrong_codes_end_the_right_one_for_its_time() {
        let store = store();
        let code = send(&store, &SHARE).unwrap();
        for _ in 0..MAX_FAILURES {
            assert!(!fits(&store, &SHARE, "a@b.c", "x").unwrap());
        }
        let refused = fits(&store, &SHARE, "a@b.c", &code);
        assert!(matches!(refused, Err(Error::TooManyAttempts { .. })));
        store.source().advance(CODE_MS.unsigned_abs());
        let next = send(&store, &SHARE).unwrap();
        assert!(fits(&store, &SHARE, "a@b.c", &next).unwrap());
    }
}
