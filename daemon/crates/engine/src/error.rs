//! Errors of the engine, and the one place that decides what follows from each.

mod explain;
mod values;

pub(crate) use explain::{explain, name_cause};
pub(crate) use values::{name_values, values};

use cairn_api::{ApiError, ErrorClass};
use cairn_index::IndexError;
use cairn_model::Problem;
use cairn_platform::NameProblem;
use cairn_transfer::TransferError;
use std::io;
use std::path::PathBuf;

/// A failure of a step or of a command.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    Api(#[from] ApiError),
    #[error(transparent)]
    Transfer(#[from] TransferError),
    #[error("{0}")]
    Disk(#[from] io::Error),
    /// A precondition of the step does not hold any more. Nothing was done.
    #[error("it changed while it was being synced")]
    Stale,
    /// The folder was paused. The steps done so far are kept, and the next plan begins with them.
    #[error("syncing is paused")]
    Paused,
    /// Facts for a plan were missing again and again.
    #[error("it keeps changing while a plan is made")]
    ReplanExhausted,
    /// Done, but it could not be recorded in the index. The next scan and plan find it.
    #[error("it is done but can't be recorded")]
    NotRecorded,
    /// Something lies there under another spelling of the name, which is one name to this disk.
    #[error("this disk takes its name and {} for one, and has that already", there.file_name().unwrap_or_default().display())]
    NameClash { there: PathBuf, wanted: PathBuf },
    /// The disk can't have this name.
    #[error(transparent)]
    Name(NameProblem),
    #[error("the engine has stopped")]
    Stopped,
    #[error("nothing in this folder waits for this answer")]
    NothingToConfirm,
    #[error("{} does not wait for a disk", .0.display())]
    NoHeldDisk(PathBuf),
    #[error("{0} is not in conflict")]
    NoConflict(String),
    #[error("{0} is the only version that is left: choose copy or both")]
    OnlyCopy(String),
    #[error("it is not known which device {0} is from: choose copy, original or both")]
    WhoseCopy(String),
    #[error("{path} can't be merged: {why}; choose copy, original or both")]
    NoMerge { path: String, why: &'static str },
    #[error("the folder {} is missing, or another directory is in its place", .0.display())]
    RootGone(PathBuf),
    #[error("{0} is a file on the service: a folder can't be synced with it")]
    RemoteIsFile(String),
    #[error("{0} was deleted on the service; nothing is deleted here")]
    RemoteGone(String),
    /// A folder that is to be deleted on the service.
    #[error(
        "the service has something in it that is held back, or not known here yet: its deletion waits"
    )]
    HoldsUnrecorded,
    #[error("the service's rules file has {0} bytes, which is too large")]
    RulesTooLarge(u64),
    /// The service's history was replaced by one in which some nodes are as they were before, or changed without keys.
    #[error(
        "the service went back to an earlier state than this device has seen; nothing is synced"
    )]
    WentBack,
    /// A defect of the engine.
    #[error("recording the service's changes has ended with a panic")]
    PollPanicked,
    #[error("the service sent something that can't be: {0}")]
    Protocol(String),
}

/// The reaction to a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Disposition {
    /// Wait a little, then the same again.
    Retry,
    /// Look at both sides again and make a new plan.
    Replan,
    /// The step waits for a later try, and is reported; everything else goes on.
    Park,
    /// Everything stops until a person or the network helps.
    Stop,
}

impl EngineError {
    /// Returns the problem line of this failure for a path; the empty path is the folder itself.
    pub(crate) fn problem(&self, path: String) -> Problem {
        let (cause, hint) = explain(self);
        let message = match matches!(self, Self::Index(IndexError::DiskFull)) {
            // The hint says what to do about it, and so does the error's own message.
            true => "the disk that holds the index is full".to_owned(),
            false => self.to_string(),
        };
        Problem::new(path, cause, message, hint).with(values(self))
    }

    /// Returns whether the service can't be reached or can't serve requests now.
    pub(crate) fn is_offline(&self) -> bool {
        self.api().is_some_and(ApiError::is_transient)
    }

    /// Returns whether the service has no room for anything more.
    pub(crate) fn is_service_full(&self) -> bool {
        self.api().is_some_and(ApiError::is_service_full)
    }

    /// Returns whether the service refuses this device's login.
    pub(crate) fn is_login_ended(&self) -> bool {
        self.api()
            .is_some_and(|error| error.class() == ErrorClass::Auth)
    }

    /// Returns the service's failure if it can't carry out anything now, whatever it is asked.
    pub(crate) fn overload(&self) -> Option<&ApiError> {
        self.api().filter(|error| error.is_overload())
    }

    /// Returns whether a failure of one pair would be met by all others, too.
    pub(crate) fn concerns_all(&self) -> bool {
        self.overload().is_some() || self.disposition() == Disposition::Stop
    }

