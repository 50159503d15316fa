//! The real binary: its command line, its sockets, and what a crash leaves behind.

#![expect(
    clippy::unwrap_used,
    reason = "a test that can not go on has failed, also in the functions that tests share"
)]

mod accounts;
mod backup;
mod cli;
mod crash;
mod docs;
mod keys;
mod server;
mod sockets;
mod watching;
mod webhooks;
