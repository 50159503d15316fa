//! The second factor: set up, asked for, removed. Its codes are checked not more often than a person mistypes.

use super::throttle::MAX_FAILURES;
use super::totp;
use crate::error::{Error, Result};
use crate::state::ServerState;
use cairn_model::AccountId;
use cairn_store::{Account, Hash, Result as StoreResult, Tx};
use cairn_wire::second_factor::{BegunSecondFactor, RecoveryCodes};
use sha2::{Digest as _, Sha256};

/// Codes that stand in for a lost app.
const RECOVERY_CODES: usize = 10;
/// Bytes of each: too many for guesses at its hash.
const RECOVERY_BYTES: usize = 10;
/// The time in which a second factor that was begun can be confirmed. Without an end to it, a stolen token alone
/// could try codes until one fits.
const TO_CONFIRM_MS: i64 = 15 * 60 * 1000;

/// Returns the hash of a recovery code, however it was typed.
fn recovery_hash(typed: &str) -> Hash {
    let code: String = typed
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_uppercase())
        .collect();
    Sha256::digest(code).into()
}

/// Takes a code of the app or a recovery code, once; returns false for a wrong one.
fn take_code(tx: &Tx<'_>, account: AccountId, typed: &str) -> StoreResult<bool> {
    let Some(factor) = tx.second_factor(account)?.filter(|factor| factor.confirmed) else {
        return Ok(false);
    };
    let Some(code) = totp::read(typed) else {
        return tx.use_recovery_code(account, &recovery_hash(typed));
    };
    let Some(step) = totp::step_of(&factor.secret, code, tx.now, factor.last_step) else {
        return Ok(false);
    };
    tx.take_step(account, step)?;
    Ok(true)
}

impl ServerState {
    /// Begins to set up a second factor; no login asks for it before it is confirmed.
    ///
    /// # Errors
    /// A conflict for an account that has one.
    pub(crate) fn begin_second_factor(&self, account: &Account) -> Result<BegunSecondFactor> {
        let secret: [u8; totp::SECRET] = self.source.bytes();
        self.store
            .write(|tx| tx.begin_second_factor(account.id, &secret))?;
        Ok(show_secret(account, &secret))
    }

    /// Returns the second factor that was begun last and is not confirmed, to be shown once more.
    pub(crate) fn begun_second_factor(
        &self,
        account: &Account,
    ) -> Result<Option<BegunSecondFactor>> {
        let found = self.store.write(|tx| tx.second_factor(account.id))?;
        Ok(found
            .filter(|factor| !factor.confirmed)
            .map(|factor| show_secret(account, &factor.secret)))
    }

    /// Makes logins ask for the second factor, once a code has shown that the app has the secret.
    ///
    /// # Errors
    /// A conflict if none was begun lately, 403 for a wrong code, [`Error::RateLimited`] after too many.
    pub(crate) fn confirm_second_factor(
        &self,
        account: AccountId,
        typed: &str,
    ) -> Result<RecoveryCodes> {
        let codes: Vec<String> = (0..RECOVERY_CODES)
            .map(|_| totp::base_32(&self.source.bytes::<RECOVERY_BYTES>()))
            .collect();
        let hashes: Vec<Hash> = codes.iter().map(|code| recovery_hash(code)).collect();
        let mut is_begun = true;
        // Counted apart: no password was given, and who has a token alone must not keep the owner out.
        let who = format!("new second factor {account}");
        let (fits, _) = self.count_attempt(&who, |tx| {
            let begun = tx
                .second_factor(account)?
                .filter(|factor| !factor.confirmed && tx.now - factor.begun_at < TO_CONFIRM_MS);
            is_begun = begun.is_some();
            let step = begun.zip(totp::read(typed)).and_then(|(factor, code)| {
                totp::step_of(&factor.secret, code, tx.now, factor.last_step)
            });
            let Some(step) = step else { return Ok(false) };
            tx.confirm_second_factor(account, step, &hashes)?;
            Ok(true)
        })?;
        if !is_begun {
            return Err(Error::conflict(
                "there is no second factor to confirm, or it was begun more than 15 minutes ago; begin with POST \
                 /useraccount/second-factor",
            ));
        }
        if !fits {
            return Err(wrong_code());
        }
        Ok(RecoveryCodes {
            recovery_codes: codes.iter().map(|code| in_groups(code)).collect(),
        })
    }

