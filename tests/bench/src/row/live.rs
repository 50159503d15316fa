//! Small changes between two live devices: a new file, a renamed folder.

use super::{Bench, clear, wait_for_amount};
use crate::data::{amount, small_files};
use crate::peer::cairn::CairnPair;
use crate::peer::rclone::Rclone;
use crate::peer::restic::Restic;
use crate::peer::syncthing::Syncthing;
use crate::peer::{Pair, Push, Tool};
use crate::process::Run;
use crate::table::{Measure, Results, at_percent, median};
use anyhow::{Result, bail};
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

pub(crate) const NEW_FILE: &str =
    "one new small file, saved on A until readable on B (median of 200)";
pub(crate) const WHILE_BUSY: &str = "the same while 10,000 files go up (median of 50)";
pub(crate) const RENAME: &str = "a folder of 10,000 files renamed, until B has it";
const TIMES: usize = 200;
const TIMES_BUSY: usize = 50;
const FILES: usize = 10_000;
const BYTES: u64 = 10_000_000;
/// Enough to go up for some seconds.
const BYTES_BUSY: u64 = 200_000_000;
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
        let seconds = save_and_wait(pair.as_ref(), "idle", times, true)?;
        note(results, NEW_FILE, tool, seconds);
        if tool == Tool::Cairn {
            let staged = dir.join("staged");
            small_files(&staged, bench.files(FILES), bench.bytes(BYTES_BUSY), 31)?;
            fs::rename(&staged, pair.a().join("files"))?;
            let seconds = save_and_wait(pair.as_ref(), "busy", TIMES_BUSY, false)?;
            note(results, WHILE_BUSY, tool, seconds);
        }
        drop(pair);
        clear(&dir)?;
    }
    Ok(())
}

/// Saves small files on A one by one; returns the seconds until B can read each.
fn save_and_wait(pair: &dyn Pair, word: &str, times: usize, settle: bool) -> Result<Vec<f64>> {
    let mut seconds = Vec::new();
    for n in 0..times {
        let name = format!("{word} note {n}.txt");
        let content = format!("a small note, number {n}");
        let start = Instant::now();
        fs::write(pair.a().join(&name), &content)?;
        wait_readable(&pair.b().join(&name), content.as_bytes())?;
        seconds.push(start.elapsed().as_secs_f64());
        if settle {
            pair.settle()?;
        }
    }
    Ok(seconds)
}

fn note(results: &mut Results, row: &'static str, tool: Tool, seconds: Vec<f64>) {
    let slowest = at_percent(seconds.clone(), 99);
    if let (Some(middle), Some(slowest)) = (median(seconds), slowest) {
        results.add(row, Measure::Seconds, tool, middle);
        results.add(row, Measure::Slowest, tool, slowest);
    }
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
            Tool::Unison => continue,
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
    wait_for_amount(&pair.b().join("before"), made)?;
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

pub(super) fn pair(tool: Tool, dir: &Path) -> Result<Box<dyn Pair>> {
    Ok(match tool {
        Tool::Cairn => Box::new(CairnPair::new(dir)?),
        Tool::Syncthing => Box::new(Syncthing::new(dir)?),
        Tool::Rclone | Tool::Restic | Tool::Unison => {
            bail!("{} keeps no pair of folders equal by itself", tool.title())
        }
    })
}

/// Polls every millisecond: that is the resolution of this row.
pub(super) fn wait_readable(path: &Path, content: &[u8]) -> Result<()> {
    let start = Instant::now();
    while fs::read(path).map_or(true, |found| found != content) {
        if start.elapsed() > LIMIT {
            bail!("{} never came", path.display());
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Waits until the 16 bytes in the middle of two files are the same.
pub(super) fn same_middle(file: &Path, other: &Path) -> Result<()> {
    let middle = |path: &Path| -> std::io::Result<[u8; 16]> {
        let mut file = fs::File::open(path)?;
        file.seek(SeekFrom::Start(file.metadata()?.len() / 2))?;
        let mut bytes = [0; 16];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    };
    let wanted = middle(file)?;
    let start = Instant::now();
    while middle(other).map_or(true, |found| found != wanted) {
        if start.elapsed() > LIMIT {
            bail!("the change of {} never came", other.display());
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}
