//! The devices of the account: listed, removed, shut out; the account's keys and the words to compare.

use super::account::RecoveryKeyView;
use super::context::Commands;
use crate::program::{ProgramError, Run};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A device of the account.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
pub struct DeviceView {
    pub id: String,
    pub name: String,
    pub this: bool,
    /// RFC 3339 in UTC; absent if the server has not seen it since it began to note that.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub last_seen: Option<String>,
}

/// A device that is off the list, while the account's keys are still those that it has.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
pub struct LostDevice {
    pub id: String,
    pub name: String,
}

/// The devices of the account.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
pub struct DeviceList {
    pub devices: Vec<DeviceView>,
    /// One that this device began to shut out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub unfinished: Option<LostDevice>,
}

/// The choices of a person who shuts a device out.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, TS)]
pub struct RevokeChoices {
    pub passphrase: String,
    /// The new passphrase; none: it stays.
    #[ts(optional = nullable)]
    pub new_passphrase: Option<String>,
    /// Revoke the account's API keys, too, but the one that this device uses.
    pub api_keys: bool,
}

/// The rest to do after a device was shut out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct RevokedView {
    /// The new recovery key, if there was one before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub recovery_key: Option<RecoveryKeyView>,
    /// The failure after which the rest is to be done; the command completes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub failed: Option<String>,
    /// The names of API keys that are still valid, on whatever device they are.
    pub api_keys: Vec<String>,
    /// Teams whose key somebody else in it has to grant again.
    pub teams_to_ask: Vec<String>,
    /// Teams whose key could not be renewed.
    pub teams_failed: Vec<String>,
}

/// The words of a space, which two devices in sync have in common.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
pub struct SpaceWords {
    /// The name of the team; absent for the account's own files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub team: Option<String>,
    pub words: Vec<String>,
    /// Items that the words cover, and others that no device with the keys vouches for.
    pub sealed: u64,
    pub unsealed: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub last_change: Option<LastChange>,
}

/// The last change of a space, as the service says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
pub struct LastChange {
    /// RFC 3339 in UTC.
    pub at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub device: Option<String>,
}

/// The words of all spaces.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
pub struct CompareView {
    /// False: the words change until this device is in sync.
    pub in_sync: bool,
    pub spaces: Vec<SpaceWords>,
}

pub(super) async fn list(commands: &Commands) -> Result<DeviceList, ProgramError> {
    commands.document(Run::of(["devices"])).await
}

/// Removes a device: its logins end. Returns their number; none for one that uses an API key.
pub(super) async fn remove(commands: &Commands, id: String) -> Result<u64, ProgramError> {
    #[derive(Deserialize)]
    struct Document {
        logins_ended: u64,
    }
    let run = Run::of(["devices", "remove", "--yes", "--", &id]);
    let removed: Document = commands.document(run).await?;
    Ok(removed.logins_ended)
}

/// Shuts a device out: its logins end, and all keys of the account are replaced.
pub(super) async fn revoke(
    commands: &Commands,
    id: String,
    choices: RevokeChoices,
) -> Result<RevokedView, ProgramError> {
    let mut arguments = vec!["devices", "revoke", "--yes", "--passphrase-file=-"];
    arguments.push(match choices.new_passphrase {
        Some(_) => "--new-passphrase-file=-",
        None => "--keep-passphrase",
    });
    if choices.api_keys {
        arguments.push("--api-keys");
    }
    arguments.extend(["--", &id]);
    let mut run = Run::of(arguments).with_secret(choices.passphrase);
    run.secrets.extend(choices.new_passphrase);
    let done: Revoked = commands.document(run).await?;
    Ok(done.view())
}

/// The result of `cairn devices revoke`.
#[derive(Deserialize)]
struct Revoked {
    recovery_key: Option<String>,
    recovery_key_in_force: Option<bool>,
    api_keys: Vec<ApiKey>,
    teams: Vec<Team>,
    failed: Option<String>,
}

#[derive(Deserialize)]
struct ApiKey {
    name: String,
    prefix: String,
    revoked: bool,
    this_device: bool,
}

#[derive(Deserialize)]
struct Team {
    name: String,
    /// `renewed`, `ask_an_admin`, `failed` or `no_key`.
    key: String,
}

impl Revoked {
    fn view(self) -> RevokedView {
        let left = self.api_keys.into_iter();
        let left = left.filter(|key| !key.revoked && !key.this_device);
        let named = |state: &str| {
            let teams = self.teams.iter().filter(|team| team.key == state);
            teams.map(|team| team.name.clone()).collect()
        };
        RevokedView {
            recovery_key: self.recovery_key.map(|key| RecoveryKeyView {
                key,
                in_force: self.recovery_key_in_force == Some(true),
            }),
            failed: self.failed,
            api_keys: left
                .map(|key| match key.name.is_empty() {
                    true => format!("{}…", key.prefix),
                    false => key.name,
                })
                .collect(),
            teams_to_ask: named("ask_an_admin"),
            teams_failed: named("failed"),
        }
    }
}

/// Takes over keys that another device has replaced. Returns false if this device has them already.
pub(super) async fn update_keys(
    commands: &Commands,
    passphrase: String,
) -> Result<bool, ProgramError> {
    #[derive(Deserialize)]
    struct Document {
        updated: bool,
    }
    let run = Run::of(["keys", "update", "--passphrase-file=-"]).with_secret(passphrase);
    let done: Document = commands.document(run).await?;
    Ok(done.updated)
}

pub(super) async fn compare(commands: &Commands) -> Result<CompareView, ProgramError> {
    commands.document(Run::of(["compare"])).await
}
