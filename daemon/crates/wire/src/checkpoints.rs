//! `/checkpoints`: what the devices of a space say to one another about the state that they see.

use crate::sealed::Sealed;
use crate::timestamp::Timestamp;
use cairn_model::DeviceId;
use serde::{Deserialize, Serialize};

/// The longest checkpoint, in bytes.
pub const MAX_CHECKPOINT: usize = 1024;

/// Body of `PUT /checkpoints`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PutCheckpoint {
    /// 1 to 1,024 bytes.
    pub sealed: Sealed,
}

/// The latest checkpoint of a device, which devices with the space's key open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct DeviceCheckpoint {
    pub device_id: DeviceId,
    pub sealed: Sealed,
    pub updated_at: Timestamp,
}

/// Response of `GET /checkpoints`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Checkpoints {
    /// The latest first, at most 200.
    pub checkpoints: Vec<DeviceCheckpoint>,
}
