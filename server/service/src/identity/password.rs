//! Checks e-mail and password, slowly, and not more often than a person mistypes.

use crate::error::{Error, Result};
use crate::state::AppState;
use cairn_store::Account;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Wrong passwords for one account from one network within the window, before it has to wait.
const MAX_FAILURES: u32 = 10;
/// Wrong passwords for one account from everywhere. Far more than for one network, because whoever
/// reaches it keeps the account's owner out.
const MAX_FAILURES_EVERYWHERE: u32 = 200;
/// Passwords checked at once: each takes a core for about 60 ms.
pub(crate) const CHECKS_AT_ONCE: usize = 2;
const WINDOW_MS: i64 = 15 * 60 * 1000;
/// Addresses remembered; beyond that, old windows are forgotten.
const REMEMBERED: usize = 10_000;
/// The hash that is checked where nobody has the address, so that the answer takes as long.
const NOBODY: &str = "$2b$10$abcdefghijklmnopqrstuuS3jLnLQnRdI5FPbTMgHPKUZ0C1Y3cxK";

/// Failed logins by account, and by account and network: their number, and the time of the first.
#[derive(Default)]
pub(crate) struct Throttle(Mutex<HashMap<String, (u32, i64)>>);

impl Throttle {
    /// # Errors
    /// [`Error::RateLimited`] for a subject with `most` failures.
    fn check(&self, subject: &str, most: u32, now: i64) -> Result<()> {
        let failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match failures.get(subject) {
            Some((count, since)) if *count >= most && now - since < WINDOW_MS => {
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

/// Returns the account whose password this is, `None` for any other; `from` is the masked address that
/// the attempt comes from.
///
/// # Errors
/// [`Error::RateLimited`] after too many failures.
pub(crate) async fn check(
    app: &AppState,
    email: &str,
    from: &str,
    password: &str,
) -> Result<Option<Account>> {
    let key = email.trim().to_lowercase();
    let here = format!("{key} {from}");
    let identity = &app.identity;
    // Parallel attempts wait here, so that each of them is counted before the next is checked.
    let _permit = identity.checks.acquire().await;
    let now = app.source.now_ms();
    let throttle = &identity.throttle;
    throttle.check(&here, MAX_FAILURES, now)?;
    throttle.check(&key, MAX_FAILURES_EVERYWHERE, now)?;
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
            throttle.succeeded(&here);
            Ok(Some(account))
        }
        Some(_) | None => {
            throttle.failed(&here, now);
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
            throttle.check("a", MAX_FAILURES, 1_000).unwrap();
            throttle.failed("a", 1_000);
        }
        assert!(matches!(
            throttle.check("a", MAX_FAILURES, 2_000),
            Err(Error::RateLimited {
                retry_after: 899,
                ..
            })
        ));
        throttle.check("b", MAX_FAILURES, 2_000).unwrap();
        throttle
            .check("a", MAX_FAILURES, 1_000 + WINDOW_MS)
            .unwrap();
        throttle.failed("a", 1_000 + WINDOW_MS);
        throttle
            .check("a", MAX_FAILURES, 1_000 + WINDOW_MS)
            .unwrap();
        throttle.succeeded("a");
        assert!(throttle.0.lock().unwrap().is_empty());
    }

    #[test]
    fn failures_elsewhere_keep_nobody_out_until_there_are_very_many() {
        let throttle = Throttle::default();
        for _ in 0..MAX_FAILURES {
            throttle.failed("a 192.0.2.xxx", 1_000);
            throttle.failed("a", 1_000);
        }
        assert!(
            throttle
                .check("a 192.0.2.xxx", MAX_FAILURES, 1_000)
                .is_err()
        );
        throttle
            .check("a 198.51.100.xxx", MAX_FAILURES, 1_000)
            .unwrap();
        throttle.check("a", MAX_FAILURES_EVERYWHERE, 1_000).unwrap();
    }

    #[test]
    fn the_hash_of_nobody_is_well_formed_and_fits_nothing_likely() {
        assert!(!bcrypt::verify("", NOBODY).unwrap());
        assert!(!bcrypt::verify("password", NOBODY).unwrap());
    }
}
