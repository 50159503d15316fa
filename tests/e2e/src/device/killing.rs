//! A daemon that is killed at one of its system calls, with strace.

use super::Device;
use crate::wait;
use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Child;

/// The system calls that change something which outlives the process.
const CALLS: &str = "write,writev,pwrite64,sendto,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,\
                     fsync,fdatasync,ftruncate,fallocate,fchmod,utimensat";

impl Device {
    /// Runs the daemon until it is idle. Returns the number of calls that change something, of the thread that makes
    /// the most.
    ///
    /// # Errors
    /// It does not become idle, or there is no strace.
    pub fn count_calls(&mut self) -> Result<usize> {
        let trace = self.home.with_extension("trace");
        self.run_traced(&trace, &format!("trace={CALLS}"))?;
        let mut counts = BTreeMap::new();
        for line in fs::read_to_string(&trace)?.lines() {
            // A call that another thread's interrupted has two lines.
            if let Some((thread, call)) = line.split_once(' ')
                && call.contains('(')
                && !call.contains("resumed>")
            {
                *counts.entry(thread.to_owned()).or_insert(0) += 1;
            }
        }
        counts.into_values().max().context("nothing was traced")
    }

    /// Runs the daemon until it is killed when one of its threads makes its `n`th call that changes something, or until
    /// it is idle. Returns whether it was killed.
    ///
    /// # Errors
    /// It neither ends nor becomes idle, or there is no strace.
    pub fn run_until_killed(&mut self, n: usize) -> Result<bool> {
        let inject = format!("inject={CALLS}:signal=SIGKILL:when={n}");
        self.run_traced(Path::new("/dev/null"), &inject)
    }

    /// Returns whether the daemon was killed before it became idle.
    fn run_traced(&mut self, trace: &Path, expression: &str) -> Result<bool> {
        let trace = trace.display().to_string();
        let wrapper = [
            "strace",
            "-f",
            "--seccomp-bpf",
            "-qq",
            // Calls are counted for each thread: with more of them, a run's share differs from that of the next one.
            "-E",
            "TOKIO_WORKER_THREADS=1",
            "-o",
            &trace,
            "-e",
            expression,
            "--",
        ];
        let mut child = self.spawn(&wrapper.map(str::to_owned))?;
        let ended = wait::until("the daemon is killed or idle", wait::SYNC, || {
            if has_ended(&mut child)? {
                return Ok(Some(true));
            }
            let idle = self.cli(&["status", "--wait", "--timeout", "10"])?.code;
            Ok(matches!(idle, 0 | 5).then_some(false))
        });
        if matches!(ended, Ok(false)) {
            // It may be killed by this, too.
            self.cli(&["stop"])?;
        }
        let gone = wait::holds("the traced daemon ends", wait::PROCESS, || {
            has_ended(&mut child)
        });
        if gone.is_err() {
            child.kill()?;
            child.wait()?;
        }
        gone.and(ended)
    }
}

fn has_ended(child: &mut Child) -> Result<bool> {
    Ok(child.try_wait()?.is_some())
}
