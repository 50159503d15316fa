//! The sync engine: observe → reconcile → execute, until the three trees are equal.
//!
//! One dispatcher owns the state and takes events in one order; transfers are workers that share
//! nothing but the index. Disk, network, clock and randomness come in through [`ports`], so that the
//! whole engine runs in the simulator as it runs here. The decisions themselves are `plan`'s.

mod dispatcher;
mod doubt;
mod error;
mod executor;
mod facts;
mod feed;
mod gate;
mod handle;
mod health;
mod observe;
mod planning;
mod record;
mod resolve;
mod restored;
mod selection;
mod shared;
mod status;
mod step;
pub mod trash;

pub mod ports;

pub use error::EngineError;
pub use handle::{EngineHandle, Keep, Settled, Verdict};
pub use observe::rules::{RuleMatch, Rules};
pub use shared::{EngineOptions, start};
pub use status::{
    Counters, Event, FolderState, FolderStatus, Problem, State, Status, TransferStatus,
};
