//! Checks e-mail and password of a login with bcrypt, and limits how often: as often as a person mistypes.

use super::throttle::{MAX_FAILURES, MAX_FAILURES_EVERYWHERE, MAX_FAILURES_OF_NETWORK};
use crate::auth::disabled_error;
use crate::error::{Error, Result};
use crate::state::AppState;
use cairn_model::address::normalize;
use cairn_store::Account;

/// The fewest characters of a password.
pub(crate) const MIN_PASSWORD: usize = 8;
/// The fewest guesses that find a password, as a power of ten. Those that the throttle lets through for one account need
/// more than a year for so many.
const MIN_GUESSES_LOG10: f64 = 7.0;
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

/// Checks a new password of the account with an address, as it was typed twice.
///
/// # Errors
/// The sentence that says what is wrong with it.
pub(crate) fn check_new(password: &str, again: &str, email: &str) -> Result<(), String> {
    if password != again {
        return Err("The two passwords differ.".to_owned());
    }
    check_password(password, email)
}

/// Checks a new password of the account with an address: its length, and how many guesses find it.
///
/// # Errors
/// The sentences that say what is wrong with it.
pub fn check_password(password: &str, email: &str) -> Result<(), String> {
    if password.chars().count() < MIN_PASSWORD || password.len() > MAX_PASSWORD {
        return Err(format!(
            "A password has at least {MIN_PASSWORD} characters and at most {MAX_PASSWORD} bytes."
        ));
    }
    let mut known = vec!["cairn", email];
    known.extend(email.split(['@', '.']));
    let estimate = zxcvbn::zxcvbn(password, &known);
    if estimate.guesses_log10() >= MIN_GUESSES_LOG10 {
        return Ok(());
    }
    let mut sentences = vec!["This password is easy to guess.".to_owned()];
    if let Some(feedback) = estimate.feedback() {
        sentences.extend(feedback.warning().map(|warning| warning.to_string()));
        sentences.extend(feedback.suggestions().iter().map(ToString::to_string));
    }
    Err(sentences.join(" "))
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
    fn a_password_that_many_people_have_is_refused_and_one_of_three_words_is_not() {
        for weak in [
            "12345678",
            "password1",
            "Passw0rd!",
            "qwertyuiop",
            "aaaaaaaaaaaa",
            "letmein123",
            "ada.lovelace",
            "ada.lovelace@example.com",
        ] {
            let refused = check_password(weak, "ada.lovelace@example.com").unwrap_err();
            assert!(refused.contains("easy to guess"), "{weak}: {refused}");
            assert!(!refused.contains(weak), "{refused}");
        }
        for good in ["a new password", "correct horse battery", "Tr0ub4dor&3"] {
            assert_eq!(check_password(good, "ada@example.com"), Ok(()), "{good}");
        }
        for length in ["seven c", "\u{e9}".repeat(37).as_str()] {
            let refused = check_password(length, "").unwrap_err();
            assert!(refused.contains("at least 8 characters"), "{refused}");
        }
    }

    #[test]
    fn the_hash_of_nobody_is_well_formed_and_fits_nothing_likely() {
        assert!(!bcrypt::verify("", NOBODY).unwrap());
        assert!(!bcrypt::verify("password", NOBODY).unwrap());
    }
}
