//! Ten thousand deletions among a hundred thousand files.

use super::live::pair;
use super::{Bench, clear, wait_for_amount};
use crate::data::{Amount, amount, remove_files, small_files};
use crate::machine::settle_disk;
use crate::peer::Tool;
use crate::table::{Measure, Results};
use anyhow::Result;
use std::time::Instant;

pub(crate) const TITLE: &str =
    "10,000 files deleted among 100,000, one by one, until B has none of them";
const KEPT: usize = 90_000;
const DELETED: usize = 10_000;
const BYTES_EACH: u64 = 1000;

pub(super) fn run(bench: &Bench, results: &mut Results) -> Result<()> {
    for tool in [Tool::Cairn, Tool::Syncthing] {
        if !bench.has(tool) {
            continue;
        }
        let dir = bench.part(&format!("deletions-{tool:?}"))?;
        let pair = pair(tool, &dir)?;
        let make = |name: &str, files: usize, seed: u64| {
            let files = bench.files(files);
            small_files(&pair.a().join(name), files, files as u64 * BYTES_EACH, seed)
        };
        let kept = make("kept", KEPT, 50)?;
        let deleted = make("deleted", DELETED, 51)?;
        let all = Amount {
            files: kept.files + deleted.files,
            bytes: kept.bytes + deleted.bytes,
        };
        wait_for_amount(pair.b(), all)?;
        pair.settle()?;
        settle_disk();
        let (start, before) = (Instant::now(), pair.wire());
        // The files alone: a folder that goes is one deletion.
        remove_files(&pair.a().join("deleted"))?;
        wait_for_amount(&pair.b().join("deleted"), Amount::default())?;
        let seconds = start.elapsed().as_secs_f64();
        pair.settle()?;
        anyhow::ensure!(amount(pair.b())? == kept, "more than the deleted is gone");
        results.add(TITLE, Measure::Seconds, tool, seconds);
        results.add(TITLE, Measure::Wire, tool, (pair.wire() - before) as f64);
        drop(pair);
        clear(&dir)?;
    }
    Ok(())
}
