//! Plans what makes the three trees (local, remote, synced) equal. Pure: no IO, no clock, no randomness, not
//! async, and it cannot fail.
//!
//! `reconcile(&Trees, &Policy) -> Plan`: three trees in, steps out, in an order that is safe.
//! Conflicts are data. Equal input gives equal output, byte for byte.

mod constraints;
mod content;
mod cycle;
mod decision;
mod emit;
mod entity;
mod limit;
mod name_conflicts;
mod order;
mod pair;
pub mod plan;
pub mod policy;
mod reconcile;
mod restore;
pub mod step;
pub mod tree;
mod tree_index;

pub use plan::{Conflict, Deletion, Need, Plan};
pub use policy::Policy;
pub use reconcile::reconcile;
pub use step::{MoveReason, Parent, ParentAndName, Step};
pub use tree::{Blocked, LocalNode, RemoteNode, SyncedNode, Trees};
