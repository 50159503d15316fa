//! `cargo xtask`: what developers and CI run on this workspace. It builds, checks, measures and shows;
//! it is no part of the product.

#![expect(
    clippy::print_stdout,
    reason = "it talks to the person who runs it, on stdout"
)]

mod checks;
mod cluster;
mod commands;
mod demo;
mod docs;
mod long;
mod mail;
mod mcp_conformance;
mod npm;
mod openapi;
mod package;
mod postgres;
mod proxy;
mod python;
mod run;
mod s3;
mod served_program;
mod setup;
mod tray;

use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    match commands::Arguments::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nxtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
