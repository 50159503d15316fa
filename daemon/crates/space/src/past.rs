//! The past of a space (the files of an account or team): what was where, with which content, and how to get back
//! there. Pure.
//!
//! The service keeps every revision and the trash, and the change feed has each node once, in its present
//! state. The place (parent folder and name) of a node before it moved is what a device saw and remembers.

mod events;
mod plan;
mod tree;
mod unseen;

pub use events::{Event, events};
pub use plan::{Content, Incomplete, Move, Newer, Plan, content_at, needs_revisions, plan};
pub use tree::{Deleted, Location, Past, PastNode, Scope};
pub use unseen::Unseen;