    /// Takes a code at a login; returns false for a wrong one.
    ///
    /// # Errors
    /// [`Error::RateLimited`] after too many.
    pub(crate) fn take_code(&self, account: AccountId, typed: &str) -> Result<bool> {
        self.attempt(account, |tx| take_code(tx, account, typed))
    }

    /// Removes a second factor, by one of its codes.
    ///
    /// # Errors
    /// A conflict for an account that has none, 403 for a wrong code, [`Error::RateLimited`] after too many.
    pub(crate) fn remove_second_factor(&self, account: AccountId, typed: &str) -> Result<()> {
        if !self.store.asks_second_factor(account)? {
            return Err(Error::conflict("the account has no second factor"));
        }
        let notice = "Logins ask for your second factor no more";
        let removed = self.attempt(account, |tx| {
            Ok(take_code(tx, account, typed)? && tx.remove_second_factor(account, notice)?)
        })?;
        if removed { Ok(()) } else { Err(wrong_code()) }
    }

    /// Attempts a code for an account. All count together wherever they come from, because only who knows the
    /// password makes any; the owner is told when there are too many.
    fn attempt(
        &self,
        account: AccountId,
        attempt: impl FnOnce(&Tx<'_>) -> StoreResult<bool>,
    ) -> Result<bool> {
        let (fits, count) = self.count_attempt(&format!("second factor {account}"), attempt)?;
        if !fits && count == MAX_FAILURES {
            self.store.note_wrong_codes(account)?;
        }
        Ok(fits)
    }

    /// Counts an attempt before it is made, so that those made at once are counted as well. Returns true if it
    /// turned out well, and the number of attempts since one did.
    fn count_attempt(
        &self,
        who: &str,
        attempt: impl FnOnce(&Tx<'_>) -> StoreResult<bool>,
    ) -> Result<(bool, u32)> {
        let throttle = &self.identity.throttle;
        // The login page counts under whatever is typed as an address, trimmed: nobody can type this one there.
        let who = &format!("\n{who}");
        let count = throttle.begin_attempt(&self.store, who, MAX_FAILURES, self.source.now_ms())?;
        let fits = self.store.write(attempt)?;
        if fits {
            throttle.forget_failures(&self.store, who)?;
        }
        Ok((fits, count))
    }
}

/// Returns a secret in the forms in which an app takes it.
fn show_secret(account: &Account, secret: &[u8]) -> BegunSecondFactor {
    let secret = totp::base_32(secret);
    BegunSecondFactor {
        otpauth_uri: totp::otpauth_uri(&account.email, &secret),
        secret,
    }
}

fn wrong_code() -> Error {
    Error::forbidden("the code is wrong, too old or was used before")
}

/// Returns a secret or a recovery code in groups of four, for people to read and to write down.
pub(crate) fn in_groups(code: &str) -> String {
    let letters: Vec<char> = code.chars().collect();
    let groups: Vec<String> = letters
        .chunks(4)
        .map(|group| group.iter().collect())
        .collect();
    groups.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recovery_code_is_read_however_it_is_typed() {
        assert_eq!(in_groups("ABCDEFGH23456772"), "ABCD-EFGH-2345-6772");
        let hash = recovery_hash("ABCDEFGH23456772");
        assert_eq!(recovery_hash(" abcd-efgh 2345 6772 "), hash);
        assert_ne!(recovery_hash("ABCDEFGH23456773"), hash);
    }
}
