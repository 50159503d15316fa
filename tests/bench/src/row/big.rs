//! One file of 1 GiB sent up, then 16 bytes of it changed and sent again.

use super::{Bench, clear};
use crate::data::{big_file, edit_middle};
use crate::machine::settle_disk;
use crate::peer::cairn::CairnPush;
use crate::peer::rclone::Rclone;
use crate::peer::restic::Restic;
use crate::peer::{Push, Tool};
use crate::process::Run;
use crate::table::{Measure, Results};
use anyhow::Result;
use std::path::Path;

pub(super) const TITLE: &str = "1 GiB up, 16 bytes of it changed";
const UP: &str = "one file of 1 GiB, up";
const EDIT: &str = "16 bytes changed in its middle";
const BYTES: u64 = 1 << 30;

pub(super) fn run(bench: &Bench, results: &mut Results) -> Result<()> {
    for tool in [Tool::Cairn, Tool::Rclone, Tool::Restic] {
        if bench.has(tool) {
            one(bench, results, tool)?;
        }
    }
    Ok(())
}

fn one(bench: &Bench, results: &mut Results, tool: Tool) -> Result<()> {
    let dir = bench.part(&format!("big-{tool:?}"))?;
    let folder = bench.part(&format!("big-{tool:?}/folder"))?;
    let file = folder.join("big.dat");
    big_file(&file, bench.bytes(BYTES), 20)?;
    settle_disk();
    let (up, edit) = match tool {
        Tool::Cairn => twice(&mut CairnPush::new(&dir)?, &folder, &file)?,
        Tool::Restic => twice(&mut Restic::new(&dir)?, &folder, &file)?,
        Tool::Rclone => {
            let mut rclone = Rclone::new(&dir)?;
            let up = rclone.push(&folder)?;
            edit_middle(&file, 21)?;
            settle_disk();
            (up, rclone.push_all_again(&folder)?)
        }
        Tool::Syncthing => return Ok(()),
    };
    for (row, run) in [(UP, up), (EDIT, edit)] {
        results.add(row, Measure::Seconds, tool, run.seconds);
        results.add(row, Measure::Wire, tool, run.wire as f64);
        results.add(row, Measure::PeakMemory, tool, run.peak as f64);
    }
    clear(&dir)
}

fn twice(push: &mut dyn Push, folder: &Path, file: &Path) -> Result<(Run, Run)> {
    let up = push.push(folder)?;
    edit_middle(file, 21)?;
    settle_disk();
    Ok((up, push.push(folder)?))
}
