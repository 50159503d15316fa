//! The user's choices, and the facts that a pure function can't look up.

use cairn_model::{NodeId, SyncMode};
use std::collections::BTreeSet;

/// Input of a plan besides the trees.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Policy {
    pub mode: SyncMode,
    /// The device's name, for conflict copies.
    pub device: String,
    /// The local time now, as `YYYY-MM-DD HHMMSS`, for conflict copies.
    pub stamp: String,
    /// Plan no local deletion: a person has not yet agreed to those that came from the service.
    pub block_local_deletions: bool,
    /// Plan no deletion on the service: a person has not yet agreed to those that were made here.
    pub block_remote_deletions: bool,
    /// Leave the service's versions of these files as they are: a person has not yet agreed to what would be sent
    /// over them, or to their deletion in favour of another file. The files stay where they are on both sides.
    pub held: BTreeSet<NodeId>,
}
