//! A login with the recovery key, on a device that has no keys yet, after the passphrase was forgotten.

use super::{Args, Opened, wrong_passphrase};
use crate::cli::{passphrase, prompt};
use crate::failure::{CommandResult, Failure};
use crate::keys;
use crate::output::text::clean;
use cairn_api::Api;
use cairn_space::CryptoError;
use cairn_space::account_keys::{self, AccountKeys, Proof, RecoveryKey};
use cairn_wire::account::AccountInfo;
use cairn_wire::keys::KeyBundle;
use std::path::Path;

/// Opens the account's keys with the recovery key in a file.
pub(super) fn unlock(
    file: &Path,
    bundle: &account_keys::KeyBundle,
    info: &AccountInfo,
) -> CommandResult<(AccountKeys, Opened)> {
    let key = RecoveryKey::parse(&prompt::from_file(file)?)?;
    let unlocked = open(bundle, &key, info)?;
    Ok((unlocked, Opened::WithRecoveryKey(key)))
}

fn open(
    bundle: &account_keys::KeyBundle,
    key: &RecoveryKey,
    info: &AccountInfo,
) -> CommandResult<AccountKeys> {
    let opened = account_keys::unlock_with_recovery(bundle, key, info.id, info.space_id);
    opened.map_err(|error| {
        Failure::failed(format!(
            "the recovery key doesn't open the keys of {}: {error}",
            clean(&info.email)
        ))
    })
}

/// Sets a new passphrase if the recovery key has opened the keys; else they stay as they are.
pub(super) async fn complete(
    args: &Args,
    api: &Api,
    info: &AccountInfo,
    (bundle, unlocked): (KeyBundle, AccountKeys),
    opened: &Opened,
) -> CommandResult<(KeyBundle, AccountKeys)> {
    match opened {
        Opened::WithRecoveryKey(key) => {
            set_passphrase(args, api, info, (&bundle, &unlocked), key).await
        }
        Opened::WithPassphrase | Opened::New => Ok((bundle, unlocked)),
    }
}

/// Sets a new passphrase for keys that the recovery key has opened: the next login asks for it. Returns the keys as the
/// service has them from then on.
async fn set_passphrase(
    args: &Args,
    api: &Api,
    info: &AccountInfo,
    (bundle, unlocked): (&KeyBundle, &AccountKeys),
    key: &RecoveryKey,
) -> CommandResult<(KeyBundle, AccountKeys)> {
    let file = args.new_passphrase_file.as_deref();
    let known = [info.email.as_str()];
    let new = args
        .new_passphrase
        .read(file, "--new-passphrase-file FILE", &known)?;
    let bundle = keys::from_wire(bundle);
    let proof = Proof::RecoveryKey(key);
    let changed =
        account_keys::change_passphrase(api, &bundle, unlocked, &new, keys::cost(), proof)
            .await
            .map_err(passphrase::not_changed)?;
    let unlocked = open(&keys::from_wire(&changed), key, info)?;
    Ok((changed, unlocked))
}

/// Makes the failure of a passphrase that opens nothing. It names the way without the passphrase where there is one.
pub(super) fn naming_the_way(
    error: CryptoError,
    bundle: &account_keys::KeyBundle,
    email: &str,
) -> Failure {
    let is_wrong = error == CryptoError::NotAuthentic;
    let failure = wrong_passphrase(error, email);
    match is_wrong && bundle.recovery.is_some() {
        true => failure.adding("if it is forgotten, `cairn login --recovery-key-file FILE` opens them with the recovery key, and sets a new passphrase"),
        false => failure,
    }
}
