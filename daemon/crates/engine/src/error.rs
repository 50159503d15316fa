//! Errors of the engine, and the one place that decides what follows from each.

use crate::status::Problem;
use cairn_api::{ApiError, ErrorClass};
use cairn_index::IndexError;
use cairn_model::ProblemCode;
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
    /// The service sent fewer results than there were requests.
    #[error("the service left out a result")]
    ShortBatch,
    /// It was done, but the index did not take it. The next scan and plan find it.
    #[error("it is done but can't be recorded")]
    NotRecorded,
    #[error("the engine has stopped")]
    Stopped,
    #[error("no deletion waits for a confirmation in this folder")]
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
    #[error("the service's rules file has {0} bytes, which is too large")]
    RulesTooLarge(u64),
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
    /// This one waits, and is reported; everything else goes on.
    Park,
    /// Nothing works until a person or the network helps.
    Stop,
}

impl EngineError {
    /// Returns the problem line of this failure for a path; the empty path is the folder itself.
    pub(crate) fn problem(&self, path: String) -> Problem {
        let (code, hint) = explain(self);
        Problem {
            path,
            code,
            message: self.to_string(),
            hint: hint.into(),
        }
    }

    /// Returns whether the service can't be reached or can't answer now.
    pub(crate) fn is_offline(&self) -> bool {
        self.api().is_some_and(ApiError::is_transient)
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
            Self::Stale
            | Self::Paused
            | Self::ReplanExhausted
            | Self::ShortBatch
            | Self::NotRecorded => Disposition::Replan,
            Self::Api(error) => api_disposition(error),
            Self::Transfer(error) => transfer_disposition(error),
            Self::Disk(error) if is_changing(error) => Disposition::Retry,
            Self::Disk(error) if is_elsewhere(error) => Disposition::Replan,
            Self::Disk(_) => Disposition::Park,
            Self::Index(_) | Self::Stopped => Disposition::Stop,
            // One impossible reply about one node stops nothing else.
            Self::Protocol(_)
            | Self::RootGone(_)
            | Self::NothingToConfirm
            | Self::NoHeldDisk(_)
            | Self::NoConflict(_)
            | Self::WhoseCopy(_)
            | Self::NoMerge { .. }
            | Self::OnlyCopy(_)
            | Self::RemoteIsFile(_)
            | Self::RemoteGone(_)
            | Self::RulesTooLarge(_) => Disposition::Park,
        }
    }
}

