//! One file of 1 GiB: up, down, from A to B; then 16 bytes of it changed, and copied beside itself.

use super::live::{pair, same_middle};
use super::{Bench, clear, wait_for_amount};
use crate::data::{Amount, amount, big_file, edit_middle};
use crate::machine::settle_disk;
use crate::peer::cairn::CairnPush;
use crate::peer::rclone::Rclone;
use crate::peer::restic::Restic;
use crate::peer::{Pair, Push, Tool, sealed_copy};
use crate::process::{Run, peak_memory};
use crate::table::{Measure, Results};
use anyhow::{Result, ensure};
use std::fs;
use std::path::Path;
use std::time::Instant;

pub(super) const TITLE: &str = "1 GiB up, down, A to B, changed, copied";
pub(crate) const UP: &str = "one file of 1 GiB, up";
pub(crate) const DOWN: &str = "one file of 1 GiB, down";
pub(crate) const END: &str = "one file of 1 GiB, A to B";
pub(crate) const EDIT: &str = "16 bytes changed in its middle, until B has them";
pub(crate) const PUSH_EDIT: &str = "16 bytes changed in its middle, up";
pub(crate) const COPY: &str = "a copy of it beside itself, until B has it";
const BYTES: u64 = 1 << 30;

pub(super) fn run(bench: &Bench, results: &mut Results) -> Result<()> {
    let copied = measure_sealed_copy(bench)?;
    for tool in [Tool::Cairn, Tool::Rclone, Tool::Restic] {
        if bench.has(tool) {
            measure_push(bench, results, tool, copied)?;
        }
    }
    for tool in [Tool::Cairn, Tool::Syncthing] {
        if bench.has(tool) {
            measure_live(bench, results, tool, copied)?;
        }
    }
    Ok(())
}

/// Returns the seconds that a plain encrypted copy takes in this run.
fn measure_sealed_copy(bench: &Bench) -> Result<Option<f64>> {
    let dir = bench.part("big-copy")?;
    let file = dir.join("big.dat");
    big_file(&file, bench.bytes(BYTES), 20)?;
    settle_disk();
    let seconds = sealed_copy::seconds(&file, &dir.join("sealed"))?;
    clear(&dir)?;
    Ok(seconds)
}

fn measure_push(
    bench: &Bench,
    results: &mut Results,
    tool: Tool,
    copied: Option<f64>,
) -> Result<()> {
    let dir = bench.part(&format!("big-{tool:?}"))?;
    let folder = bench.part(&format!("big-{tool:?}/folder"))?;
    let file = folder.join("big.dat");
    big_file(&file, bench.bytes(BYTES), 20)?;
    let mut push: Box<dyn Push> = match tool {
        Tool::Cairn => Box::new(CairnPush::new(&dir)?),
        Tool::Restic => Box::new(Restic::new(&dir)?),
        Tool::Rclone => Box::new(Rclone::new(&dir)?),
        Tool::Syncthing | Tool::Unison => return Ok(()),
    };
    settle_disk();
    let up = push.push(&folder)?;
    note(results, UP, tool, up);
    compare(results, UP, tool, up, copied);
    let to = bench.part(&format!("big-{tool:?}/pulled"))?;
    settle_disk();
    let down = push.pull(&to)?;
    ensure!(
        amount(&to)? == amount(&folder)?,
        "{tool:?} brought back {:?}",
        amount(&to)?
    );
    note(results, DOWN, tool, down);
    compare(results, DOWN, tool, down, copied);
    // Cairn's daemon sends a change by itself: its time is that of the live row.
    if tool != Tool::Cairn {
        edit_middle(&file, 21)?;
        settle_disk();
        let edit = push.push_edited(&folder)?;
        note(results, PUSH_EDIT, tool, edit);
    }
    drop(push);
    clear(&dir)
}

fn note(results: &mut Results, row: &'static str, tool: Tool, run: Run) {
    results.add(row, Measure::Seconds, tool, run.seconds);
    results.add(row, Measure::Wire, tool, run.wire as f64);
    results.add(row, Measure::PeakMemory, tool, run.peak as f64);
}

/// Adds how fast a tool was beside the plain encrypted copy.
fn compare(results: &mut Results, row: &'static str, tool: Tool, run: Run, copied: Option<f64>) {
    if let Some(copied) = copied {
        let share = copied / run.seconds * 100.0;
        results.add(row, Measure::OfSealedCopy, tool, share);
    }
}

fn measure_live(
    bench: &Bench,
    results: &mut Results,
    tool: Tool,
    copied: Option<f64>,
) -> Result<()> {
    let dir = bench.part(&format!("big-live-{tool:?}"))?;
    let pair = pair(tool, &dir)?;
    let staged = dir.join("staged.dat");
    let bytes = bench.bytes(BYTES);
    big_file(&staged, bytes, 20)?;
    settle_disk();
    let (start, before) = (Instant::now(), pair.wire());
    let file = pair.a().join("big.dat");
    fs::rename(&staged, &file)?;
    wait_for_amount(pair.b(), Amount { files: 1, bytes })?;
    let run = Run {
        seconds: start.elapsed().as_secs_f64(),
        wire: pair.wire() - before,
        peak: peak_memory(pair.pid_a()?)?,
    };
    note(results, END, tool, run);
    compare(results, END, tool, run, copied);
    pair.settle()?;
    settle_disk();
    measure_edit(results, tool, pair.as_ref(), &dir)?;
    if tool == Tool::Cairn {
        measure_copy(results, tool, pair.as_ref(), &file)?;
    }
    drop(pair);
    clear(&dir)
}

fn measure_edit(results: &mut Results, tool: Tool, pair: &dyn Pair, dir: &Path) -> Result<()> {
    let (file, other) = (pair.a().join("big.dat"), pair.b().join("big.dat"));
    let plain = dir.join("plain-copy");
    let start = Instant::now();
    fs::copy(&file, &plain)?;
    let copy = start.elapsed().as_secs_f64();
    fs::remove_file(&plain)?;
    settle_disk();
    let (start, before) = (Instant::now(), pair.wire());
    edit_middle(&file, 21)?;
    same_middle(&file, &other)?;
    let seconds = start.elapsed().as_secs_f64();
    results.add(EDIT, Measure::Seconds, tool, seconds);
    results.add(EDIT, Measure::OfCopy, tool, seconds / copy);
    pair.settle()?;
    results.add(EDIT, Measure::Wire, tool, (pair.wire() - before) as f64);
    Ok(())
}

fn measure_copy(results: &mut Results, tool: Tool, pair: &dyn Pair, file: &Path) -> Result<()> {
    let bytes = fs::metadata(file)?.len();
    settle_disk();
    let (start, before) = (Instant::now(), pair.wire());
    fs::copy(file, pair.a().join("copy.dat"))?;
    let both = Amount {
        files: 2,
        bytes: 2 * bytes,
    };
    wait_for_amount(pair.b(), both)?;
    results.add(COPY, Measure::Seconds, tool, start.elapsed().as_secs_f64());
    pair.settle()?;
    let wire = (pair.wire() - before) as f64;
    results.add(COPY, Measure::WireRatio, tool, wire / bytes as f64);
    Ok(())
}
