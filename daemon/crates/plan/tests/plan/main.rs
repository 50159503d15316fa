//! The planner against devices and a service in memory: tables of named cases, and properties over random histories.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod blocked;
mod concurrent;
mod device;
mod direction;
mod executor;
mod history;
mod names;
mod needs;
mod one_side;
mod properties;
mod regressions;
mod restored;
mod scale;
mod scenario;
mod script;
mod service;
mod steps;
mod types;
