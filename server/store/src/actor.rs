//! The author of a change, and the space in which it is made.

use cairn_model::{AccountId, DeviceId, SpaceId};

/// A space (the file tree of one account or one team, with keys and quotas of its own), by its row and by its id on
/// the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    pub row: i64,
    pub id: SpaceId,
}

/// The author of a change.
#[derive(Clone, Copy, Debug)]
pub struct Actor {
    pub account: AccountId,
    pub device: Option<DeviceId>,
    pub space: Space,
}
