//! Replaced keys of the account in this home: the note of a replacement that is under way, and taking new keys over.

use crate::account::Account;
use crate::failure::{CommandResult, Context as _, Exit, Failure};
use crate::output::text::{clean, local_time};
use crate::session::{self, Session};
use crate::trust::{self, Pins};
use cairn_model::DeviceId;
use cairn_platform::{FileMode, Home, Zone, write_atomic};
use cairn_space::account_keys::{AccountKeys, Replacement};
use cairn_wire::keys::{KeyBundle, KeyReplacement};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;

/// The generation of the account's keys that a device has, for people to compare between devices.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Generation {
    epoch: u32,
    pub(crate) fingerprint: String,
    replaced: Option<KeyReplacement>,
}

impl Generation {
    /// Returns the generation of opened keys, and of the bundle that they were opened from.
    pub(crate) fn of(account: &Account, keys: &AccountKeys) -> Self {
        Self {
            epoch: keys.epoch(),
            fingerprint: keys.public().fingerprint(),
            replaced: account.keys.replaced.clone(),
        }
    }

    /// Returns one sentence with the epoch, and when the keys were replaced.
    pub(crate) fn describe(&self, zone: &Zone) -> String {
        let epoch = self.epoch;
        match &self.replaced {
            Some(replaced) => format!(
                "Keys of the account: epoch {epoch}, keys replaced on {} by {}",
                local_time(replaced.at.0, zone),
                clean(&replaced.device)
            ),
            None => format!("Keys of the account: epoch {epoch}, never replaced"),
        }
    }
}

/// A replacement of the account's keys that was begun here. The next run of the command completes it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Pending {
    /// The device that is shut out by it.
    #[serde(default)]
    pub(crate) device: Option<LostDevice>,
    /// The fingerprint of the keys that were sent; `None` before.
    #[serde(default)]
    pub(crate) sent: Option<String>,
}

/// A device that is to be shut out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct LostDevice {
    pub(crate) id: DeviceId,
    pub(crate) name: String,
}

impl LostDevice {
    /// Returns the command that completes it. Another device chose the name, which would be a part of what a person
    /// pastes into a shell: the id stands for it.
    pub(crate) fn command(&self) -> String {
        format!("cairn devices revoke {}", self.id)
    }
}

impl Pending {
    fn path(home: &Home) -> PathBuf {
        home.data_dir().join("rotation.json")
    }

    /// Reads the note, if a replacement is under way.
    pub(crate) fn read(home: &Home) -> CommandResult<Option<Self>> {
        let path = Self::path(home);
        match std::fs::read(&path) {
            // One that can't be read says nothing that could be completed.
            Ok(text) => Ok(serde_json::from_slice(&text).ok()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e).context(format_args!("read {}", path.display())),
        }
    }

    /// Writes the note, in one step.
    pub(crate) fn write(&self, home: &Home) -> CommandResult {
        let path = Self::path(home);
        let text = serde_json::to_vec(self)
            .map_err(io::Error::from)
            .context(format_args!("write {}", path.display()))?;
        Ok(write_atomic(&path, &text, FileMode::Private)?)
    }

    /// Ends it.
    pub(crate) fn delete(home: &Home) -> CommandResult {
        let path = Self::path(home);
        match std::fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                Err(e).context(format_args!("delete {}", path.display()))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Returns true if these keys are the ones that were sent.
    pub(crate) fn has_sent(&self, keys: &AccountKeys) -> bool {
        self.sent == Some(keys.public().fingerprint())
    }
}

/// Makes opened keys the keys of this home. A crash at any point leaves either the former keys or the new ones.
pub(crate) fn adopt(
    home: &Home,
    session: &Session,
    keys: &AccountKeys,
    bundle: KeyBundle,
) -> CommandResult<Pins> {
    session.keys.check_successor(keys)?;
    let secrets = session::open_secrets(home, &session.account)?;
    session::keep_next_key(home, &*secrets, &keys.account_key)?;
    let account = Account {
        keys: bundle,
        ..session.account.clone()
    };
    let pins = trust::carry_over(home, Some(&session.keys), keys, || account.save(home))?;
    session::keep_account_key(home, &*secrets, &keys.account_key)?;
    Ok(pins)
}

/// Says that pins could not be kept.
pub(crate) const PINS_LOST: &str = "the accepted keys of other people were sealed under the former keys of this account and can't be read: compare the fingerprints that `cairn teams keys` shows again";

/// The remedy on a device whose keys are not the account's any more.
pub(crate) const UPDATE_HINT: &str = "run `cairn keys update`";

/// Says when and by which device the keys were replaced, as far as that is known. Neither is verified.
pub(crate) fn describe(replaced: Option<&Replacement>, zone: &Zone) -> String {
    let Some(replaced) = replaced else {
        return "the keys of this account were replaced on another device".to_owned();
    };
    format!(
        "the keys of this account were replaced on {} by {}",
        local_time(replaced.at_ms, zone),
        clean(&replaced.device)
    )
}

/// Makes the failure of a command that needs the account's present keys.
pub(crate) fn replaced_error(replaced: Option<&Replacement>, zone: &Zone) -> Failure {
    Failure::new(
        Exit::Decision,
        format!("{}: {UPDATE_HINT}", describe(replaced, zone)),
    )
}
