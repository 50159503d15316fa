//! The cause of each error as a word, and the advice to the person.

use super::{EngineError, is_changing};
use cairn_api::ApiError;
use cairn_index::IndexError;
use cairn_model::ProblemCause;
use cairn_platform::NameProblem;
use cairn_transfer::TransferError;
use std::io;

/// Returns the cause, and what to do, for a failure of one path.
pub(crate) fn explain(error: &EngineError) -> (ProblemCause, &'static str) {
    match error {
        EngineError::Transfer(error) => explain_transfer(error),
        EngineError::Api(error) => explain_api(error),
        EngineError::Stale
        | EngineError::Paused
        | EngineError::ReplanExhausted
        | EngineError::NotRecorded => (
            ProblemCause::Changing,
            "it is being changed; it syncs when it is quiet",
        ),
        EngineError::NameClash { .. } => (
            ProblemCause::NameTakenHere,
            "rename one of the two on another device; until then it stays on the service",
        ),
        EngineError::Name(problem) => (
            name_cause(problem),
            "it stays on the service and on the devices that can have the name",
        ),
        EngineError::Disk(error) => explain_io(error),
        EngineError::Index(IndexError::DiskFull) => (
            ProblemCause::OwnDiskFull,
            "free some space on the disk with Cairn's own files; it is tried again by itself",
        ),
        EngineError::Index(_) => (
            ProblemCause::Index,
            "free some space, or delete the index to have it built again",
        ),
        EngineError::RootGone(_) => (
            ProblemCause::FolderGone,
            "bring the folder back (mount it), or sync its present content: `cairn folders accept-disk PATH`; nothing was deleted anywhere",
        ),
        EngineError::RemoteGone(_) => (
            ProblemCause::RemoteGone,
            "restore it from the trash of the service; or `cairn remove` this folder and `cairn add` it again, which uploads it anew",
        ),
        EngineError::RemoteIsFile(_) => (
            ProblemCause::RemoteIsFile,
            "`cairn remove` this folder and `cairn add` it with another `--remote`, or move the file away",
        ),
        EngineError::HoldsUnrecorded => (
            // Not `Unverified`: accepting is about what is in it.
            ProblemCause::Failed,
            "`cairn accept` takes what is held back, and the folder comes back with it; something that can't be a file has to be renamed on the service; until then nothing in the folder is deleted there",
        ),
        EngineError::RulesTooLarge(_) => (
            ProblemCause::RulesTooLarge,
            "make `.cairnignore` smaller on a device that has it; until then nothing is synced in this folder",
        ),
        EngineError::WentBack => (
            ProblemCause::WentBack,
            "ask the operator of the server; if a backup was restored, `cairn accept` compares with it, deletes nothing, and keeps both versions of what differs",
        ),
        EngineError::Protocol(_) => (
            ProblemCause::Protocol,
            "update Cairn or the server; nothing was changed here",
        ),
        EngineError::PollPanicked
        | EngineError::Stopped
        | EngineError::NothingToConfirm
        | EngineError::NoHeldDisk(_)
        | EngineError::NoConflict(_)
        | EngineError::WhoseCopy(_)
        | EngineError::NoMerge { .. }
        | EngineError::OnlyCopy(_) => (ProblemCause::Failed, "run `cairn doctor`"),
    }
}

const TOO_LARGE: (ProblemCause, &str) = (
    ProblemCause::TooLarge,
    "the server doesn't take a file of this size: exclude it, or have the limit raised",
);
const QUOTA: (ProblemCause, &str) = (
    ProblemCause::Quota,
    "if the storage is full, `cairn trash empty --remote` makes room, or get more of it; a month's bandwidth begins anew with the next month; it is tried again by itself",
);
const UNAUTHORIZED: (ProblemCause, &str) = (ProblemCause::Unauthorized, "run `cairn login` again");
const OFFLINE: (ProblemCause, &str) = (
    ProblemCause::Offline,
    "syncing resumes by itself when the server can be reached again",
);

const SERVICE_FULL: (ProblemCause, &str) = (
    ProblemCause::Server,
    "whoever runs the service has to make room; what is new waits here until then and is sent by itself, and all else goes on",
);
const AGAIN: &str = "it is tried again by itself";
const FORBIDDEN: (ProblemCause, &str) = (
    ProblemCause::Forbidden,
    "ask whoever manages the space for the right to change it; what is here stays, and it is tried again by itself",
);

