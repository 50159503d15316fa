//! Starting the daemon in the background, finding out whether it runs, and asking it to end.
//!
//! Knows processes only; that a daemon answers is told by its socket.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Starts `exe` in the background, its output appended to `log`. The caller may watch the child for an
/// early end, or exit: the child goes on. It should call [`leave_terminal`] first thing.
///
/// # Errors
/// The system's, with the path.
pub fn spawn_daemon<S: AsRef<OsStr>>(exe: &Path, args: &[S], log: &Path) -> io::Result<Child> {
    let out = OpenOptions::new()
        .create(true)
        .append(true)
        .open(log)
        .map_err(|e| crate::disk::in_context("open the log", log, e))?;
    let mut command = Command::new(exe);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(out);
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt as _;
        // CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP
        command.creation_flags(0x0800_0000 | 0x0000_0200);
    }
    command
        .spawn()
        .map_err(|e| crate::disk::in_context("start the daemon", exe, e))
}

/// Makes this process independent of the terminal that it was started from, so that closing the
/// terminal or typing Ctrl-C there doesn't end it.
pub fn leave_terminal() {
    #[cfg(unix)]
    if let Err(error) = rustix::process::setsid() {
        // A process that leads its group, like one started by a service manager, is independent already.
        tracing::debug!(%error, "stays in its session");
    }
}

/// Tells whether a process with this id runs, whoever owns it.
#[must_use]
pub fn is_running(pid: u32) -> bool {
    sys::is_running(pid)
}

/// Asks a process to end in order (SIGTERM).
///
/// # Errors
/// `NotFound` where there is none, `PermissionDenied` where it belongs to another user.
pub fn terminate(pid: u32) -> io::Result<()> {
    sys::terminate(pid)
        .map_err(|e| io::Error::new(e.kind(), format!("can't ask process {pid} to end: {e}")))
}

/// Waits until the system or the user asks this process to end: SIGTERM, SIGINT, Ctrl-C.
///
/// # Errors
/// The system's, where the signals can't be received.
pub async fn stop_requested() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        Ok(())
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

/// Opens a web page in the user's browser.
///
/// # Errors
/// `InvalidInput` for anything but http and https, or the system's where there is no browser to start.
pub fn open_url(url: &str) -> io::Result<()> {
    if !(url.starts_with("https://") || url.starts_with("http://")) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("`{url}` is no web address"),
        ));
    }
    let mut command = if cfg!(windows) {
        let mut command = Command::new("rundll32");
        command.arg("url.dll,FileProtocolHandler");
        command
    } else if cfg!(target_os = "macos") {
        Command::new("open")
    } else {
        Command::new("xdg-open")
    };
    let status = command
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!(
            "no browser could be started ({status}); open {url} by hand"
        )))
    }
}

/// What this machine is called, without its domain: the usual name of a device.
#[must_use]
pub fn host_name() -> String {
    let full = sys::host_name();
    let short = full.split('.').next().unwrap_or_default().trim();
    if short.is_empty() {
        "device".to_owned()
    } else {
        short.to_owned()
    }
}

#[cfg(unix)]
mod sys {
    use rustix::io::Errno;
    use rustix::process::{Pid, Signal, kill_process, test_kill_process};
    use std::io;

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
}

#[cfg(windows)]
mod sys {
    use std::io;
    use std::process::Command;

    pub(super) fn is_running(pid: u32) -> bool {
        Command::new("tasklist")
            .args(["/nh", "/fi", &format!("PID eq {pid}")])
            .output()
            .is_ok_and(|found| String::from_utf8_lossy(&found.stdout).contains(&pid.to_string()))
    }

    pub(super) fn terminate(pid: u32) -> io::Result<()> {
        let status = Command::new("taskkill")
            .args(["/pid", &pid.to_string()])
            .status()?;
        if status.success() {
            Ok(())
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    pub(super) fn host_name() -> String {
        std::env::var("COMPUTERNAME").unwrap_or_default()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_started_seen_running_and_ended() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let mut child = spawn_daemon(Path::new("/bin/sleep"), &["600"], &log).unwrap();
        assert!(is_running(child.id()));
        terminate(child.id()).unwrap();
        let status = child.wait().unwrap();
        assert!(!status.success());
        assert!(!is_running(child.id()));
        let again = terminate(child.id()).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn what_the_child_complains_about_goes_to_the_log() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let script = ["-c", "echo no luck >&2"];
        spawn_daemon(Path::new("/bin/sh"), &script, &log)
            .unwrap()
            .wait()
            .unwrap();
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "no luck\n");
    }

    #[test]
    fn only_web_addresses_are_opened() {
        for url in ["file:///etc/passwd", "-x", "javascript:1"] {
            let kind = open_url(url).unwrap_err().kind();
            assert_eq!(kind, io::ErrorKind::InvalidInput, "{url}");
        }
    }

    #[test]
    fn a_machine_has_a_name_without_dots() {
        let name = host_name();
        assert!(!name.is_empty() && !name.contains('.'), "{name}");
    }
}
