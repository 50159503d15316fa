//! Processes on Unix: signals and sessions.

use rustix::io::Errno;
#[cfg(target_os = "linux")]
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getrlimit, kill_process, setrlimit, test_kill_process,
};
use std::io;
use std::process::Command;
use tokio::signal::unix::{SignalKind, signal};

fn pid(raw: u32) -> io::Result<Pid> {
    i32::try_from(raw)
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}

pub(super) fn is_running(raw: u32) -> bool {
    pid(raw).is_ok_and(|pid| matches!(test_kill_process(pid), Ok(()) | Err(Errno::PERM)))
}

pub(super) fn terminate(raw: u32) -> io::Result<()> {
    match kill_process(pid(raw)?, Signal::TERM) {
        Err(Errno::SRCH) => Err(io::ErrorKind::NotFound.into()),
        result => Ok(result?),
    }
}

pub(super) fn host_name() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

/// A child leaves the terminal itself (see [`leave_terminal`]).
pub(super) fn detach(_: &mut Command) {}

pub(super) fn forbid_core_dumps() {
    // The hard limit stays, so that a child may raise its own again.
    let limit = Rlimit {
        current: Some(0),
        maximum: getrlimit(Resource::Core).maximum,
    };
    if let Err(error) = setrlimit(Resource::Core, limit) {
        tracing::debug!(%error, "core dumps stay possible");
    }
}

pub(super) fn forbid_inspection() {
    #[cfg(target_os = "linux")]
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        tracing::debug!(%error, "the memory stays open to other processes of this user");
    }
}

pub(super) fn leave_terminal() {
    if let Err(error) = rustix::process::setsid() {
        // A process that leads its group, like one started by a service manager, is independent already.
        tracing::debug!(%error, "stays in its session");
    }
}

pub(super) async fn wait_for_stop_request() -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

pub(super) fn has_display() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(not(target_os = "linux")) || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

pub(super) fn browser() -> Command {
    Command::new(if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use rustix::process::dumpable_behavior;

    #[test]
    fn this_process_is_neither_dumped_nor_read() {
        forbid_core_dumps();
        forbid_inspection();
        assert_eq!(getrlimit(Resource::Core).current, Some(0));
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        // What this process reads of itself stays readable.
        assert!(std::fs::read_to_string("/proc/self/mountinfo").is_ok());
        assert!(std::fs::read_dir("/proc/self/fd").is_ok());
    }
}