fn explain_api(error: &ApiError) -> (ProblemCause, &'static str) {
    match error {
        ApiError::QuotaFull { .. } => QUOTA,
        ApiError::TooLarge { .. } => TOO_LARGE,
        ApiError::Unauthorized => UNAUTHORIZED,
        ApiError::Offline(_) => OFFLINE,
        ApiError::Forbidden { .. } => FORBIDDEN,
        ApiError::RateLimited { .. } => (ProblemCause::ServerBusy, AGAIN),
        ApiError::Server { .. } if error.is_service_full() => SERVICE_FULL,
        ApiError::NotFound { .. }
        | ApiError::Conflict { .. }
        | ApiError::PreconditionFailed { .. }
        | ApiError::Gone { .. }
        | ApiError::Server { .. }
        | ApiError::Rejected { .. }
        | ApiError::Protocol(_) => (ProblemCause::Server, AGAIN),
    }
}

/// Returns the cause of a name that the disk can't have.
pub(crate) fn name_cause(problem: &NameProblem) -> ProblemCause {
    match problem {
        NameProblem::Character { .. } => ProblemCause::NameCharacter,
        NameProblem::Device { .. } => ProblemCause::NameDevice,
        NameProblem::Ending { .. } => ProblemCause::NameEnding,
        NameProblem::TooLong { .. } => ProblemCause::NameTooLong,
    }
}

fn explain_transfer(error: &TransferError) -> (ProblemCause, &'static str) {
    match error {
        TransferError::Api(error) => explain_api(error),
        TransferError::Refused { .. } | TransferError::Sealing(_) => (
            ProblemCause::AuthFailed,
            "the file on this disk is untouched; check the service, then run `cairn sync`",
        ),
        TransferError::SourceChanged => (
            ProblemCause::Changing,
            "it is being written; it syncs when it is quiet",
        ),
        TransferError::Source(error) | TransferError::Target(error) => explain_io(error),
        TransferError::UploadLost => (ProblemCause::Server, AGAIN),
    }
}

fn explain_io(error: &io::Error) -> (ProblemCause, &'static str) {
    if is_changing(error) {
        return (
            ProblemCause::Changing,
            "it is being written; it syncs when it is quiet",
        );
    }
    if error.kind() == io::ErrorKind::PermissionDenied {
        return (
            ProblemCause::Unreadable,
            "give this user the right to read and write it",
        );
    }
    if matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    ) {
        return (
            ProblemCause::DiskFull,
            "free some space on this disk, such as with `cairn trash empty`; it is tried again by itself",
        );
    }
    if error.kind() == io::ErrorKind::CrossesDevices {
        // The system tells no more of it: an overlay refuses to move a folder of its lower layer with the same words.
        return (
            ProblemCause::MountedThere,
            "the disk can't move it there. If another file system is mounted there, mount that outside of this folder, and `cairn add` it as one of its own; if it is an overlay, as in a container, that has the folder in a lower layer, move the folder away and back with `mv`, which copies it",
        );
    }
    (
        ProblemCause::Disk,
        "check the disk and the path; it is tried again by itself",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::ProblemCode;

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
    fn failures_of_one_code_have_causes_of_their_own() {
        let api = |status| EngineError::Api(ApiError::from_status(status, "no".into()));
        let reserved = NameProblem::Device { name: "aux".into() };
        for (error, cause) in [
            (api(403), ProblemCause::Forbidden),
            (api(409), ProblemCause::Server),
            (EngineError::Name(reserved), ProblemCause::NameDevice),
            (EngineError::WentBack, ProblemCause::WentBack),
            (EngineError::RulesTooLarge(9), ProblemCause::RulesTooLarge),
            (EngineError::HoldsUnrecorded, ProblemCause::Failed),
            (
                EngineError::NameClash {
                    there: "a".into(),
                    wanted: "A".into(),
                },
                ProblemCause::NameTakenHere,
            ),
        ] {
            let problem = error.problem("f".into());
            assert_eq!(problem.cause, cause, "{error}");
            assert_eq!(problem.code, cause.code(), "{error}");
        }
    }

    #[test]
    fn a_move_that_the_system_refuses_need_not_be_about_a_mount() {
        let (cause, hint) = explain(&EngineError::Disk(io::ErrorKind::CrossesDevices.into()));
        assert_eq!(cause, ProblemCause::MountedThere);
        assert!(
            hint.contains("If another file system is mounted there") && hint.contains("overlay")
        );
    }

    #[test]
    fn a_full_disk_is_called_so_wherever_it_is_met() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        for error in [
            EngineError::Index(IndexError::DiskFull),
            EngineError::Disk(full()),
            EngineError::Transfer(TransferError::Target(full())),
        ] {
            assert_eq!(explain(&error).0.code(), ProblemCode::DiskFull, "{error}");
        }
    }
}
