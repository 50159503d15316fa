//! Everything that has to pass before a change lands.

use crate::run::{Stages, cargo, checking_cargo, in_ci, nextest, root, run_command};
use crate::{cluster, mail, mcp_conformance, openapi, package, postgres, proxy, s3, setup, tray};
use anyhow::Result;
use std::process::Command;

/// The test binaries of the quick check beside the unit tests: property tests and vectors, which need no other
/// program, and the rules of tests/tidy (`house`).
const QUICK_TESTS: [&str; 5] = ["plan", "account", "content", "vectors", "house"];

/// The time that servers are killed under load.
const CLUSTER_SECONDS: u64 = 24;

/// Runs what gives a response within minutes: everything but the tray and what needs other programs.
pub(crate) fn quick() -> Result<()> {
    let mut stages = Stages::new(None);
    stages.run("format", || {
        run_command(cargo().args(["fmt", "--all", "--check"]))
    });
    stages.run("lints", || {
        run_command(cargo().args([
            "clippy",
            "--workspace",
            "--exclude",
            "cairn-tray",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ]))
    });
    stages.run("unit and property tests", || {
        let mut tests = cargo();
        tests.args(["nextest", "run", "--workspace", "--exclude", "cairn-tray"]);
        tests.args(["--locked", "--lib", "--bins"]);
        for test in QUICK_TESTS {
            tests.args(["--test", test]);
        }
        run_command(&mut tests)
    });
    stages.finish()
}

/// Runs all stages in order, or those whose names contain a text.
pub(crate) fn run(with_setup: bool, only: Option<String>) -> Result<()> {
    let mut stages = Stages::new(only);
    if with_setup {
        stages.need("set-up", || setup::run(false))?;
    }
    stages.run("format", || {
        run_command(cargo().args(["fmt", "--all", "--check"]))
    });
    // Before anything of the workspace is built: the tray has its page built in.
    stages.need("page of the tray", tray::page)?;
    stages.run("licences and bans", || {
        run_command(cargo().args([
            "deny",
            "check",
            "--hide-inclusion-graph",
            "bans",
            "licenses",
            "sources",
        ]))
    });
    if !in_ci() {
        stages.run("lints", lints);
    }
    // The end-to-end tests drive programs; nextest builds only what has tests. Together with the
    // tests, so that dependencies are built with the features that the tests have, and once.
    stages.need(programs_stage(), || {
        run_command(checking_cargo()?.args(["build", "--workspace", "--all-targets", "--locked"]))
    })?;
    stages.run("OpenAPI documents", openapi::lint);
    stages.run("OpenAPI requests", || {
        openapi::probe(openapi::QUICK_REQUESTS)
    });
    stages.run("tests", every_test);
    stages.run("vectors in JavaScript", vectors_in_javascript);
    stages.run("PostgreSQL", postgres::run);
    stages.run("several servers", || {
        cluster::check(CLUSTER_SECONDS).and_then(|()| cluster::run_few())
    });
    stages.run("chunks in an S3 store", s3::run);
    stages.run("mail", mail::run);
    stages.run("behind nginx and Caddy", proxy::run);
    stages.run("third-party MCP checks", mcp_conformance::run);
    stages.run("tray in a browser", tray::browser);
    stages.run("tray on a desktop", tray::desktop);
    stages.run("packages", package::check);
    stages.run(
        "five minutes in a new Debian",
        package::try_readme_if_allowed,
    );
    stages.run("image", package::check_image);
    stages.finish()
}

/// Returns the name of the stage that builds everything, which in CI lints it, too.
fn programs_stage() -> &'static str {
    if in_ci() {
        "programs and lints"
    } else {
        "programs"
    }
}

fn lints() -> Result<()> {
    run_command(cargo().args([
        "clippy",
        "--workspace",
        "--all-targets",
        // What only the third-party MCP checks use.
        "--features",
        "cairn-mcp/http",
        "--locked",
        "--",
        "-D",
        "warnings",
    ]))
}

fn every_test() -> Result<()> {
    run_command(&mut nextest()?)
}

/// Checks the vectors of format 2 with an implementation that shares no code with the crate.
fn vectors_in_javascript() -> Result<()> {
    run_command(Command::new("node").arg(root().join("tests/vectors/javascript/format2.mjs")))
}
