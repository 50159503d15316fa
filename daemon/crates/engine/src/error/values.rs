//! The values of a failure, for programs that say it in a language of their own.

use super::{EngineError, explain};
use cairn_api::ApiError;
use cairn_model::{ProblemCode, ProblemValues};
use cairn_platform::NameProblem;
use cairn_transfer::TransferError;

/// Returns the values of a failure: a name, or what the system or the server said beyond what the cause says.
pub(crate) fn values(error: &EngineError) -> ProblemValues {
    match error {
        EngineError::NameClash { there, .. } => {
            let name = there.file_name().unwrap_or_default();
            ProblemValues::of_name(name.to_string_lossy())
        }
        EngineError::Name(problem) => name_values(problem),
        EngineError::Api(error) | EngineError::Transfer(TransferError::Api(error)) => {
            api_values(error)
        }
        EngineError::Disk(_)
        | EngineError::Transfer(TransferError::Source(_) | TransferError::Target(_))
            if explain(error).0.code() != ProblemCode::Disk =>
        {
            // The cause says all of it.
            ProblemValues::default()
        }
        EngineError::Protocol(why) => ProblemValues::of_detail(why),
        EngineError::Stale
        | EngineError::Paused
        | EngineError::ReplanExhausted
        | EngineError::NotRecorded
        | EngineError::RootGone(_)
        | EngineError::RemoteGone(_)
        | EngineError::RemoteIsFile(_)
        | EngineError::RulesTooLarge(_)
        | EngineError::WentBack
        | EngineError::PollPanicked
        | EngineError::Transfer(TransferError::SourceChanged | TransferError::UploadLost) => {
            ProblemValues::default()
        }
        EngineError::Disk(_)
        | EngineError::Index(_)
        | EngineError::Transfer(
            TransferError::Source(_)
            | TransferError::Target(_)
            | TransferError::Refused { .. }
            | TransferError::Sealing(_),
        )
        | EngineError::Stopped
        | EngineError::NothingToConfirm
        | EngineError::NoHeldDisk(_)
        | EngineError::NoConflict(_)
        | EngineError::WhoseCopy(_)
        | EngineError::NoMerge { .. }
        | EngineError::HoldsUnrecorded
        | EngineError::OnlyCopy(_) => ProblemValues::of_detail(error.to_string()),
    }
}

/// Returns the values of a name that the disk can't have.
pub(crate) fn name_values(problem: &NameProblem) -> ProblemValues {
    match problem {
        NameProblem::Character { character, .. } => ProblemValues::of_name(character.to_string()),
        NameProblem::Device { .. } | NameProblem::Ending { .. } | NameProblem::TooLong { .. } => {
            ProblemValues::default()
        }
    }
}

fn api_values(error: &ApiError) -> ProblemValues {
    match error {
        ApiError::Unauthorized | ApiError::RateLimited { .. } => ProblemValues::default(),
        ApiError::Offline(message)
        | ApiError::Protocol(message)
        | ApiError::Forbidden { message }
        | ApiError::NotFound { message }
        | ApiError::Conflict { message, .. }
        | ApiError::PreconditionFailed { message }
        | ApiError::Gone { message }
        | ApiError::TooLarge { message }
        | ApiError::QuotaFull { message } => ProblemValues::of_detail(message),
        ApiError::Server { .. } | ApiError::Rejected { .. } => {
            ProblemValues::of_detail(error.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn a_detail_is_given_where_it_says_more_than_the_cause() {
        let disk = |kind: io::ErrorKind| EngineError::Disk(io::Error::new(kind, "os error 5"));
        let detail = |error: &EngineError| values(error).detail;
        let unknown = disk(io::ErrorKind::Other);
        assert_eq!(detail(&unknown).as_deref(), Some("os error 5"));
        for known in [io::ErrorKind::StorageFull, io::ErrorKind::PermissionDenied] {
            assert_eq!(detail(&disk(known)), None, "{known:?}");
        }
        let quota = EngineError::Api(ApiError::QuotaFull {
            message: "the storage is full".into(),
        });
        assert_eq!(detail(&quota).as_deref(), Some("the storage is full"));
    }
}
