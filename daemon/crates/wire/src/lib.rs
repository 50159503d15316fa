//! The REST contract, as types shared by the client and the bundled server.
//!
//! One module per resource, request and answer together. Nothing here does IO or knows a key:
//! sealed things are opaque bytes (base64 in JSON, raw in frames).

pub mod account;
pub mod changes;
pub mod frame;
pub mod headers;
pub mod identity;
pub mod keys;
pub mod nodes;
pub mod page;
#[cfg(feature = "utoipa")]
pub mod schema;
pub mod sealed;
pub mod timestamp;
pub mod transfer;
pub mod webhooks;

pub use page::{ErrorBody, Page};
pub use sealed::Sealed;
pub use timestamp::Timestamp;
