//! Sending a key bundle to the service, and finding out which one is in force if the answer is lost.

use cairn_api::{Api, ApiError};
use cairn_transfer::TransferError;
use cairn_wire::keys::PutKeys;

/// The most times that a bundle is sent.
const TRIES: u32 = 3;

/// The result of sending new keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sent {
    /// The new keys are in force.
    InForce,
    /// Others are in force; these were not taken.
    Overtaken,
}

/// Returns whether a bundle may be in force although sending it has failed with this error: the answer was lost, and
/// the service could not be asked afterwards.
#[must_use]
pub fn may_be_in_force(error: &TransferError) -> bool {
    matches!(error, TransferError::Api(error) if is_answer_lost(error))
}

fn is_answer_lost(error: &ApiError) -> bool {
    matches!(
        error,
        ApiError::Offline(_) | ApiError::Server { .. } | ApiError::Protocol(_)
    )
}

/// Puts a bundle in force in the place of the one with the version `replaces`, or as the first one. If the answer is
/// lost, the service is asked which bundle it has, and gets this one again if that is still the former one.
pub(super) async fn send(
    api: &Api,
    put: &PutKeys,
    replaces: Option<u64>,
) -> Result<Sent, ApiError> {
    let mut tries = 1;
    let mut lost = None;
    loop {
        let Err(error) = api.put_keys(put, replaces).await else {
            return Ok(Sent::InForce);
        };
        let is_lost = is_answer_lost(&error);
        match api.keys().await {
            Ok(served) if served == put.bundle => return Ok(Sent::InForce),
            Ok(served) if replaces.is_none_or(|former| served.version > former) => {
                // The next version is another device's. One after that may have come in the place of this bundle.
                let may_be_ours = replaces.is_some_and(|former| served.version > former + 1);
                return match may_be_ours && (is_lost || lost.is_some()) {
                    true => Err(lost.unwrap_or(error)),
                    false => Ok(Sent::Overtaken),
                };
            }
            // Sent again, it changes nothing if the first request arrives after all: the version guards it.
            Ok(_) | Err(ApiError::NotFound { .. }) if is_lost && tries < TRIES => {
                tries += 1;
                lost = lost.or(Some(error));
            }
            // An earlier try may be in force, whatever this one was told.
            Ok(_) | Err(_) => return Err(lost.unwrap_or(error)),
        }
    }
}

/// Puts a bundle in force; another one that is in force by now is an error.
pub(super) async fn put_in_force(
    api: &Api,
    put: &PutKeys,
    replaces: Option<u64>,
) -> Result<(), TransferError> {
    match send(api, put, replaces).await? {
        Sent::InForce => Ok(()),
        Sent::Overtaken => {
            let message = "the account's keys were changed on another device at the same time, so \
                           that nothing was replaced from here: run the command again"
                .to_owned();
            Err(ApiError::PreconditionFailed { message }.into())
        }
    }
}
