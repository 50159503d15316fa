//! The commands and their options.

#[cfg(test)]
mod tests;

use crate::{checks, cluster, demo, docs, long, package, setup, tray};
use anyhow::Result;
use clap::{Parser, Subcommand, value_parser};
use std::path::PathBuf;

/// Builds, checks, measures and shows this workspace
///
/// CONTRIBUTING.md says how to begin; docs/ARCHITECTURE.md explains the rules that `test` checks.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, PartialEq, Eq, Subcommand)]
enum Command {
    /// Install the tools that the other commands need
    Setup {
        /// Also the programs that `bench` measures against
        #[arg(long)]
        bench: bool,
    },
    /// Format, lints, unit and property tests: what to run while working
    Check,
    /// Everything CI checks: format, lints, licences, tests, end-to-end tests
    Test {
        /// Install nothing
        #[arg(long)]
        no_setup: bool,
        /// Only the stages whose names contain a text
        #[arg(long, value_name = "TEXT")]
        only: Option<String>,
    },
    /// Two devices and a server on this machine, from nothing to a conflict
    Demo {
        /// A folder of yours, of which a copy is synced
        folder: Option<PathBuf>,
        /// Leave what it made where it is
        #[arg(long)]
        keep: bool,
    },
    /// Three servers on one PostgreSQL with a replica, an S3 double and a proxy, until Enter
    Cluster {
        /// Kill servers under load for so many seconds, let the database fail over, and check the history
        #[arg(long, value_name = "SECONDS", value_parser = value_parser!(u64).range(10..))]
        check: Option<u64>,
    },
    /// The simulator for long, and the long end-to-end tests
    Soak {
        /// Seeds for each kind of simulation
        #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
        seeds: Option<u64>,
    },
    /// Random inputs to the planner and the formats
    Fuzz {
        /// Cases for each property
        #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
        cases: Option<u32>,
    },
    /// The Debian packages of command line, tray and server, with SBOMs and checksums
    Package {
        /// Make them of the programs that the tests use, and try them in a root of their own
        #[arg(long)]
        check: bool,
        /// Only the SBOMs
        #[arg(long, conflicts_with = "check")]
        sboms: bool,
        /// Build the last commit in two new clones, and compare the packages byte for byte
        #[arg(long, conflicts_with_all = ["check", "sboms"])]
        twice: bool,
    },
    /// An archive of the source with recipes for Arch Linux and Homebrew, in target/package
    Recipes {
        /// The folder of the web in which the archive is published
        #[arg(long, value_name = "URL")]
        url: Option<String>,
    },
    /// The image of the server for containers, as an OCI archive in target/image
    Image {
        /// Make it of the program that the tests use, and try it and the examples of its use
        #[arg(long)]
        check: bool,
    },
    /// The steps of the README with the packages installed in a Debian made for it (root, debootstrap, network)
    FiveMinutes,
    /// The site of docs/, with search, in target/book
    Docs,
    /// The pictures of the tray in docs/, drawn anew
    Screenshots,
    /// Side by side with rclone, restic and Syncthing
    #[command(disable_help_flag = true)]
    Bench {
        /// The arguments of `cairn-bench`, which explains them with `--help`
        #[arg(
            trailing_var_arg = true,
            allow_hyphen_values = true,
            value_name = "OPTIONS"
        )]
        options: Vec<String>,
    },
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The error of the command.
    pub(crate) fn run(self) -> Result<()> {
        match self.command {
            Command::Setup { bench } => setup::run(bench),
            Command::Check => checks::quick(),
            Command::Test { no_setup, only } => checks::run(!no_setup, only),
            Command::Demo { folder, keep } => demo::run(folder, keep),
            Command::Cluster { check: None } => cluster::serve(),
            Command::Cluster {
                check: Some(seconds),
            } => cluster::build_and_check(seconds),
            Command::Soak { seeds } => long::soak(seeds),
            Command::Fuzz { cases } => long::fuzz(cases),
            Command::Package { check: true, .. } => package::check(),
            Command::Package { sboms: true, .. } => package::sboms(),
            Command::Package { twice: true, .. } => package::build_twice(),
            Command::Package { .. } => package::release(),
            Command::Recipes { url } => package::recipes(url.as_deref()),
            Command::Image { check: true } => package::check_image(),
            Command::Image { .. } => package::image(),
            Command::FiveMinutes => package::try_readme(),
            Command::Docs => docs::build(),
            Command::Screenshots => tray::screenshots(),
            Command::Bench { options } => long::bench(&options),
        }
    }
}