    /// Returns the service's part in the failure.
    fn api(&self) -> Option<&ApiError> {
        if let Self::Api(error) | Self::Transfer(TransferError::Api(error)) = self {
            return Some(error);
        }
        None
    }

    /// Decides what follows.
    pub(crate) fn disposition(&self) -> Disposition {
        match self {
            Self::Stale | Self::Paused | Self::ReplanExhausted | Self::NotRecorded => {
                Disposition::Replan
            }
            Self::Api(error) => api_disposition(error),
            Self::Transfer(error) => transfer_disposition(error),
            Self::Disk(error) if is_changing(error) => Disposition::Retry,
            Self::Disk(error) if is_elsewhere(error) => Disposition::Replan,
            Self::Disk(_) => Disposition::Park,
            Self::Index(_) | Self::Stopped | Self::WentBack => Disposition::Stop,
            // One impossible reply about one node stops nothing else.
            Self::Protocol(_)
            | Self::PollPanicked
            | Self::NameClash { .. }
            | Self::Name(_)
            | Self::RootGone(_)
            | Self::NothingToConfirm
            | Self::NoHeldDisk(_)
            | Self::NoConflict(_)
            | Self::WhoseCopy(_)
            | Self::NoMerge { .. }
            | Self::OnlyCopy(_)
            | Self::RemoteIsFile(_)
            | Self::RemoteGone(_)
            | Self::HoldsUnrecorded
            | Self::RulesTooLarge(_) => Disposition::Park,
        }
    }
}

fn api_disposition(error: &ApiError) -> Disposition {
    match error.class() {
        ErrorClass::Stale | ErrorClass::Missing => Disposition::Replan,
        ErrorClass::Limit | ErrorClass::Refused | ErrorClass::Protocol => Disposition::Park,
        ErrorClass::Transient if error.is_service_full() => Disposition::Park,
        ErrorClass::Transient => Disposition::Retry,
        ErrorClass::Offline | ErrorClass::Auth => Disposition::Stop,
    }
}

fn transfer_disposition(error: &TransferError) -> Disposition {
    match error {
        TransferError::Api(error) => api_disposition(error),
        TransferError::SourceChanged => Disposition::Retry,
        TransferError::UploadLost => Disposition::Replan,
        TransferError::Source(error) if is_changing(error) => Disposition::Retry,
        TransferError::Source(error) if error.kind() == io::ErrorKind::NotFound => {
            Disposition::Replan
        }
        TransferError::Refused { .. }
        | TransferError::Sealing(_)
        | TransferError::Source(_)
        | TransferError::Target(_) => Disposition::Park,
    }
}

/// The mark of a file that is written while it is read.
#[derive(Debug, thiserror::Error)]
#[error("the file changed while it was read")]
pub(crate) struct Changing;

/// Returns whether something else lies at the path than the plan was made for.
fn is_elsewhere(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory
    )
}

pub(crate) fn is_changing(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Changing>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::PollFailure;
    use cairn_wire::ErrorBody;

    #[test]
    fn what_one_pair_meets_stops_no_other_pair() {
        let of_status = |status| EngineError::Api(ApiError::from_status(status, String::new()));
        for status in [401, 429, 503] {
            assert!(of_status(status).concerns_all(), "{status}");
        }
        for status in [403, 404, 409, 500, 507] {
            assert!(!of_status(status).concerns_all(), "{status}");
        }
        let full = ApiError::from_status(503, ErrorBody::DISK_FULL.to_owned());
        let full = EngineError::Transfer(full.into());
        assert!(full.is_service_full() && !full.concerns_all());
        assert_eq!(full.disposition(), Disposition::Park);
        assert!(!EngineError::ReplanExhausted.concerns_all());
        assert!(EngineError::Index(IndexError::DiskFull).concerns_all());
    }

    #[test]
    fn a_full_disk_of_the_index_asks_for_space_once() {
        let full = EngineError::Index(IndexError::DiskFull);
        let message = PollFailure::of(&full).message;
        assert_eq!(message.matches("free some space").count(), 1, "{message}");
        // Where it is said without a hint.
        assert!(full.to_string().contains("free some space"), "{full}");
    }

    #[test]
    fn the_class_of_a_reply_decides_whether_it_came_to_a_step_or_a_transfer() {
        let cases = [
            (401, Disposition::Stop),
            (403, Disposition::Park),
            (404, Disposition::Replan),
            (408, Disposition::Stop),
            (409, Disposition::Replan),
            (412, Disposition::Replan),
            (413, Disposition::Park),
            (429, Disposition::Retry),
            (503, Disposition::Retry),
            (507, Disposition::Park),
        ];
        for (status, disposition) in cases {
            let error = || ApiError::from_status(status, String::new());
            let step = EngineError::Api(error());
            let transfer = EngineError::Transfer(error().into());
            assert_eq!(step.disposition(), disposition, "{status}");
            assert_eq!(transfer.disposition(), disposition, "{status}");
        }
    }
}
