//! Small changes between two live devices: a new file, a renamed folder.

use super::{Bench, arrived, clear};
use crate::data::{amount, small_files};
use crate::peer::cairn::CairnPair;
use crate::peer::rclone::Rclone;
use crate::peer::restic::Restic;
use crate::peer::syncthing::Syncthing;
use crate::peer::{Pair, Push, Tool};
use crate::process::Run;
use crate::table::{Measure, Results};
use anyhow::{Result, bail};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

pub(super) const NEW_FILE: &str =
    "one new small file, saved on A until readable on B (median of 20)";
pub(super) const RENAME: &str = "a folder of 10,000 files renamed, until B has it";
const TIMES: usize = 20;
const FILES: usize = 10_000;
const BYTES: u64 = 10_000_000;
/// Longest wait for one small file.
const LIMIT: Duration = Duration::from_secs(120);

pub(super) fn new_file(bench: &Bench, results: &mut Results) -> Result<()> {
    for tool in [Tool::Cairn, Tool::Syncthing] {
        if !bench.has(tool) {
            continue;
        }
        let dir = bench.part(&format!("new-{tool:?}"))?;
        let pair = pair(tool, &dir)?;
        let times = if tool == Tool::Cairn { TIMES } else { 5 };
        let mut seconds = Vec::new();
        for n in 0..times {
            let name = format!("note {n}.txt");
            let content = format!("a small note, number {n}");
            let start = Instant::now();
            fs::write(pair.a().join(&name), &content)?;
            readable(&pair.b().join(&name), content.as_bytes())?;
            seconds.push(start.elapsed().as_secs_f64());
            pair.settle()?;
        }
        seconds.sort_by(f64::total_cmp);
        results.add(NEW_FILE, Measure::Seconds, tool, seconds[seconds.len() / 2]);
        drop(pair);
        clear(&dir)?;
    }
    Ok(())
}

pub(super) fn rename(bench: &Bench, results: &mut Results) -> Result<()> {
    for tool in [Tool::Cairn, Tool::Rclone, Tool::Restic, Tool::Syncthing] {
        if !bench.has(tool) {
            continue;
        }
        let dir = bench.part(&format!("rename-{tool:?}"))?;
        let run = match tool {
            Tool::Cairn | Tool::Syncthing => rename_live(bench, pair(tool, &dir)?.as_ref())?,
            Tool::Rclone | Tool::Restic => rename_pushed(bench, tool, &dir)?,
        };
        results.add(RENAME, Measure::Seconds, tool, run.seconds);
        results.add(RENAME, Measure::Wire, tool, run.wire as f64);
        clear(&dir)?;
    }
    Ok(())
}

fn rename_live(bench: &Bench, pair: &dyn Pair) -> Result<Run> {
    let made = small_files(
        &pair.a().join("before"),
        bench.files(FILES),
        bench.bytes(BYTES),
        30,
    )?;
    arrived(&pair.b().join("before"), made)?;
    pair.settle()?;
    let (start, wire) = (Instant::now(), pair.wire());
    fs::rename(pair.a().join("before"), pair.a().join("after"))?;
    loop {
        // Cheap until the name is there, then everything must be there.
        if pair.b().join("after").is_dir() && amount(&pair.b().join("after"))? == made {
            break;
        }
        if start.elapsed() > LIMIT * 5 {
            bail!("the renamed folder never came");
        }
        thread::sleep(Duration::from_millis(5));
    }
    let seconds = start.elapsed().as_secs_f64();
    pair.settle()?;
    Ok(Run {
        seconds,
        wire: pair.wire() - wire,
        peak: 0,
    })
}

/// These push once: the time until another device could fetch the new state.
fn rename_pushed(bench: &Bench, tool: Tool, dir: &Path) -> Result<Run> {
    let folder = dir.join("folder");
    small_files(
        &folder.join("before"),
        bench.files(FILES),
        bench.bytes(BYTES),
        30,
    )?;
    let (from, to) = (folder.join("before"), folder.join("after"));
    if tool == Tool::Rclone {
        let mut rclone = Rclone::new(dir)?;
        rclone.push(&folder)?;
        fs::rename(from, to)?;
        return rclone.push_renamed(&folder);
    }
    let mut restic = Restic::new(dir)?;
    restic.push(&folder)?;
    fs::rename(from, to)?;
    restic.push(&folder)
}

fn pair(tool: Tool, dir: &Path) -> Result<Box<dyn Pair>> {
    Ok(match tool {
        Tool::Cairn => Box::new(CairnPair::new(dir)?),
        Tool::Syncthing => Box::new(Syncthing::new(dir)?),
        Tool::Rclone | Tool::Restic => bail!("{} keeps no pair of folders", tool.title()),
    })
}

/// Polls every millisecond: that is the resolution of this row.
fn readable(path: &Path, content: &[u8]) -> Result<()> {
    let start = Instant::now();
    while fs::read(path).map_or(true, |found| found != content) {
        if start.elapsed() > LIMIT {
            bail!("{} never came", path.display());
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}
