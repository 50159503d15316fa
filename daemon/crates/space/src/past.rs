//! The past of a space (the files of an account or team): what was where, with which content, and how to get back
//! there. Pure.
//!
//! The service keeps every revision, the trash, and what nodes were before they were moved, deleted or restored; the
//! change feed has each node once, in its present state. Of an older service, the place (parent folder and name) of a
//! node before it moved is what a device saw and remembers.

mod events;
mod plan;
mod tree;
mod unseen;

use cairn_model::name::compose;
pub use events::{Event, events};
pub use plan::{Content, Incomplete, Move, Newer, Plan, content_at, needs_revisions, plan};
pub use tree::{Deleted, LeftState, Location, Memory, Past, PastNode, Scope};
pub use unseen::Unseen;

/// Returns whether two paths are one on the service: there, names that differ only in how accents are composed are
/// equal.
#[must_use]
pub fn same_path(one: &str, other: &str) -> bool {
    one == other || (!one.is_ascii() && compose(one) == compose(other))
}
