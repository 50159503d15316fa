//! The REST contract, as types shared by the client and the bundled server.
//!
//! One module per resource, request and response together. Nothing here does IO or knows a key:
//! sealed things are opaque bytes (base64 in JSON, raw in frames).

pub mod account;
pub mod admin;
pub mod ai;
pub mod amount;
pub mod changes;
pub mod checkpoints;
pub mod comments;
pub mod compression;
pub mod diagnostics;
pub mod frame;
pub mod headers;
pub mod identity;
pub mod keys;
pub mod nodes;
pub mod notifications;
pub mod page;
pub mod payments;
pub mod percent;
pub mod retention;
#[cfg(feature = "utoipa")]
pub mod schema;
pub mod sealed;
pub mod second_factor;
pub mod shares;
pub mod social;
pub mod teams;
pub mod timestamp;
pub mod transfer;
pub mod webhooks;

pub use amount::Amount;
pub use page::{ErrorBody, Page};
pub use percent::Percent;
pub use sealed::Sealed;
pub use timestamp::Timestamp;
