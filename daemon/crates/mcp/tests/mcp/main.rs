//! The server over its lines of JSON, against the bundled service.

#![expect(
    clippy::unwrap_used,
    reason = "a test that finds something else than it looks for has to end"
)]

mod catalogue;
mod confirming;
mod content;
mod every_tool;
mod failures;
mod fuzz;
mod keys;
mod links;
mod local_files;
mod nodes;
mod packaging;
mod protocol;
mod resources;
mod session;
mod sync;
mod teams;
mod world;
