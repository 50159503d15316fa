//! Decides what to do. Pure: no IO, no clock, no randomness, not async, and it cannot fail.
//!
//! `reconcile(&Trees, &Policy) -> Plan`: three trees in, steps out, in an order that is safe.
//! Conflicts are data. Equal input gives equal output, byte for byte.

mod clash;
mod content;
mod detour;
mod emit;
mod entity;
mod fate;
mod hold;
mod limit;
mod order;
mod pair;
pub mod plan;
pub mod policy;
mod reconcile;
mod ring;
pub mod step;
pub mod tree;

pub use detour::is_detour;
pub use plan::{Conflict, ConflictKind, Need, Plan};
pub use policy::{Direction, Policy};
pub use reconcile::reconcile;
pub use step::{MoveReason, Parent, Place, Step};
pub use tree::{Hold, LocalNode, RemoteNode, SyncedNode, Trees};
