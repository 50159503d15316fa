//! The second factor of an account, as rows: its secret, encrypted, the last code that was accepted, and recovery
//! codes as their hashes. The codes themselves are made and checked by whoever asks for them.

use super::logins::Hash;
use super::{Store, Tx};
use crate::db::{Optional as _, params};
use crate::error::{Error, Result};
use cairn_model::AccountId;
use cairn_wire::Timestamp;
use cairn_wire::notifications::NotificationKind;
use cairn_wire::second_factor::SecondFactorStatus;
use serde_json::json;

/// A second factor that was begun.
pub struct SecondFactor {
    pub secret: Vec<u8>,
    /// Logins ask for it.
    pub confirmed: bool,
    /// Codes of this time step and earlier ones are refused.
    pub last_step: i64,
    pub begun_at: i64,
}

/// Returns what the secret of an account is sealed for.
pub(super) fn secret_of(account: AccountId) -> Vec<u8> {
    [b"second factor ".as_slice(), account.as_bytes()].concat()
}

impl Tx<'_> {
    /// Begins a second factor, in place of one that was begun and never confirmed.
    ///
    /// # Errors
    /// A conflict for an account that has one.
    pub fn begin_second_factor(&self, account: AccountId, secret: &[u8]) -> Result<()> {
        let sealed = self
            .outbox
            .sealer
            .seal(self.source, &secret_of(account), secret)?;
        let begun = self.conn.execute(
            "INSERT INTO second_factors (account, secret, created_at, last_step) VALUES (?1, ?2, ?3, 0) \
             ON CONFLICT (account) DO UPDATE SET secret = ?2, created_at = ?3 WHERE second_factors.confirmed_at IS NULL",
            params![account.as_bytes(), sealed, self.now],
        )?;
        if begun == 0 {
            return Err(Error::conflict(
                "the account has a second factor; remove it first, then set up another",
            ));
        }
        Ok(())
    }

    /// Returns the second factor of an account.
    ///
    /// # Errors
    /// [`Error::Unopenable`] for a secret that was sealed with another key.
    pub fn second_factor(&self, account: AccountId) -> Result<Option<SecondFactor>> {
        let found: Option<(Vec<u8>, bool, i64, i64)> = self
            .conn
            .prepare_cached(
                "SELECT secret, confirmed_at IS NOT NULL, last_step, created_at FROM second_factors \
                 WHERE account = ?1",
            )?
            .query_row([account.as_bytes()], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })
            .optional()?;
        found
            .map(|(sealed, confirmed, last_step, begun_at)| {
                let sealer = &self.outbox.sealer;
                Ok(SecondFactor {
                    secret: sealer.open_record(&secret_of(account), &sealed)?,
                    confirmed,
                    last_step,
                    begun_at,
                })
            })
            .transpose()
    }

    /// Notes that a code was taken: it and earlier ones are refused from then on.
    pub fn take_step(&self, account: AccountId, step: i64) -> Result<()> {
        self.conn
            .prepare_cached("UPDATE second_factors SET last_step = ?2 WHERE account = ?1")?
            .execute(params![account.as_bytes(), step])?;
        Ok(())
    }

    /// Makes logins ask for the second factor from now on, and keeps the hashes of its recovery codes.
    pub fn confirm_second_factor(
        &self,
        account: AccountId,
        step: i64,
        codes: &[Hash],
    ) -> Result<()> {
        self.conn.execute(
            "UPDATE second_factors SET confirmed_at = ?2, last_step = ?3 WHERE account = ?1",
            params![account.as_bytes(), self.now, step],
        )?;
        self.conn.execute(
            "DELETE FROM second_factor_codes WHERE account = ?1",
            [account.as_bytes()],
        )?;
        let mut add = self
            .conn
            .prepare("INSERT INTO second_factor_codes (account, hash) VALUES (?1, ?2)")?;
        for code in codes {
            add.execute(params![account.as_bytes(), code])?;
        }
        self.note_security(account, "Logins ask for your second factor from now on")
    }

    /// Uses a recovery code up; returns false for one that the account has not.
    pub fn use_recovery_code(&self, account: AccountId, code: &Hash) -> Result<bool> {
        let used = self.conn.execute(
            "DELETE FROM second_factor_codes WHERE account = ?1 AND hash = ?2",
            params![account.as_bytes(), code],
        )?;
        if used == 0 {
            return Ok(false);
        }
        let left: u64 = self.conn.query_row(
            "SELECT count(*) FROM second_factor_codes WHERE account = ?1",
            [account.as_bytes()],
            |row| row.get(0),
        )?;
        let title = format!("A recovery code of your second factor was used; {left} are left");
        self.note_security(account, &title)?;
        Ok(true)
    }

    /// Removes the second factor of an account, and tells its owner under this title; returns false if it has
    /// none that logins ask for.
    pub fn remove_second_factor(&self, account: AccountId, notice: &str) -> Result<bool> {
        let confirmed: Option<bool> = self
            .conn
            .query_row(
                "DELETE FROM second_factors WHERE account = ?1 RETURNING confirmed_at IS NOT NULL",
                [account.as_bytes()],
                |row| row.get(0),
            )
            .optional()?;
        self.conn.execute(
            "DELETE FROM second_factor_codes WHERE account = ?1",
            [account.as_bytes()],
        )?;
        let removed = confirmed == Some(true);
        if removed {
            self.note_security(account, notice)?;
        }
        Ok(removed)
    }

    fn note_security(&self, account: AccountId, title: &str) -> Result<()> {
        self.notify(account, NotificationKind::Security, title, &json!({}))
    }
}

