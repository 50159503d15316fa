//! A restart with 100,000 files and nothing to do: time until idle, memory and processor when idle.

use super::{Bench, clear};
use crate::data::small_files;
use crate::peer::cairn::CairnPair;
use crate::peer::syncthing::Syncthing;
use crate::peer::{Pair, Tool};
use crate::process::{measure_idle, memory};
use crate::table::{Measure, Results};
use anyhow::Result;
use std::time::Duration;

pub(crate) const TITLE: &str = "a restart with 100,000 files, nothing changed";
const FILES: usize = 100_000;
const BYTES: u64 = 100_000_000;
/// Long enough for what happens every half minute.
const SPAN: Duration = Duration::from_secs(60);

pub(super) fn run(bench: &Bench, results: &mut Results) -> Result<()> {
    for tool in [Tool::Cairn, Tool::Syncthing] {
        if !bench.has(tool) {
            continue;
        }
        let dir = bench.part(&format!("restart-{tool:?}"))?;
        let mut pair: Box<dyn Pair> = match tool {
            Tool::Cairn => Box::new(CairnPair::new(&dir)?),
            Tool::Syncthing => Box::new(Syncthing::new(&dir)?),
            Tool::Rclone | Tool::Restic | Tool::Unison => continue,
        };
        let made = small_files(
            &pair.a().join("files"),
            bench.files(FILES),
            bench.bytes(BYTES),
            40,
        )?;
        super::wait_for_amount(&pair.b().join("files"), made)?;
        pair.settle()?;
        let seconds = pair.restart_a()?;
        let pid = pair.pid_a()?;
        results.add(TITLE, Measure::Seconds, tool, seconds);
        let idle = measure_idle(pid, SPAN)?;
        results.add(TITLE, Measure::IdleCpu, tool, idle.cpu);
        results.add(TITLE, Measure::WakeUps, tool, idle.wake_ups);
        results.add(TITLE, Measure::IdleMemory, tool, memory(pid)? as f64);
        drop(pair);
        clear(&dir)?;
    }
    Ok(())
}
