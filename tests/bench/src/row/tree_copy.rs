//! A folder of 1 GiB copied beside itself inside a linked folder: its content is on the server already.

use super::live::pair;
use super::small::copy_tree;
use super::{Bench, clear, wait_for_amount};
use crate::data::{Amount, amount, big_file};
use crate::machine::settle_disk;
use crate::peer::Tool;
use crate::table::{Measure, Results};
use anyhow::Result;
use std::fs;
use std::time::Instant;

pub(crate) const TITLE: &str =
    "a folder of 256 files of 4 MiB, copied beside itself, until B has it";
const FILES: usize = 256;
const BYTES_EACH: u64 = 4 << 20;

pub(super) fn run(bench: &Bench, results: &mut Results) -> Result<()> {
    for tool in [Tool::Cairn, Tool::Syncthing] {
        if !bench.has(tool) {
            continue;
        }
        let dir = bench.part(&format!("tree-copy-{tool:?}"))?;
        let pair = pair(tool, &dir)?;
        let (staged, folder) = (dir.join("staged"), pair.a().join("folder"));
        fs::create_dir_all(&staged)?;
        for n in 0..bench.files(FILES) {
            let file = staged.join(format!("{n:03}.dat"));
            big_file(&file, BYTES_EACH, 70_000 + n as u64)?;
        }
        let made = amount(&staged)?;
        fs::rename(&staged, &folder)?;
        wait_for_amount(pair.b(), made)?;
        pair.settle()?;
        settle_disk();
        let (start, before) = (Instant::now(), pair.wire());
        copy_tree(&folder, &pair.a().join("copy"))?;
        let both = Amount {
            files: 2 * made.files,
            bytes: 2 * made.bytes,
        };
        wait_for_amount(pair.b(), both)?;
        results.add(TITLE, Measure::Seconds, tool, start.elapsed().as_secs_f64());
        pair.settle()?;
        let wire = (pair.wire() - before) as f64;
        results.add(TITLE, Measure::WireRatio, tool, wire / made.bytes as f64);
        drop(pair);
        clear(&dir)?;
    }
    Ok(())
}
