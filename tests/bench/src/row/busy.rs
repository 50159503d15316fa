//! A small file both ways while three uploads of 1 GiB go slowly through a limited connection.

use super::{Bench, clear};
use crate::data::big_file;
use crate::peer::cairn::CairnPair;
use crate::peer::{Pair as _, Tool};
use crate::table::{Measure, Results, at_percent, median};
use anyhow::{Context as _, Result};
use std::fs;
use std::time::Instant;

pub(super) const TITLE: &str = "small files beside limited uploads";
pub(crate) const LIMITED: &str =
    "1 kB both ways while three files of 1 GiB go up at 2 MB/s (median of 20)";
const BYTES: u64 = 1 << 30;
const TIMES: usize = 10;

pub(super) fn run(bench: &Bench, results: &mut Results) -> Result<()> {
    if !bench.has(Tool::Cairn) {
        return Ok(());
    }
    let dir = bench.part("limited")?;
    let pair = CairnPair::new(&dir)?;
    pair.limit_a("2MB")?;
    for n in 0..3 {
        let staged = dir.join("staged.dat");
        big_file(&staged, bench.bytes(BYTES), 60 + n)?;
        fs::rename(&staged, pair.a().join(format!("big {n}.dat")))?;
    }
    pair.wait_until_sending()?;
    let mut seconds = Vec::new();
    for n in 0..TIMES {
        for (from, to) in [(pair.a(), pair.b()), (pair.b(), pair.a())] {
            let name = format!("note {n} of {}", seconds.len() % 2);
            let content = vec![b'a' + (n % 26) as u8; 1000];
            let start = Instant::now();
            fs::write(from.join(&name), &content)?;
            super::live::wait_readable(&to.join(&name), &content)?;
            seconds.push(start.elapsed().as_secs_f64());
        }
    }
    let middle = median(seconds.clone()).context("nothing was measured")?;
    results.add(LIMITED, Measure::Seconds, Tool::Cairn, middle);
    let slowest = at_percent(seconds, 99).unwrap_or(middle);
    results.add(LIMITED, Measure::Slowest, Tool::Cairn, slowest);
    drop(pair);
    clear(&dir)
}
