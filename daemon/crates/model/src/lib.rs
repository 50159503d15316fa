//! The vocabulary of all crates: ids, names, paths, chunks, manifests, states and kinds.
//!
//! This crate does no IO, draws no randomness and depends on nothing of ours.

pub mod account;
pub mod address;
pub mod back_off;
pub mod chunk;
pub mod counters;
pub mod cursor;
pub mod event;
pub mod hash;
pub mod history;
pub mod id;
pub mod id_series;
pub mod kind;
pub mod manifest;
pub mod name;
pub mod path;
pub mod path_reason;
pub mod percent;
pub mod problem;
pub mod problem_cause;
#[cfg(feature = "utoipa")]
pub mod schema;
pub mod size;
pub mod status;
pub mod sync;
pub mod temporary_name;
pub mod words;

pub use account::{KeyEvent, ServiceScope, TokenPackId};
pub use back_off::{BackOff, spread};
pub use chunk::ChunkId;
pub use counters::{Counters, RunningSteps};
pub use cursor::Cursor;
pub use event::{DeliveryState, EventKind};
pub use hash::ContentHash;
pub use history::{ActivityKind, ConflictKind, Keep, PastKind, PastPlace};
pub use id::{
    AccountId, DeviceId, FolderId, LocalId, NodeId, RevisionId, SpaceId, TeamId, UploadId,
};
pub use id_series::IdSeries;
pub use kind::{Category, Kind, NameFormat, SearchMode};
pub use manifest::{ContentObject, Manifest};
pub use name::{IGNORE_FILE, Name, NameKey, RESTORED};
pub use path::RelPath;
pub use path_reason::PathReason;
pub use percent::percent_encode;
pub use problem::Problem;
pub use problem_cause::{ProblemCause, ProblemValues};
pub use status::{ShareStatus, WebhookStatus};
pub use sync::{
    ConfirmationKind, DeletionDecision, DeletionGate, PathState, ProblemCode, RuleSource, Side,
    SyncMode, SyncState, TransferDirection, Verification,
};
pub use temporary_name::{is_temporary_name, is_temporary_text, original_name, temporary_name};
