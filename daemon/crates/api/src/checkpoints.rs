//! Checkpoints of devices: opaque here.

use crate::call::Call;
use crate::client::Api;
use crate::error::ApiError;
use cairn_wire::Sealed;
use cairn_wire::checkpoints::{Checkpoints, DeviceCheckpoint, PutCheckpoint};
use http::Method;

const PATH: &str = "/api/v1/checkpoints";

impl Api {
    /// `PUT /checkpoints`: replaces this device's checkpoint in the space.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] of a server that keeps none.
    pub async fn put_checkpoint(&self, sealed: Vec<u8>) -> Result<DeviceCheckpoint, ApiError> {
        let body = PutCheckpoint {
            sealed: Sealed(sealed),
        };
        self.json(Call::new(Method::PUT, PATH).json(&body)?).await
    }

    /// `GET /checkpoints`: the latest one of each device in the space.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] of a server that keeps none.
    pub async fn checkpoints(&self) -> Result<Checkpoints, ApiError> {
        self.json(Call::get(PATH)).await
    }
}
