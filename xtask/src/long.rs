//! Commands that take too long to run for every change: the simulator with many seeds, property tests with
//! many cases, benchmarks.

use crate::postgres::Postgres;
use crate::run::{Stages, cargo, run_command};
use crate::{cluster, openapi};
use anyhow::Result;

/// Seeds for each kind of simulation. CI runs 300 for each; this many take some hours.
const SOAK_SEEDS: u64 = 20_000;
/// Random times to which the contract tests take a folder back. CI takes 4.
const SOAK_REWINDS: &str = "200";
/// Cases for each property. CI runs 64 to 4,000.
const FUZZ_CASES: u32 = 1_000_000;

/// Random requests to each operation of the server.
const MANY_REQUESTS: u32 = 1_000;

/// Packages with property tests: the planner, and the formats that read untrusted bytes.
const WITH_PROPERTY_TESTS: [&str; 3] = ["cairn-plan", "cairn-log", "cairn-crypto"];

pub(crate) fn soak(seeds: Option<u64>) -> Result<()> {
    let seeds = seeds.unwrap_or(SOAK_SEEDS);
    println!(
        "running the simulator with {seeds} seeds for each kind; a failing seed is printed, and \
         CAIRN_SIM_SEED=SEED runs it again"
    );
    let mut stages = Stages::new(None);
    stages.run("simulator", || {
        run_command(
            cargo()
                .args(["test", "--release", "-p", "cairn-sim", "--", "--nocapture"])
                .env("CAIRN_SIM_SEEDS", seeds.to_string()),
        )
    });
    stages.need("programs", || {
        run_command(cargo().args(["build", "--release", "-p", "cairn", "-p", "cairn-server"]))
    })?;
    stages.run("long end-to-end tests", || {
        run_command(cargo().args([
            "test",
            "--release",
            "-p",
            "cairn-e2e",
            "--test",
            "scenarios",
            "--",
            "--ignored",
        ]))
    });
    stages.run("end-to-end tests on several servers", || {
        run_command(cargo().args(["build", "--workspace", "--locked"]))?;
        cluster::run_many()
    });
    stages.run("random times restored", || {
        run_command(
            cargo()
                .args([
                    "test",
                    "--release",
                    "-p",
                    "cairn-contract",
                    "--",
                    "--nocapture",
                ])
                .arg("rewinds")
                .env("CAIRN_REWINDS", SOAK_REWINDS),
        )
    });
    stages.finish()
}

pub(crate) fn fuzz(cases: Option<u32>) -> Result<()> {
    let cases = cases.unwrap_or(FUZZ_CASES).to_string();
    let mut stages = Stages::new(None);
    for package in WITH_PROPERTY_TESTS {
        stages.run(package, || {
            run_command(
                cargo()
                    .args(["test", "--release", "-p", package])
                    .env("PROPTEST_CASES", &cases),
            )
        });
    }
    stages.need("programs", || {
        run_command(cargo().args(["build", "--bin", "cairn-server", "--locked"]))
    })?;
    stages.run("OpenAPI requests", || openapi::probe(MANY_REQUESTS));
    stages.finish()
}

pub(crate) fn bench(options: &[String]) -> Result<()> {
    let mut command = cargo();
    command.args(["run", "--release", "--package", "cairn-bench", "--"]);
    let postgres = Postgres::start_safe();
    match &postgres {
        Ok(postgres) => {
            command.args(["--postgres", &postgres.url]);
        }
        Err(error) => eprintln!("nothing is measured on PostgreSQL: {error:#}"),
    }
    run_command(command.args(options))
}
