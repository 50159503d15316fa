//! Starts the daemon in the background, finds out whether a process runs, and makes it end.
//!
//! Knows processes only; whether a daemon responds, its socket shows.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as sys;
#[cfg(windows)]
use windows as sys;

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The name of the system that this program was built for, as the compiler spells it: `linux`.
pub const SYSTEM: &str = std::env::consts::OS;

/// Starts `exe` in the background, its output appended to `log`. The caller may watch the child for an
/// early end, or exit: the child goes on. It should call [`leave_terminal`] first thing.
///
/// # Errors
/// Returns the error of the system, with the path.
pub fn spawn_daemon<S: AsRef<OsStr>>(exe: &Path, args: &[S], log: &Path) -> io::Result<Child> {
    let out = open_log(log)?;
    daemon_command(exe, args)
        .stderr(out)
        .spawn()
        .map_err(|e| crate::disk::in_context("start the daemon", exe, e))
}

/// Starts `exe` in the background for one piece of work, with pipes at its stdin and stdout, and its errors appended to
/// `log`. The same holds for it as for a daemon: it goes on when the caller exits.
///
/// # Errors
/// Returns the error of the system, with the path.
pub fn spawn_worker<S: AsRef<OsStr>>(exe: &Path, args: &[S], log: &Path) -> io::Result<Child> {
    let errors = open_log(log)?;
    daemon_command(exe, args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(errors)
        .spawn()
        .map_err(|e| crate::disk::in_context("start the program", exe, e))
}

fn open_log(log: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(log)
        .map_err(|e| crate::disk::in_context("open the log", log, e))
}

fn daemon_command<S: AsRef<OsStr>>(exe: &Path, args: &[S]) -> Command {
    let mut command = Command::new(exe);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        // A secret for the command that starts it doesn't belong into a process that runs for weeks.
        .env_remove("CAIRN_API_KEY");
    sys::detach(&mut command);
    command
}

/// Forbids core dumps of this process and its children: they would write keys to the disk. Call it
/// before any secret is read. Failures are logged only, because nothing else depends on it.
pub fn forbid_core_dumps() {
    sys::forbid_core_dumps();
}

/// Forbids other processes of this user to read this one's memory (debuggers, `/proc/PID/mem`), where
/// the system can do that (Linux). Not for programs that use desktop portals, which read `/proc/PID`.
pub fn forbid_inspection() {
    sys::forbid_inspection();
}

/// Makes this process independent of the terminal that it was started from, so that closing the
/// terminal or typing Ctrl-C there doesn't end it.
pub fn leave_terminal() {
    sys::leave_terminal();
}

/// Returns whether a process with this id runs, whoever owns it.
#[must_use]
pub fn is_running(pid: u32) -> bool {
    sys::is_running(pid)
}

/// Requests a process to end in order (SIGTERM).
///
/// # Errors
/// `NotFound` where there is none, `PermissionDenied` where it belongs to another user.
pub fn terminate(pid: u32) -> io::Result<()> {
    sys::terminate(pid)
        .map_err(|e| io::Error::new(e.kind(), format!("can't stop process {pid}: {e}")))
}

/// Waits until the system or the user requests this process to end: SIGTERM, SIGINT, Ctrl-C.
///
/// # Errors
/// Returns the error of the system where the signals can't be received.
pub async fn wait_for_stop_request() -> io::Result<()> {
    sys::wait_for_stop_request().await
}

/// Returns whether windows can be shown. Only on Linux this can be false: a server has no display.
#[must_use]
pub fn has_display() -> bool {
    sys::has_display()
}

/// Opens a web page in the user's browser.
///
/// # Errors
/// `InvalidInput` for anything but http and https, or the system's where there is no browser to start.
pub fn open_url(url: &str) -> io::Result<()> {
    if !(url.starts_with("https://") || url.starts_with("http://")) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("`{url}` is not a web address"),
        ));
    }
    let status = sys::browser()
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!(
            "no browser could be started ({status}); open {url} yourself"
        )))
    }
}

/// Returns the name of this machine without its domain: the default name of a device.
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
    fn a_worker_has_pipes_at_both_ends_and_its_errors_in_the_log() {
        use std::io::{Read as _, Write as _};
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let script = ["-c", "read word; echo \"did $word\"; echo no luck >&2"];
        let mut child = spawn_worker(Path::new("/bin/sh"), &script, &log).unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"this\n").unwrap();
        let mut printed = String::new();
        let mut output = child.stdout.take().unwrap();
        output.read_to_string(&mut printed).unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(printed, "did this\n");
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "no luck\n");
    }

    #[test]
    fn the_daemon_does_not_inherit_an_api_key() {
        let command = daemon_command(Path::new("cairn"), &["daemon"]);
        let mut removed = command.get_envs().filter(|(_, value)| value.is_none());
        assert!(removed.any(|(name, _)| name == "CAIRN_API_KEY"));
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
