//! Ten thousand small files: sent up, and from one device to another.

use super::{Bench, clear, wait_for_amount};
use crate::data::{Amount, amount, small_files};
use crate::machine::settle_disk;
use crate::peer::cairn::{CairnPair, CairnPush};
use crate::peer::rclone::Rclone;
use crate::peer::restic::Restic;
use crate::peer::syncthing::Syncthing;
use crate::peer::unison::Unison;
use crate::peer::{Pair, Push, Tool};
use crate::table::{Measure, Results};
use anyhow::{Result, ensure};
use std::fs;
use std::path::Path;
use std::time::Instant;

pub(super) const TITLE: &str = "10,000 small files, 200 MB";
pub(crate) const UP: &str = "10,000 small files (200 MB), up";
pub(crate) const DOWN: &str = "10,000 small files (200 MB), down";
pub(crate) const END: &str = "10,000 small files (200 MB), A to B";
pub(super) const FILES: usize = 10_000;
pub(super) const BYTES: u64 = 200_000_000;

pub(super) fn run(bench: &Bench, results: &mut Results) -> Result<()> {
    let data = bench.part("small-data")?;
    let made = small_files(&data, bench.files(FILES), bench.bytes(BYTES), 10)?;
    for tool in [Tool::Cairn, Tool::Rclone, Tool::Restic] {
        if bench.has(tool) {
            up_and_down(bench, results, tool, &data, made)?;
        }
    }
    for tool in [Tool::Cairn, Tool::Syncthing] {
        if bench.has(tool) {
            measure_live(bench, results, tool, &data, made)?;
        }
    }
    if bench.has(Tool::Unison) {
        measure_command(bench, results, &data, made)?;
    }
    clear(&data)
}

fn up_and_down(
    bench: &Bench,
    results: &mut Results,
    tool: Tool,
    data: &Path,
    made: Amount,
) -> Result<()> {
    let dir = bench.part(&format!("small-{tool:?}"))?;
    let source = copy_for(tool, data, &dir)?;
    let mut push: Box<dyn Push> = match tool {
        Tool::Cairn => Box::new(CairnPush::new(&dir)?),
        Tool::Rclone => Box::new(Rclone::new(&dir)?),
        Tool::Restic => Box::new(Restic::new(&dir)?),
        Tool::Syncthing | Tool::Unison => return Ok(()),
    };
    settle_disk();
    let up = push.push(&source)?;
    results.add(UP, Measure::Seconds, tool, up.seconds);
    results.add(UP, Measure::Wire, tool, up.wire as f64);
    results.add(UP, Measure::PeakMemory, tool, up.peak as f64);
    let copy = dir.join("pulled");
    fs::create_dir_all(&copy)?;
    settle_disk();
    let down = push.pull(&copy)?;
    ensure!(
        amount(&copy)? == made,
        "{tool:?} brought back {:?} of {made:?}",
        amount(&copy)?
    );
    results.add(DOWN, Measure::Seconds, tool, down.seconds);
    results.add(DOWN, Measure::Wire, tool, down.wire as f64);
    drop(push);
    clear(&dir)
}

/// Cairn works in the folder itself and so gets a copy; the others only read it.
fn copy_for(tool: Tool, data: &Path, dir: &Path) -> Result<std::path::PathBuf> {
    if tool != Tool::Cairn {
        return Ok(data.to_owned());
    }
    let copy = dir.join("folder");
    copy_tree(data, &copy)?;
    Ok(copy)
}

fn measure_live(
    bench: &Bench,
    results: &mut Results,
    tool: Tool,
    data: &Path,
    made: Amount,
) -> Result<()> {
    let dir = bench.part(&format!("small-live-{tool:?}"))?;
    let staged = dir.join("staged");
    copy_tree(data, &staged)?;
    let pair: Box<dyn Pair> = match tool {
        Tool::Cairn => Box::new(CairnPair::new(&dir)?),
        Tool::Syncthing => Box::new(Syncthing::new(&dir)?),
        Tool::Rclone | Tool::Restic | Tool::Unison => return Ok(()),
    };
    settle_disk();
    let (start, before) = (Instant::now(), pair.wire());
    fs::rename(&staged, pair.a().join("files"))?;
    wait_for_amount(pair.b(), made)?;
    results.add(END, Measure::Seconds, tool, start.elapsed().as_secs_f64());
    pair.settle()?;
    results.add(END, Measure::Wire, tool, (pair.wire() - before) as f64);
    results.add(
        END,
        Measure::PeakMemory,
        tool,
        crate::process::peak_memory(pair.pid_a()?)? as f64,
    );
    drop(pair);
    clear(&dir)
}

/// Unison watches nothing by itself: its time is that of one command.
fn measure_command(bench: &Bench, results: &mut Results, data: &Path, made: Amount) -> Result<()> {
    let dir = bench.part("small-live-Unison")?;
    let staged = dir.join("staged");
    copy_tree(data, &staged)?;
    let pair = Unison::new(&dir)?;
    fs::rename(&staged, pair.a().join("files"))?;
    settle_disk();
    let run = pair.sync()?;
    ensure!(
        amount(pair.b())? == made,
        "Unison brought {:?} of {made:?}",
        amount(pair.b())?
    );
    results.add(END, Measure::Seconds, Tool::Unison, run.seconds);
    results.add(END, Measure::Wire, Tool::Unison, run.wire as f64);
    results.add(END, Measure::PeakMemory, Tool::Unison, run.peak as f64);
    drop(pair);
    clear(&dir)
}

pub(super) fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &to.join(entry.file_name()))?;
        } else {
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}
