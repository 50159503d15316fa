//! The HTTP interface, driven in-process: each endpoint with what it allows and what it refuses.

#![expect(
    clippy::unwrap_used,
    reason = "a test that can not go on has failed, also in the functions that tests share"
)]

mod account;
mod account_end;
mod admin;
mod assistant;
mod batch;
mod borrowing;
mod checkpoints;
mod comments;
mod connections;
mod conventions;
mod copies;
mod copy_of;
mod cors;
mod damage;
mod described_refusals;
mod determinism;
mod dev_accounts;
mod dev_clock;
mod dev_console;
mod dev_faults;
mod downloads;
mod expiry;
mod feed;
mod folders;
mod full_disk;
mod housekeeping;
mod idempotency;
mod identity;
mod if_match;
mod keeping;
mod keys;
mod limits;
mod links;
mod listing;
mod mail;
mod nodes;
mod nul;
mod observed;
mod openapi;
mod openapi_binary;
mod parameters;
mod past;
mod payments;
mod preferences;
mod private_spaces;
mod public_shares;
mod quota;
mod recovery;
mod revisions;
mod search;
mod several_servers;
mod share_counts;
mod share_listings;
mod shares;
mod social;
mod space_log;
mod stream;
mod team_spaces;
mod teams;
mod trash;
mod unknown_fields;
mod upload_batch;
mod upload_races;
mod uploads;
mod visitors;
mod webhooks;
mod world;
