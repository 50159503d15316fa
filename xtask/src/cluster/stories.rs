//! The end-to-end tests with three servers in the place of each one.

use crate::postgres::Postgres;
use crate::run::{nextest, run_command};
use anyhow::Result;

/// The tests that each check runs.
const FEW: &str = "package(cairn-e2e) & binary(scenarios) & test(/^edit_delete::/)";
/// All tests of folders and teams but two: one looks into the server's own directory, the other counts on a fault that
/// happens once.
const MANY: &str = "package(cairn-e2e) & binary(scenarios) & \
     test(/^(one_side|edit_delete|create_create|concurrent_moves|moves|type_changes|crash|teams)::/) & \
     not test(a_team_shares_files) & not test(s211_a_chunk_corrupted)";

/// Runs some of the tests.
pub(crate) fn run_few() -> Result<()> {
    run(FEW)
}

/// Runs all tests that make sense.
pub(crate) fn run_many() -> Result<()> {
    run(MANY)
}

fn run(filter: &str) -> Result<()> {
    let postgres = Postgres::start()?;
    let mut tests = nextest()?;
    tests.args(["-E", filter]);
    tests.env("CAIRN_TEST_CLUSTER", &postgres.url);
    run_command(&mut tests)
}
