//! The problem code of each error, and the advice to the person.

use super::{EngineError, is_changing};
use cairn_api::ApiError;
use cairn_index::IndexError;
use cairn_model::ProblemCode;
use cairn_transfer::TransferError;
use std::io;

/// Returns the code, and what to do, for a failure of one path.
pub(crate) fn explain(error: &EngineError) -> (ProblemCode, &'static str) {
    match error {
        EngineError::Transfer(error) => explain_transfer(error),
        EngineError::Api(error) => explain_api(error),
        EngineError::Stale
        | EngineError::Paused
        | EngineError::ReplanExhausted
        | EngineError::NotRecorded => (
            ProblemCode::Changing,
            "it is being changed; it syncs when it is quiet",
        ),
        EngineError::NameClash(_) => (
            ProblemCode::NameClash,
            "rename one of the two on another device; until then it stays on the service",
        ),
        EngineError::Name(_) => (
            ProblemCode::Name,
            "it stays on the service and on the devices that can have the name",
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
        EngineError::WentBack => (
            ProblemCode::Rollback,
            "ask the operator of the server; if a backup was restored, `cairn accept` compares with it, deletes nothing, and keeps both versions of what differs",
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
    "`cairn trash empty --remote` deletes for good what is in the service's trash; else get more of what is used up; it is tried again by itself",
);
const UNAUTHORIZED: (ProblemCode, &str) = (ProblemCode::Unauthorized, "run `cairn login` again");
const OFFLINE: (ProblemCode, &str) = (
    ProblemCode::Offline,
    "syncing resumes by itself when the server can be reached again",
);

const AGAIN: &str = "it is tried again by itself";
const FORBIDDEN: (ProblemCode, &str) = (
    ProblemCode::Server,
    "ask whoever manages the space for the right to change it; what is here stays, and it is tried again by itself",
);

fn explain_api(error: &ApiError) -> (ProblemCode, &'static str) {
    match error {
        ApiError::QuotaFull { .. } => QUOTA,
        ApiError::TooLarge { .. } => TOO_LARGE,
        ApiError::Unauthorized => UNAUTHORIZED,
        ApiError::Offline(_) => OFFLINE,
        ApiError::Forbidden { .. } => FORBIDDEN,
        ApiError::NotFound { .. }
        | ApiError::Conflict { .. }
        | ApiError::PreconditionFailed { .. }
        | ApiError::Gone { .. }
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
    fn a_missing_right_to_write_names_whom_to_ask() {
        let forbidden = || ApiError::from_status(403, "no".into());
        for error in [
            EngineError::Api(forbidden()),
            EngineError::Transfer(TransferError::Api(forbidden())),
        ] {
            assert!(explain(&error).1.contains("right to change"), "{error}");
        }
    }

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
}
