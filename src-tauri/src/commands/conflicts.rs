//! Conflicts, and deletions and overwriting that wait for a person.

use super::context::{Commands, path_below, run_blocking};
use crate::conflict::{self, ConflictDetail};
use crate::program::ProgramError;
use cairn_control::Request;
use cairn_model::{DeletionDecision, Keep};

pub(super) async fn detail(
    _: &Commands,
    folder: String,
    path: String,
    copy: String,
) -> Result<ConflictDetail, ProgramError> {
    run_blocking(move || conflict::read(&folder, &path, &copy)).await
}

pub(super) async fn resolve(
    commands: &Commands,
    folder: String,
    copy: String,
    keep: Keep,
) -> Result<(), ProgramError> {
    let path = path_below(&folder, &copy)?.to_string_lossy().into_owned();
    commands.send(Request::Resolve { path, keep }).await
}

pub(super) async fn confirm(
    commands: &Commands,
    folder: String,
    decision: DeletionDecision,
) -> Result<(), ProgramError> {
    commands.send(Request::Confirm { folder, decision }).await
}
