//! The planner against a small world: tables of named cases, and laws over random histories.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod blocked;
mod concurrent;
mod device;
mod direction;
mod executor;
mod history;
mod laws;
mod names;
mod needs;
mod one_side;
mod regressions;
mod scale;
mod scenario;
mod script;
mod service;
mod steps;
mod types;
