//! The recovery key. There are two kinds: made here, when the passphrase is known, it opens the account's files
//! without the passphrase; made by the service (a reset key), it only resets the account and opens no file.
//! `configured` in the results of all tools means the first kind.

use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::keys::OpenedBundle;
use crate::outcome;
use crate::services::KeySource;
use crate::time_limit::TimeLimit;
use crate::tool::{ToolFuture, get, post};
use cairn_space::account_keys;
use futures_util::FutureExt as _;
use serde_json::{Value, json};
use std::time::Duration;

/// The time in which the account's keys have to be opened: a key that is in force has to be shown before the time of the
/// call is over.
const OPENED_WITHIN: Duration = Duration::from_secs(15);

const RESET_ONLY: &str = "this key can reset the account, but opens no files: make one that does with `cairn recovery-key setup`, or with SERVICE_PASSPHRASE set. A recovery key made that way stays valid.";

pub(crate) fn setup(call: Call) -> ToolFuture {
    async move {
        let opened = TimeLimit::start_for(OPENED_WITHIN)
            .prepare(Box::pin(call.services.open_with_passphrase()))
            .await;
        if let Err(ToolError::TimedOut { seconds }) = opened {
            return Err(ToolError::refused(format!(
                "the service did not give the account's keys within {seconds} s: nothing was changed; try again later"
            )));
        }
        match opened? {
            Some(opened) => make(&call, opened).await,
            None => {
                let made = call.send(&post("keys/recovery/setup")).await;
                let made = made.map_err(|error| with_advice(&call, error))?;
                Ok(json!({
                    "recovery_key": made["recovery_key"],
                    "made_by": "server",
                    "opens_files": false,
                    "note": RESET_ONLY,
                }))
            }
        }
    }
    .boxed()
}

/// Adds the advice for a process without the passphrase: a person, who knows it, can make the key on the command
/// line.
fn with_advice(call: &Call, error: ToolError) -> ToolError {
    // In other words it would read as a refusal where the words of the service are withheld.
    if outcome::is_open(&error) {
        return error;
    }
    match &call.services.key_source {
        // The message has the words of the service.
        KeySource::Open(_) => ToolError::Quoting(format!(
            "{}; have a person run `cairn recovery-key setup` on this machine instead",
            error.public_message()
        )),
        KeySource::Missing | KeySource::Passphrase { .. } => error,
    }
}

/// Makes the key that opens the account's files, as `cairn recovery-key setup` does.
async fn make(call: &Call, opened: OpenedBundle) -> ToolResult<Value> {
    let OpenedBundle {
        bundle,
        unlocked,
        auth,
    } = opened;
    let api = &call.services.writes;
    let made = account_keys::make_recovery_key(api, &bundle, &unlocked, &auth).await?;
    let note = match made.unconfirmed {
        None => "shown only now: keep it off this machine. Earlier recovery keys no longer work.",
        Some(_) => {
            "shown only now: keep it off this machine, and an earlier one too. The service's answer was lost, so that \
             it is not known which of them works: set up another one later."
        }
    };
    Ok(json!({
        "configured": true,
        "made_by": "client",
        "opens_files": true,
        "recovery_key": *made.key.reveal(),
        "note": note,
    }))
}

pub(crate) fn status(call: Call) -> ToolFuture {
    async move {
        let mut status = call.send(&get("keys/recovery")).await?;
        if status["configured"] == true && status["opens_files"] == false {
            status["configured"] = json!(false);
            status["note"] = json!(RESET_ONLY);
        }
        Ok(status)
    }
    .boxed()
}

/// Checks the service's view of the keys, and that the passphrase here opens them.
pub(crate) fn encryption_status(call: Call) -> ToolFuture {
    async move {
        let mut status = call.send(&get("diagnostics/encryption")).await?;
        let (passphrase, advice) = match &call.services.key_source {
            KeySource::Open(_) => ("not_needed", None),
            KeySource::Missing => (
                "missing",
                Some("set SERVICE_PASSPHRASE where this tool server is configured"),
            ),
            KeySource::Passphrase { .. } => match call.services.open_with_passphrase().await {
                Ok(Some(_)) => ("opens_the_account", None),
                Ok(None) => ("set", None),
                Err(ToolError::WrongPassphrase) => (
                    "wrong",
                    Some("SERVICE_PASSPHRASE is not the account's passphrase: correct it"),
                ),
                Err(error) => return Err(error),
            },
        };
        status["passphrase"] = json!(passphrase);
        if let Some(advice) = advice {
            status["encryption_ready"] = json!(false);
            match status["recommendations"].as_array_mut() {
                Some(list) => list.push(json!(advice)),
                None => status["recommendations"] = json!([advice]),
            }
        }
        Ok(status)
    }
    .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_services::{call_of, services, silent_services};
    use crate::text_policy::ForeignTexts;
    use cairn_api::ApiError;
    use cairn_crypto::{AccountKeys, AuthValue, KeyBundle, RootCost, SystemRandom};
    use cairn_model::{AccountId, SpaceId};
    use std::sync::Arc;

    fn new_account() -> (KeyBundle, AccountKeys, AuthValue) {
        cairn_crypto::create_account(
            "passphrase",
            AccountId::from_random_bytes([1; 16]),
            SpaceId::from_random_bytes([2; 16]),
            RootCost::LEAST,
            &mut SystemRandom,
        )
        .unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_that_may_be_in_force_is_shown_before_the_client_gives_up() {
        let (bundle, unlocked, auth) = new_account();
        let call = call_of(silent_services(KeySource::Missing), json!({}));
        let opened = OpenedBundle {
            bundle,
            unlocked,
            auth,
        };
        let begin = tokio::time::Instant::now();
        let made = Box::pin(make(&call, opened)).await.unwrap();
        assert!(begin.elapsed() + OPENED_WITHIN < Duration::from_secs(50));
        assert!(made["recovery_key"].is_string(), "{made}");
        let note = made["note"].as_str().unwrap();
        assert!(note.contains("answer was lost"), "{note}");
    }

    #[test]
    fn an_unknown_outcome_is_no_refusal_in_a_lockdown() {
        let (_, unlocked, _) = new_account();
        let call = call_of(services(KeySource::Open(Arc::new(unlocked))), json!({}));
        let lost = outcome::mark_unknown(ApiError::Offline("reset".to_owned()).into());
        let error = with_advice(&call, lost);
        let message = ForeignTexts::Withheld.error_message(&error, None);
        assert!(message.contains("may have been done"), "{message}");
        let refused = with_advice(&call, ToolError::refused("no"));
        let message = refused.public_message();
        assert!(message.contains("cairn recovery-key setup"), "{message}");
    }
}
