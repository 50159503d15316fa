//! Checks e-mail and password of a login with bcrypt, and limits how often: as often as a person mistypes.

use super::throttle::{MAX_FAILURES, MAX_FAILURES_EVERYWHERE, MAX_FAILURES_OF_NETWORK};
use crate::auth::disabled_error;
use crate::error::{Error, Result};
use crate::state::AppState;
use cairn_model::address::normalize;
use cairn_store::Account;

/// The fewest characters of a password.
pub const MIN_PASSWORD: usize = 8;
/// The most bytes of a password: bcrypt cuts off what is longer.
const MAX_PASSWORD: usize = 72;

/// The hash that is checked where nobody has the address, so that the response takes as long.
const NOBODY: &str = "$2b$10$abcdefghijklmnopqrstuuS3jLnLQnRdI5FPbTMgHPKUZ0C1Y3cxK";

/// Returns the subjects under which the throttle counts failures of an address: from one network, and from
/// everywhere.
pub(super) fn subjects(email: &str, from: &str) -> (String, String) {
    let everywhere = normalize(email);
    (format!("{everywhere} {from}"), everywhere)
}

/// Checks a new password as it was typed twice.
///
/// # Errors
/// The sentence that says what is wrong with it.
pub(crate) fn check_new(password: &str, again: &str) -> Result<(), String> {
    if password != again {
        return Err("The two passwords differ.".to_owned());
    }
    if password.chars().count() < MIN_PASSWORD || password.len() > MAX_PASSWORD {
        return Err(format!(
            "A password has at least {MIN_PASSWORD} characters and at most {MAX_PASSWORD} bytes."
        ));
    }
    Ok(())
}

/// Runs bcrypt on another thread, no more often at once than [`Identity::checks`] has room for: each run
/// takes a core for about 60 ms, and whoever asks for many must not take them all.
///
/// [`Identity::checks`]: crate::identity::Identity
pub(crate) async fn run_bcrypt<T: Send + 'static>(
    app: &AppState,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let _permit = app.identity.checks.acquire().await;
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|e| Error::internal(format!("bcrypt ended: {e}")))
}

/// Returns the account whose password this is, `None` for any other; `from` is the masked address that
/// the attempt comes from.
///
/// # Errors
/// [`Error::RateLimited`] after too many failures, and where too many wait, 403 for a disabled account.
pub(crate) async fn check(
    app: &AppState,
    email: &str,
    from: &str,
    password: &str,
) -> Result<Option<Account>> {
    let (here, everywhere) = subjects(email, from);
    // Nobody can type this one as an address, which is trimmed.
    let network = format!("\nnetwork {from}");
    let identity = &app.identity;
    let _place = identity.queue.enter(from)?;
    // Parallel attempts wait here, so that each of them is counted before the next is checked.
    let _permit = identity.checks.acquire().await;
    let now = app.source.now_ms();
    let throttle = &identity.throttle;
    throttle.check(&app.store, &here, MAX_FAILURES, now)?;
    throttle.check(&app.store, &everywhere, MAX_FAILURES_EVERYWHERE, now)?;
    throttle.check(&app.store, &network, MAX_FAILURES_OF_NETWORK, now)?;
    let known = app.store.account_with_password(email)?;
    let hash = known
        .as_ref()
        .map_or_else(|| NOBODY.to_owned(), |(_, hash)| hash.clone());
    let password = (password.len() <= MAX_PASSWORD).then(|| password.to_owned());
    let fits = tokio::task::spawn_blocking(move || {
        password.is_some_and(|password| bcrypt::verify(password, &hash).unwrap_or(false))
    })
    .await
    .map_err(|e| Error::internal(format!("a password can't be checked: {e}")))?;
    match known {
        Some((account, _)) if fits && account.disabled => Err(disabled_error()),
        Some((account, _)) if fits => {
            throttle.forget_failures(&app.store, &here)?;
            Ok(Some(account))
        }
        Some(_) | None => {
            throttle.count_failure(&app.store, &here, now)?;
            throttle.count_failure(&app.store, &everywhere, now)?;
            throttle.count_failure(&app.store, &network, now)?;
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use crate::state::ServerState;
    use std::sync::Arc;

    #[tokio::test]
    async fn a_network_that_tries_many_addresses_or_at_once_waits_and_others_do_not() {
        let app = Arc::new(ServerState::open(Options::ephemeral(), None).unwrap());
        let (here, elsewhere) = ("192.0.2.xxx", "198.51.100.xxx");
        let attempt = async |from: &str| check(&app, "nobody@example.com", from, "wrong").await;
        let mut places = Vec::new();
        while let Ok(place) = app.identity.queue.enter(here) {
            places.push(place);
        }
        assert!(matches!(
            attempt(here).await,
            Err(Error::RateLimited { .. })
        ));
        assert!(matches!(attempt(elsewhere).await, Ok(None)));
        drop(places);
        assert!(matches!(attempt(here).await, Ok(None)));
        let now = app.source.now_ms();
        for _ in 1..MAX_FAILURES_OF_NETWORK {
            let network = format!("\nnetwork {here}");
            app.identity
                .throttle
                .count_failure(&app.store, &network, now)
                .unwrap();
        }
        assert!(matches!(
            attempt(here).await,
            Err(Error::RateLimited { .. })
        ));
        assert!(matches!(attempt(elsewhere).await, Ok(None)));
    }

    #[test]
    fn the_hash_of_nobody_is_well_formed_and_fits_nothing_likely() {
        assert!(!bcrypt::verify("", NOBODY).unwrap());
        assert!(!bcrypt::verify("password", NOBODY).unwrap());
    }
}
