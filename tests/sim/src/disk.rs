//! A disk in memory. Bytes that were not flushed are gone when the power goes.
//!
//! Everything that a *user* does is flushed at once: the simulator asks what the engine loses, not
//! what the user does.

mod faults;
mod files;
mod handles;
mod node;
mod port;
mod state;

pub use files::Files;
pub use node::Node;
pub use state::{Action, SimDisk};
