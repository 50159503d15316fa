//! Checks e-mail and password, slowly, and not more often than a person mistypes.

use super::throttle::{MAX_FAILURES, MAX_FAILURES_EVERYWHERE};
use crate::auth::disabled_error;
use crate::error::{Error, Result};
use crate::state::AppState;
use cairn_store::Account;

/// The fewest characters of a password.
pub const MIN_PASSWORD: usize = 8;

/// The hash that is checked where nobody has the address, so that the response takes as long.
const NOBODY: &str = "$2b$10$abcdefghijklmnopqrstuuS3jLnLQnRdI5FPbTMgHPKUZ0C1Y3cxK";

/// Returns the subjects under which the throttle counts failures of an address: from one network, and from
/// everywhere.
pub(super) fn subjects(email: &str, from: &str) -> (String, String) {
    let everywhere = email.trim().to_lowercase();
    (format!("{everywhere} {from}"), everywhere)
}

/// Returns the account whose password this is, `None` for any other; `from` is the masked address that
/// the attempt comes from.
///
/// # Errors
/// [`Error::RateLimited`] after too many failures, 403 for a disabled account.
pub(crate) async fn check(
    app: &AppState,
    email: &str,
    from: &str,
    password: &str,
) -> Result<Option<Account>> {
    let (here, everywhere) = subjects(email, from);
    let identity = &app.identity;
    // Parallel attempts wait here, so that each of them is counted before the next is checked.
    let _permit = identity.checks.acquire().await;
    let now = app.source.now_ms();
    let throttle = &identity.throttle;
    throttle.check(&here, MAX_FAILURES, now)?;
    throttle.check(&everywhere, MAX_FAILURES_EVERYWHERE, now)?;
    let known = app.store.account_with_password(&everywhere)?;
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
        Some((account, _)) if fits && account.disabled => Err(disabled_error()),
        Some((account, _)) if fits => {
            throttle.forget_failures(&here);
            Ok(Some(account))
        }
        Some(_) | None => {
            throttle.count_failure(&here, now);
            throttle.count_failure(&everywhere, now);
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_nobody_is_well_formed_and_fits_nothing_likely() {
        assert!(!bcrypt::verify("", NOBODY).unwrap());
        assert!(!bcrypt::verify("password", NOBODY).unwrap());
    }
}
