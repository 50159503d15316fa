//! The tray program's entry point.

#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]
#![expect(
    clippy::print_stdout,
    reason = "`--help` and `--version` print on stdout"
)]

use cairn_tray::options::{Options, Stop};
use cairn_tray::shell;
use std::process::ExitCode;

fn main() -> ExitCode {
    cairn_control::forbid_core_dumps();
    let dir = std::env::current_dir().unwrap_or_default();
    let options = match Options::parse(std::env::args_os().skip(1), &dir) {
        Ok(options) => options,
        Err(text @ (Stop::Help | Stop::Version)) => {
            println!("{text}");
            return ExitCode::SUCCESS;
        }
        Err(error @ (Stop::Value(_) | Stop::Unknown(_))) => {
            eprintln!("cairn-tray: {error}");
            return ExitCode::from(2);
        }
    };
    match shell::run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cairn-tray: {error}");
            ExitCode::FAILURE
        }
    }
}
