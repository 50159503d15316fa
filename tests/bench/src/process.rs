//! The figures of `/proc` for a process, and commands that run while their memory is watched.

use anyhow::{Context, Result, bail};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Clock ticks per second in `/proc/PID/stat`: 100 on every Linux that runs on common machines.
const TICKS: f64 = 100.0;
/// Between two looks at a running command; the peak is kept by the kernel, so none is missed.
const LOOK: Duration = Duration::from_millis(5);

/// One finished measurement.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Run {
    pub(crate) seconds: f64,
    /// Bytes both ways through the proxy.
    pub(crate) wire: u64,
    /// Peak resident memory of the client in bytes.
    pub(crate) peak: u64,
}

/// Peak resident memory in bytes.
pub(crate) fn peak_memory(pid: u32) -> Result<u64> {
    field(pid, "VmHWM:")
}

/// Present resident memory in bytes.
pub(crate) fn memory(pid: u32) -> Result<u64> {
    field(pid, "VmRSS:")
}

/// Processor seconds that a process has used.
pub(crate) fn cpu_seconds(pid: u32) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name in parentheses may hold spaces; user and system time are the 12th and 13th after it.
    let rest = stat
        .rsplit_once(')')
        .context("a stat line without a name")?
        .1;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks =
        |at: usize| -> Result<f64> { Ok(fields.get(at).context("a short stat line")?.parse()?) };
    Ok((ticks(11)? + ticks(12)?) / TICKS)
}

/// The use of the machine by a process that has nothing to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idle {
    /// Percent of one core.
    pub(crate) cpu: f64,
    /// Times a second that one of its threads was woken.
    pub(crate) wake_ups: f64,
}

/// Watches a process over a span of doing nothing.
pub(crate) fn measure_idle(pid: u32, span: Duration) -> Result<Idle> {
    let (cpu, switches) = (cpu_seconds(pid)?, switches(pid)?);
    thread::sleep(span);
    let seconds = span.as_secs_f64();
    Ok(Idle {
        cpu: (cpu_seconds(pid)? - cpu) / seconds * 100.0,
        wake_ups: since(&switches, &self::switches(pid)?) as f64 / seconds,
    })
}

/// Returns how often each thread of a process has gone to sleep so far: as often it was woken.
fn switches(pid: u32) -> Result<HashMap<OsString, u64>> {
    let mut all = HashMap::new();
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        let thread = thread?;
        // A thread may end between the list and the look.
        let Ok(status) = fs::read_to_string(thread.path().join("status")) else {
            continue;
        };
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        let count = line.context("a status without switches")?.trim().parse()?;
        all.insert(thread.file_name(), count);
    }
    Ok(all)
}

/// Adds up what was counted between two looks. A thread that has ended takes no other thread's count with it.
fn since(before: &HashMap<OsString, u64>, after: &HashMap<OsString, u64>) -> u64 {
    let new = after.iter().map(|(thread, count)| {
        let known = before.get(thread).copied().unwrap_or(0);
        count.saturating_sub(known)
    });
    new.sum()
}

fn field(pid: u32, name: &str) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    let kilobytes: u64 = kilobytes
        .with_context(|| format!("process {pid} has no {name}"))?
        .parse()?;
    Ok(kilobytes * 1024)
}

/// Runs a command to its end: seconds and peak memory.
pub(crate) fn run(command: &mut Command, log: &Path) -> Result<Run> {
    let output = fs::File::options().create(true).append(true).open(log)?;
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .spawn()
        .with_context(|| format!("{:?} can't be started", command.get_program()))?;
    let mut peak = 0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        peak = peak.max(peak_memory(child.id()).unwrap_or(0));
        thread::sleep(LOOK);
    };
    if !status.success() {
        let text = fs::read_to_string(log).unwrap_or_default();
        let tail: Vec<&str> = text.lines().rev().take(10).collect();
        bail!("{command:?} ended with {status}: {tail:?}");
    }
    Ok(Run {
        seconds: start.elapsed().as_secs_f64(),
        wire: 0,
        peak,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_memory_and_time() {
        let me = std::process::id();
        assert!(
            memory(me).unwrap() > 100_000 && peak_memory(me).unwrap() >= memory(me).unwrap() / 2
        );
        assert!(cpu_seconds(me).unwrap() >= 0.0);
    }

    #[test]
    fn a_thread_that_is_woken_is_counted() {
        let me = std::process::id();
        let (wake, woken) = std::sync::mpsc::channel::<()>();
        let (back, done) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || woken.iter().try_for_each(|()| back.send(())));
        let before = switches(me).unwrap();
        for _ in 0..100 {
            wake.send(()).unwrap();
            done.recv().unwrap();
        }
        // Tests run beside it, so more may be counted; a pair of threads that take turns sleeps nearly each time.
        assert!(since(&before, &switches(me).unwrap()) >= 50);
        drop(wake);
        thread.join().unwrap().unwrap();
    }

    #[test]
    fn a_thread_that_has_ended_takes_no_count_away() {
        let counts = |pairs: &[(&str, u64)]| {
            let pairs = pairs
                .iter()
                .map(|(name, count)| (OsString::from(name), *count));
            pairs.collect::<HashMap<_, _>>()
        };
        let before = counts(&[("stays", 10), ("ends", 1000)]);
        let after = counts(&[("stays", 13), ("new", 2)]);
        assert_eq!(since(&before, &after), 5);
    }

    #[test]
    fn a_command_that_fails_is_an_error_with_its_output() {
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo so it goes; exit 3"]);
        let error = run(&mut command, &dir.path().join("log"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("so it goes"), "{error}");
    }
}
