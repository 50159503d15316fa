//! Transfers against a server in memory that can be made to lie, fail and forget.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod batch;
mod download;
mod hostile;
mod resume;
mod server;
mod upload;
mod world;
