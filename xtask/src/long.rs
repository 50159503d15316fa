//! Runs that take too long for every change: many simulated systems, many random inputs, measurements.

use crate::openapi;
use crate::run::{Stages, cargo, run_command};
use anyhow::Result;

/// CI runs fifteen hundred whole systems; this is an evening's worth, for each plot.
const SOAK_SEEDS: u64 = 20_000;
/// CI runs 500 to 4,000 for each law.
const FUZZ_CASES: u64 = 1_000_000;

/// Random requests to each operation of the server.
const MANY_REQUESTS: u32 = 1_000;

/// Packages whose laws hold for random inputs: the planner, and the formats that read foreign bytes.
const WITH_LAWS: [&str; 3] = ["cairn-plan", "cairn-log", "cairn-crypto"];

pub(crate) fn soak(seeds: Option<u64>) -> Result<()> {
    let seeds = seeds.unwrap_or(SOAK_SEEDS);
    println!("simulating {seeds} systems of each plot; a failing seed is printed and repeats");
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
    stages.run("long stories", || {
        run_command(cargo().args([
            "test",
            "--release",
            "-p",
            "cairn-e2e",
            "--test",
            "stories",
            "--",
            "--ignored",
        ]))
    });
    stages.finish()
}

pub(crate) fn fuzz(cases: Option<u64>) -> Result<()> {
    let cases = cases.unwrap_or(FUZZ_CASES).to_string();
    let mut stages = Stages::new(None);
    for package in WITH_LAWS {
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
    run_command(
        cargo()
            .args(["run", "--release", "--package", "cairn-bench", "--"])
            .args(options),
    )
}
