//! Failures with a team's keys, each with what a person can do about it.

use cairn_api::ApiError;
use cairn_crypto::CryptoError;
use cairn_transfer::TransferError;

/// The way to a key that the account was not granted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyRemedy {
    /// The team has none in force, and the caller may make it.
    Make,
    /// The caller has the one in force from before their own keys were replaced, and may make the next one.
    Renew,
    /// Somebody else has it, or may make it.
    Ask,
}

/// The reason why a team's keys can't be used or granted.
#[derive(Debug, thiserror::Error)]
pub enum TeamError {
    #[error("{}", not_granted(team, *remedy))]
    NotGranted { team: String, remedy: KeyRemedy },
    #[error(
        "you are a member of the team {team}: only its owner and admins can grant its key, ask one of them"
    )]
    NoRight { team: String },
    /// A server can invent an admin, and grant a key of its own in their name.
    #[error(
        "the key of the team {team} was granted by {who}, whose keys nobody has accepted on this device: compare the fingerprint {fingerprint} with {who} by another way than this service, and accept it with `cairn teams keys '{team}' --accept-new {who}`"
    )]
    NewGranter {
        team: String,
        who: String,
        fingerprint: String,
    },
    /// Pinned and served keys of somebody whose signature counts here differ.
    #[error(
        "the keys of {who} have changed: run `cairn teams keys '{team}'`, compare the fingerprint with {who} by another way, and accept it with `cairn teams keys '{team}' --accept-changed {who}`"
    )]
    KeyChanged { team: String, who: String },
    #[error(
        "there are no changed keys of {who} that were shown before: run `cairn teams keys '{team}'` and compare the fingerprint first"
    )]
    NotShown { team: String, who: String },
    #[error(
        "there are no new keys of {who} to accept: `cairn teams keys '{team}'` shows whose keys are new"
    )]
    NotNew { team: String, who: String },
    /// A server that adds a member with the address of another can have the wrong one accepted.
    #[error(
        "the server lists two members of the team {team} with the address or the keys of {who}: nothing was granted; ask the operator of the server"
    )]
    Ambiguous { team: String, who: String },
    /// A space that is in use and whose key nobody is said to have.
    #[error(
        "the team {team} has files, but the server gives you no key to them: no new one is made; ask another owner or admin to run `cairn teams grant '{team}'`"
    )]
    KeyWithheld { team: String },
    /// The server's reply is not authentic.
    #[error(
        "what the server says of the keys of the team {team} was refused ({}): {source}", source.class().as_str()
    )]
    Refused { team: String, source: CryptoError },
    #[error(transparent)]
    Transfer(#[from] TransferError),
}

fn not_granted(team: &str, remedy: KeyRemedy) -> String {
    match remedy {
        KeyRemedy::Make => format!(
            "the team {team} has no key yet, which its files need: run `cairn teams grant '{team}'`, which makes one"
        ),
        KeyRemedy::Renew => format!(
            "the key of the team {team} was granted to the keys that you had before: run `cairn teams grant '{team}' --new-key`, which makes a new one"
        ),
        KeyRemedy::Ask => format!(
            "the key of the team {team} was not granted to you yet: ask somebody else who owns or administers the team to run `cairn teams grant '{team}'`"
        ),
    }
}

impl From<ApiError> for TeamError {
    fn from(error: ApiError) -> Self {
        Self::Transfer(error.into())
    }
}
