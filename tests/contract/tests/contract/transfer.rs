//! Transfers against a server in memory that can be made to lie, fail and forget.

mod batch;
mod download;
mod hostile;
mod long;
mod over_tcp;
mod resume;
mod server;
mod upload;
mod world;
