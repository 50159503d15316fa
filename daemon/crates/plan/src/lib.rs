//! Decides what to do. Pure: no IO, no clock, no randomness, not async, and it cannot fail.
//!
//! `reconcile(&Trees, &Policy) -> Plan`: three trees in, steps out, in an order that is safe.
//! Conflicts are data. Equal input gives equal output, byte for byte.

pub mod plan;
pub mod policy;
pub mod step;
pub mod tree;

pub use plan::{Need, Plan};
pub use policy::{Direction, Policy};
pub use step::{MoveReason, Parent, Place, Step};
pub use tree::{LocalNode, RemoteNode, SyncedNode, Trees};