impl Store {
    /// Returns true if logins of an account ask for a second factor.
    pub fn asks_second_factor(&self, account: AccountId) -> Result<bool> {
        Ok(self.second_factor_status(account)?.enabled)
    }

    /// Returns the state of an account's second factor.
    pub fn second_factor_status(&self, account: AccountId) -> Result<SecondFactorStatus> {
        self.read(|conn| {
            let confirmed: Option<i64> = conn
                .prepare_cached(
                    "SELECT confirmed_at FROM second_factors WHERE account = ?1 AND confirmed_at IS NOT NULL",
                )?
                .query_row([account.as_bytes()], |row| row.get(0))
                .optional()?;
            let left = conn
                .prepare_cached("SELECT count(*) FROM second_factor_codes WHERE account = ?1")?
                .query_row([account.as_bytes()], |row| row.get(0))?;
            Ok(SecondFactorStatus {
                enabled: confirmed.is_some(),
                confirmed_at: confirmed.map(Timestamp),
                recovery_codes_left: left,
            })
        })
    }

    /// Tells the owner of an account that somebody who knows its password guesses at codes.
    pub fn note_wrong_codes(&self, account: AccountId) -> Result<()> {
        let title = "Somebody gave your password and too many wrong codes; if it wasn't you, change the password";
        self.write(|tx| tx.note_security(account, title))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Clock, Source};
    use crate::testing::add_account;
    use std::sync::Arc;

    fn store() -> (Store, AccountId) {
        let store = crate::testing::open(Arc::new(Source::new(Clock::System, Some(1))));
        let account = add_account(&store, "a@example.com").id;
        (store, account)
    }

    #[test]
    fn a_secret_lies_sealed_and_is_replaced_until_it_is_confirmed() {
        let (store, account) = store();
        let begin = |secret: &[u8]| store.write(|tx| tx.begin_second_factor(account, secret));
        begin(b"first secret").unwrap();
        begin(b"second secret").unwrap();
        let found = store
            .write(|tx| tx.second_factor(account))
            .unwrap()
            .unwrap();
        assert_eq!(found.secret, b"second secret");
        assert!(!found.confirmed && !store.asks_second_factor(account).unwrap());
        let stored: Vec<u8> = store
            .read(|conn| {
                Ok(conn.query_row("SELECT secret FROM second_factors", [], |row| row.get(0))?)
            })
            .unwrap();
        assert!(!stored.windows(6).any(|part| part == b"second"));
        store
            .write(|tx| tx.confirm_second_factor(account, 7, &[[1; 32]]))
            .unwrap();
        assert!(store.asks_second_factor(account).unwrap());
        assert!(matches!(begin(b"third"), Err(Error::Conflict { .. })));
    }

    #[test]
    fn a_recovery_code_is_good_once_and_goes_with_its_factor() {
        let (store, account) = store();
        store
            .write(|tx| {
                tx.begin_second_factor(account, b"secret")?;
                tx.confirm_second_factor(account, 7, &[[1; 32], [2; 32]])
            })
            .unwrap();
        let used = |code: Hash| {
            store
                .write(|tx| tx.use_recovery_code(account, &code))
                .unwrap()
        };
        assert!(!used([3; 32]));
        assert!(used([1; 32]));
        assert!(!used([1; 32]));
        assert_eq!(
            store
                .second_factor_status(account)
                .unwrap()
                .recovery_codes_left,
            1
        );
        let remove = || store.write(|tx| tx.remove_second_factor(account, "removed"));
        assert!(remove().unwrap());
        assert!(!remove().unwrap());
        assert!(!used([2; 32]));
    }
}
