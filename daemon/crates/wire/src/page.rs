//! The error body and the pagination envelope, the same on every endpoint.

use serde::{Deserialize, Serialize};

/// The body of every error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ErrorBody {
    /// The HTTP status code.
    pub code: u16,
    /// The failure, its object, and the rule that was broken.
    pub message: String,
}

impl ErrorBody {
    /// The beginning of the message of a 503 that is about room alone: nothing can be stored, and all else goes on.
    pub const DISK_FULL: &str = "the server's disk is full";
}

/// The envelope of every list endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    pub content: Vec<T>,
    pub total_elements: u64,
    pub total_pages: u64,
    pub page: u64,
    pub page_size: u64,
}

/// `page` and `page_size` of a list endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "utoipa", into_params(parameter_in = Query))]
pub struct PageQuery {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u64>,
}
