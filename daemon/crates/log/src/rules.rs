//! The reasons for which a commit (changes signed by a device) or an entry (a change made by the server) is
//! refused: the same for the server that gets one and for the reader that finds one in a log.

use crate::error::LogError;

/// The reason for a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the bytes are not a commit, a statement or an entry")]
    Encoding,
    #[error("a kind, operation or flag is newer than this program; update Cairn")]
    Unsupported,
    #[error("the commit continues another history")]
    History,
    #[error("the first commit of a space has its genesis, a device list and its first epoch")]
    Genesis,
    #[error("the device isn't one of this space")]
    Device,
    #[error("the signature isn't the device's")]
    Signature,
    #[error("the device has signed a later commit already")]
    Own,
    #[error("the device hasn't seen the log that it continues")]
    Seen,
    #[error("the root isn't that of the log at this size")]
    Root,
    #[error("the root is too old to be remembered; a consistency proof is needed")]
    RootUnknown,
    #[error("a node or chain is changed twice in one commit")]
    Twice,
    #[error("the statement doesn't continue the newest one")]
    Prev,
    #[error("the statement has the wrong number")]
    Seq,
    #[error("the statement belongs to another epoch")]
    Epoch,
    #[error("the account's role doesn't allow this")]
    Role,
    #[error("the statement changes what its kind isn't about")]
    Kind,
    #[error("the space is open and the node private, or the other way round")]
    Form,
    #[error("the node was deleted for good")]
    Purged,
    #[error("the folder isn't there")]
    Parent,
    #[error("a folder can't lie in itself")]
    Cycle,
    #[error("the folder has that name already")]
    NameDuplicate,
    #[error("the statement stands in another chain than its own")]
    Chain,
    #[error("the roster can't be changed like this")]
    Roster,
    #[error("the device list isn't the account's")]
    DeviceList,
    #[error("the checkpoint isn't a state of this log")]
    Checkpoint,
    #[error("the claim of an identity isn't signed by it")]
    Identity,
    #[error("the folder lies too deep")]
    Depth,
}

/// The consequence of a refusal for a reader that finds it in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The server has broken its rules: no upload, deletion or overwriting any more.
    Freeze,
    /// The program is too old.
    Update,
    /// A proof has to be fetched first.
    NeedsProof,
}

impl Refusal {
    /// All reasons, in the order of their codes. A new one comes behind the last.
    const ALL: [Self; 27] = [
        Self::Encoding,
        Self::Unsupported,
        Self::History,
        Self::Genesis,
        Self::Device,
        Self::Signature,
        Self::Own,
        Self::Seen,
        Self::Root,
        Self::RootUnknown,
        Self::Twice,
        Self::Prev,
        Self::Seq,
        Self::Epoch,
        Self::Role,
        Self::Kind,
        Self::Form,
        Self::Purged,
        Self::Parent,
        Self::Cycle,
        Self::NameDuplicate,
        Self::Chain,
        Self::Roster,
        Self::DeviceList,
        Self::Checkpoint,
        Self::Identity,
        Self::Depth,
    ];

    /// Returns the number of the reason in a response, from 1.
    #[must_use]
    pub fn code(self) -> u8 {
        let place = Self::ALL.iter().position(|reason| *reason == self);
        1 + place.map_or(0, |place| place as u8)
    }

    /// Returns the reason with a code.
    #[must_use]
    pub fn of_code(code: u8) -> Option<Self> {
        let place = usize::from(code).checked_sub(1)?;
        Self::ALL.get(place).copied()
    }

    /// Returns the consequence for a reader.
    #[must_use]
    pub fn severity(self) -> Severity {
        match self {
            Self::Unsupported => Severity::Update,
            Self::RootUnknown => Severity::NeedsProof,
            Self::Encoding
            | Self::History
            | Self::Genesis
            | Self::Device
            | Self::Signature
            | Self::Own
            | Self::Seen
            | Self::Root
            | Self::Twice
            | Self::Prev
            | Self::Seq
            | Self::Epoch
            | Self::Role
            | Self::Kind
            | Self::Form
            | Self::Purged
            | Self::Parent
            | Self::Cycle
            | Self::NameDuplicate
            | Self::Chain
            | Self::Roster
            | Self::DeviceList
            | Self::Checkpoint
            | Self::Identity
            | Self::Depth => Severity::Freeze,
        }
    }
}

impl From<LogError> for Refusal {
    fn from(error: LogError) -> Self {
        if matches!(error, LogError::UnsupportedFormat(_)) {
            Self::Unsupported
        } else {
            Self::Encoding
        }
    }
}
