//! Checks e-mail and password, slowly, and not more often than a person mistypes.

use crate::error::{Error, Result};
use crate::state::AppState;
use cairn_store::Account;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Wrong passwords for one address within the window, before it has to wait.
const MAX_FAILURES: u32 = 10;
const WINDOW_MS: i64 = 15 * 60 * 1000;
/// Addresses remembered; beyond that, old windows are forgotten.
const REMEMBERED: usize = 10_000;
/// What is checked where nobody has the address, so that the answer takes as long.
const NOBODY: &str = "$2b$10$abcdefghijklmnopqrstuuS3jLnLQnRdI5FPbTMgHPKUZ0C1Y3cxK";

/// Failed logins by address: their number, and when the first of them was.
#[derive(Default)]
pub(crate) struct Throttle(Mutex<HashMap<String, (u32, i64)>>);

impl Throttle {
    /// # Errors
    /// [`Error::RateLimited`] for an address with too many failures.
    fn check(&self, email: &str, now: i64) -> Result<()> {
        let failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match failures.get(email) {
            Some((count, since)) if *count >= MAX_FAILURES && now - since < WINDOW_MS => {
                let left = (WINDOW_MS - (now - since)).unsigned_abs().div_ceil(1000);
                Err(Error::RateLimited {
                    endpoint: "the login".into(),
                    retry_after: left,
                })
            }
            Some(_) | None => Ok(()),
        }
    }

    fn failed(&self, email: &str, now: i64) {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() >= REMEMBERED {
            failures.retain(|_, (_, since)| now - *since < WINDOW_MS);
        }
        let entry = failures.entry(email.to_owned()).or_insert((0, now));
        if now - entry.1 >= WINDOW_MS {
            *entry = (0, now);
        }
        entry.0 += 1;
    }

    /// Forgets all failures.
    pub(crate) fn clear(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    fn succeeded(&self, email: &str) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(email);
    }
}

/// The account whose password this is; `None` for any other.
///
/// # Errors
/// [`Error::RateLimited`] after too many failures.
pub(crate) async fn check(app: &AppState, email: &str, password: &str) -> Result<Option<Account>> {
    let key = email.trim().to_lowercase();
    let now = app.source.now_ms();
    let throttle = &app.identity.throttle;
    throttle.check(&key, now)?;
    let known = app.store.account_with_password(&key)?;
    let hash = known
        .as_ref()
        .map_or_else(|| NOBODY.to_owned(), |(_, hash)| hash.clone());
    // No password is longer: bcrypt would cut it off.
    let password = (password.len() <= 72).then(|| password.to_owned());
    let fits = tokio::task::spawn_blocking(move || {
        password.is_some_and(|password| bcrypt::verify(password, &hash).unwrap_or(false))
    })
    .await
    .map_err(|e| Error::internal(format!("a password can't be checked: {e}")))?;
    match known {
        Some((account, _)) if fits => {
            throttle.succeeded(&key);
            Ok(Some(account))
        }
        Some(_) | None => {
            throttle.failed(&key, now);
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_failures_make_an_address_wait_until_the_window_ends() {
        let throttle = Throttle::default();
        for _ in 0..MAX_FAILURES {
            throttle.check("a", 1_000).unwrap();
            throttle.failed("a", 1_000);
        }
        assert!(matches!(
            throttle.check("a", 2_000),
            Err(Error::RateLimited {
                retry_after: 899,
                ..
            })
        ));
        throttle.check("b", 2_000).unwrap();
        throttle.check("a", 1_000 + WINDOW_MS).unwrap();
        throttle.failed("a", 1_000 + WINDOW_MS);
        throttle.check("a", 1_000 + WINDOW_MS).unwrap();
        throttle.succeeded("a");
        assert!(throttle.0.lock().unwrap().is_empty());
    }

    #[test]
    fn the_hash_of_nobody_is_well_formed_and_fits_nothing_likely() {
        assert!(!bcrypt::verify("", NOBODY).unwrap());
        assert!(!bcrypt::verify("password", NOBODY).unwrap());
    }
}
