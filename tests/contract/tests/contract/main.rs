//! Contracts between the crates, the program and the bundled server, over a real connection: the
//! client, transfers, operations on a space (the files of an account), the tools and the commands.

#![expect(
    clippy::unwrap_used,
    reason = "a test that finds something else than it looks for has to end"
)]

mod api;
// The harness that finds the program is for Unix.
#[cfg(unix)]
mod commands;
mod mcp;
mod restore;
mod space;
mod support;
mod transfer;
