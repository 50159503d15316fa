//! Whole devices against the real server, in one thread and in simulated time.
//!
//! Engine, index, transfer, crypto, client and server are the real ones. Only the ends are simulated:
//! the disk (which forgets what was not flushed when the power goes), the network (which delays,
//! cuts and refuses) and the clock. A seed decides everything, so a failing run can be had again.

mod actions;
mod checks;
mod damage;
pub mod device;
pub mod disk;
mod entries;
mod keyless;
pub mod network;
pub mod oracle;
mod persons;
pub mod random;
pub mod random_run;
mod removals;
pub mod requests;
mod rules;
pub mod run_options;
pub mod seeds;
mod spelling;
pub mod time;
mod truth;
mod views;
pub mod world;
