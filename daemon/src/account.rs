//! `account.json` in the home (the directory of this installation): who is logged in where, and which device
//! this is. It holds nothing secret: the key bundle in it (the account's keys) is as encrypted as it is on the
//! service.

use crate::failure::{CommandResult, Context as _, Exit, Failure};
use cairn_model::{AccountId, DeviceId, SpaceId};
use cairn_platform::secrets::SecretsChoice;
use cairn_platform::{FileMode, Home, write_atomic};
use cairn_wire::keys::KeyBundle;
use serde::{Deserialize, Serialize};
use std::io;

/// The place in which the API key and the account key are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SecretsKind {
    /// The system's keyring.
    Keyring,
    /// A file in the home that only this user can read.
    File,
}

impl SecretsKind {
    pub(crate) fn choice(self, home: &Home) -> SecretsChoice {
        match self {
            Self::Keyring => SecretsChoice::Keyring,
            Self::File => SecretsChoice::File(home.secrets_file()),
        }
    }
}

/// The account that this home is logged in to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Account {
    pub(crate) server: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) file_server: Option<String>,
    pub(crate) account: AccountId,
    pub(crate) email: String,
    pub(crate) space: SpaceId,
    pub(crate) device: DeviceId,
    pub(crate) device_name: String,
    pub(crate) secrets: SecretsKind,
    /// The newest one seen: an older one from the server is refused.
    pub(crate) keys: KeyBundle,
    /// Logged out: the secrets are gone, the device and its folders stay.
    #[serde(default)]
    pub(crate) logged_out: bool,
}

impl Account {
    /// Reads the account of a home, logged in or not.
    pub(crate) fn read(home: &Home) -> CommandResult<Option<Self>> {
        let path = home.account_file();
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(e).context(format_args!("read {}", path.display())),
        };
        serde_json::from_slice(&text).map(Some).map_err(|e| {
            let message = format!(
                "{} is damaged ({e}): remove it and run `cairn login` again",
                path.display()
            );
            Failure::failed(message)
        })
    }

    /// Reads the account that this home is logged in to.
    pub(crate) fn load(home: &Home) -> CommandResult<Self> {
        match Self::read(home)? {
            Some(account) if !account.logged_out => Ok(account),
            Some(_) | None => Err(not_logged_in()),
        }
    }

    /// Replaces the file in one step.
    pub(crate) fn save(&self, home: &Home) -> CommandResult {
        let path = home.account_file();
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(io::Error::from)
            .context(format_args!("write {}", path.display()))?;
        text.push(b'\n');
        Ok(write_atomic(&path, &text, FileMode::Private)?)
    }
}

pub(crate) fn not_logged_in() -> Failure {
    Failure::new(
        Exit::NotLoggedIn,
        "not logged in: run `cairn login --server URL`",
    )
}
