//! The HTTP interface, driven in-process: each endpoint with what it grants and what it refuses.

#![expect(
    clippy::unwrap_used,
    reason = "a test that can not go on has failed, also in the functions that tests share"
)]

mod account;
mod batch;
mod connections;
mod conventions;
mod copies;
mod determinism;
mod dev_clock;
mod dev_faults;
mod downloads;
mod feed;
mod housekeeping;
mod idempotency;
mod identity;
mod keys;
mod listing;
mod nodes;
mod openapi;
mod quota;
mod revisions;
mod stream;
mod trash;
mod upload_batch;
mod upload_races;
mod uploads;
mod webhooks;
mod world;
