//! Uploads and downloads against a server in memory that can be made to falsify responses, fail and forget.

mod batch;
mod cut_ahead;
mod download;
mod hostile;
mod long;
mod over_tcp;
mod resume;
mod server;
mod upload;
mod world;
