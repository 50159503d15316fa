//! What the user chose, and the facts that a pure function can't look up.

/// Which way changes travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Direction {
    #[default]
    TwoWay,
    /// This device only sends: nothing is changed locally.
    Upload,
    /// This device only receives: nothing is changed on the service.
    Download,
}

/// Input of a plan besides the trees.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Policy {
    pub direction: Direction,
    /// This device's name, for conflict copies.
    pub device: String,
    /// Now, as `YYYY-MM-DD HHMMSS`, for conflict copies.
    pub stamp: String,
    /// A person has not yet agreed to deletions that came from the service.
    pub hold_local_deletions: bool,
    /// A person has not yet agreed to deletions that were made here.
    pub hold_remote_deletions: bool,
}
