//! What runs too long for every change: many simulated systems, many random inputs, measurements.

use crate::run::{Stages, cargo, show};
use anyhow::Result;
use std::time::{SystemTime, UNIX_EPOCH};

/// Two thousand whole systems are what CI runs; this is an evening's worth.
const SOAK_SEEDS: u64 = 50_000;
/// CI runs ten thousand.
const FUZZ_CASES: u64 = 1_000_000;

/// Packages whose laws hold for random inputs: the planner, and everything that reads foreign bytes.
const WITH_LAWS: [&str; 4] = ["cairn-plan", "cairn-wire", "cairn-crypto", "cairn-model"];

pub(crate) fn soak(seeds: Option<u64>) -> Result<()> {
    let first = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let seeds = seeds.unwrap_or(SOAK_SEEDS);
    println!(
        "simulating {seeds} systems, seeds from {first}; a failing seed is printed and repeats"
    );
    let mut stages = Stages::new();
    stages.run("simulator", || {
        show(
            cargo()
                .args(["test", "--release", "-p", "cairn-sim", "--", "--nocapture"])
                .env("CAIRN_SIM_FIRST_SEED", first.to_string())
                .env("CAIRN_SIM_SEEDS", seeds.to_string()),
        )
    })?;
    stages.print("no law was broken");
    Ok(())
}

pub(crate) fn fuzz(cases: Option<u64>) -> Result<()> {
    let cases = cases.unwrap_or(FUZZ_CASES).to_string();
    let mut stages = Stages::new();
    for package in WITH_LAWS {
        stages.run(package, || {
            show(
                cargo()
                    .args(["test", "--release", "-p", package])
                    .env("PROPTEST_CASES", &cases),
            )
        })?;
    }
    stages.print("no law was broken");
    Ok(())
}

pub(crate) fn bench(options: &[String]) -> Result<()> {
    show(
        cargo()
            .args(["run", "--release", "--package", "cairn-bench", "--"])
            .args(options),
    )
}