fn api_disposition(error: &ApiError) -> Disposition {
    match error.class() {
        ErrorClass::Stale | ErrorClass::Missing => Disposition::Replan,
        ErrorClass::Limit | ErrorClass::Refused | ErrorClass::Protocol => Disposition::Park,
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

/// The code, and what to do, for a failure of one path.
pub(crate) fn explain(error: &EngineError) -> (ProblemCode, &'static str) {
    match error {
        EngineError::Transfer(error) => explain_transfer(error),
        EngineError::Api(error) => explain_api(error),
        EngineError::Stale
        | EngineError::Paused
        | EngineError::ReplanExhausted
        | EngineError::ShortBatch
        | EngineError::NotRecorded => (
            ProblemCode::Changing,
            "it is being changed; it syncs when it is quiet",
        ),
        EngineError::Disk(error) => explain_io(error),
        EngineError::Index(IndexError::DiskFull) => (
            ProblemCode::DiskFull,
            "free some space on the disk with Cairn's own files; it is tried again by itself",
        ),
        EngineError::Index(_) => (
            ProblemCode::Index,
            "free some space, or delete the index to have it built again",
        ),
        EngineError::RootGone(_) => (
            ProblemCode::FolderGone,
            "bring the folder back (mount it), or sync its present content: `cairn folders accept-disk PATH`; nothing was deleted anywhere",
        ),
        EngineError::RemoteGone(_) => (
            ProblemCode::RemoteGone,
            "restore it from the trash of the service; or `cairn remove` this folder and `cairn add` it again, which uploads it anew",
        ),
        EngineError::RemoteIsFile(_) => (
            ProblemCode::RemoteIsFile,
            "`cairn remove` this folder and `cairn add` it with another `--remote`, or move the file away",
        ),
        EngineError::RulesTooLarge(_) => (
            ProblemCode::TooLarge,
            "make `.cairnignore` smaller on a device that has it; until then nothing is synced in this folder",
        ),
        EngineError::Protocol(_) => (
            ProblemCode::Protocol,
            "update Cairn or the server; nothing was changed here",
        ),
        EngineError::Stopped
        | EngineError::NothingToConfirm
        | EngineError::NoHeldDisk(_)
        | EngineError::NoConflict(_)
        | EngineError::WhoseCopy(_)
        | EngineError::NoMerge { .. }
        | EngineError::OnlyCopy(_) => (ProblemCode::Failed, "run `cairn doctor`"),
    }
}

const TOO_LARGE: (ProblemCode, &str) = (
    ProblemCode::TooLarge,
    "the server doesn't take a file of this size: exclude it, or have the limit raised",
);
const QUOTA: (ProblemCode, &str) = (
    ProblemCode::Quota,
    "empty the service's trash or get more of what is used up; it is tried again by itself",
);
const UNAUTHORIZED: (ProblemCode, &str) = (ProblemCode::Unauthorized, "run `cairn login` again");
const OFFLINE: (ProblemCode, &str) = (
    ProblemCode::Offline,
    "syncing resumes by itself when the server can be reached again",
);

const AGAIN: &str = "it is tried again by itself";

fn explain_api(error: &ApiError) -> (ProblemCode, &'static str) {
    match error {
        ApiError::QuotaFull { .. } => QUOTA,
        ApiError::TooLarge { .. } => TOO_LARGE,
        ApiError::Unauthorized => UNAUTHORIZED,
        ApiError::Offline(_) => OFFLINE,
        ApiError::Forbidden { .. }
        | ApiError::NotFound { .. }
        | ApiError::Conflict { .. }
        | ApiError::PreconditionFailed { .. }
        | ApiError::Gone { .. }
        | ApiError::KeyExposed { .. }
        | ApiError::RateLimited { .. }
        | ApiError::Server { .. }
        | ApiError::Rejected { .. }
        | ApiError::Protocol(_) => (ProblemCode::Server, AGAIN),
    }
}

fn explain_transfer(error: &TransferError) -> (ProblemCode, &'static str) {
    match error {
        TransferError::Api(error) => explain_api(error),
        TransferError::Refused { .. } | TransferError::Sealing(_) => (
            ProblemCode::AuthFailed,
            "the file on this disk is untouched; check the service, then run `cairn sync`",
        ),
        TransferError::SourceChanged => (
            ProblemCode::Changing,
            "it is being written; it syncs when it is quiet",
        ),
        TransferError::Source(error) | TransferError::Target(error) => explain_io(error),
        TransferError::UploadLost => (ProblemCode::Server, AGAIN),
    }
}

fn explain_io(error: &io::Error) -> (ProblemCode, &'static str) {
    if is_changing(error) {
        return (
            ProblemCode::Changing,
            "it is being written; it syncs when it is quiet",
        );
    }
    if error.kind() == io::ErrorKind::PermissionDenied {
        return (
            ProblemCode::Unreadable,
            "give this user the right to read and write it",
        );
    }
    if matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    ) {
        return (
            ProblemCode::DiskFull,
            "free some space on this disk; it is tried again by itself",
        );
    }
    if error.kind() == io::ErrorKind::CrossesDevices {
        return (
            ProblemCode::Disk,
            "another file system is mounted there: `cairn add` that directory as a folder of its own, and leave it out here",
        );
    }
    (
        ProblemCode::Disk,
        "check the disk and the path; it is tried again by itself",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_called_so_wherever_it_is_met() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        for error in [
            EngineError::Index(IndexError::DiskFull),
            EngineError::Disk(full()),
            EngineError::Transfer(TransferError::Target(full())),
        ] {
            assert_eq!(explain(&error).0, ProblemCode::DiskFull, "{error}");
        }
    }

    #[test]
    fn what_one_pair_meets_stops_no_other_pair() {
        let of_status = |status| EngineError::Api(ApiError::from_status(status, String::new()));
        for status in [401, 429, 503] {
            assert!(of_status(status).concerns_all(), "{status}");
        }
        for status in [403, 404, 409, 500, 507] {
            assert!(!of_status(status).concerns_all(), "{status}");
        }
        assert!(!EngineError::ReplanExhausted.concerns_all());
        assert!(EngineError::Index(IndexError::DiskFull).concerns_all());
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
