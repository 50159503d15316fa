//! One line about the machine that the figures come from.

use std::fs;
use std::process::Command;
use std::thread;

/// Processor, cores, memory and kernel, as far as they can be found out.
pub(crate) fn describe() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
        .map_or("unknown processor", |(_, name)| name.trim());
    let cores = thread::available_parallelism().map_or(0, usize::from);
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kilobytes: u64 = memory
        .lines()
        .find_map(|line| {
            line.strip_prefix("MemTotal:")?
                .split_whitespace()
                .next()?
                .parse()
                .ok()
        })
        .unwrap_or(0);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "{model}, {cores} cores, {} GiB of memory, Linux {}",
        kilobytes / 1024 / 1024,
        kernel.trim()
    )
}

/// Waits until what was written so far lies on the disk: nobody's time pays for another's data.
pub(crate) fn settle_disk() {
    // Where there is no such program, all tools are measured without.
    if !Command::new("sync")
        .status()
        .is_ok_and(|status| status.success())
    {
        eprintln!("`sync` can't be run: earlier writes may go on during a measurement");
    }
}

/// The first line that a program says about its version.
pub(crate) fn version(program: &str, argument: &str) -> Option<String> {
    let output = Command::new(program).arg(argument).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output
        .status
        .success()
        .then(|| text.lines().next().unwrap_or_default().trim().to_owned())
}
