//! The end-to-end tests, most of them scenarios of docs/scenarios.md, a file for each group. They are one binary,
//! because linking takes most of the time.
#![cfg(unix)]

mod assistants;
mod bit_rot;
mod concurrent_moves;
mod crash;
mod create_create;
mod edit_delete;
mod faults;
mod file_managers;
mod gates;
mod harness;
mod ignore_links;
mod killed_anywhere;
mod login;
mod lost_device;
mod modes;
mod mounts;
mod moves;
mod names;
mod one_side;
mod private_spaces;
mod readme;
mod scale;
mod selection;
mod share_page;
mod teams;
mod time;
mod type_changes;
