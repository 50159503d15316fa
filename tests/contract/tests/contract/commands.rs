//! The real program against the bundled server: what each command does, says and returns.

mod account;
mod compare;
mod completion;
mod daemon;
mod dry_run;
mod injections;
mod look_first;
mod mcp;
mod mcp_bundle;
mod mcp_install;
mod mcp_undo;
mod past;
mod people;
mod rewind_requests;
mod rewinds;
mod rotation;
mod second_factor;
mod seen;
mod service;
mod session;
mod tasks;
mod tray;
mod unseen_past;
mod why;
mod world;
