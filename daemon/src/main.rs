//! `cairn`: the sync daemon, and the command line that steers it and the service.
//!
//! Nothing but the start: the commands are in [`cli`], the running daemon in [`serve`].

mod account;
mod app;
mod cli;
mod config;
mod failure;
mod folders;
mod keys;
mod local_path;
mod logging;
mod output;
mod past;
mod private_space;
mod remote;
mod rotation;
mod serve;
mod session;
mod team;
mod time_argument;
mod trust;

use std::process::ExitCode;

fn main() -> ExitCode {
    cairn_platform::process::forbid_core_dumps();
    cairn_platform::process::forbid_inspection();
    cli::main()
}
