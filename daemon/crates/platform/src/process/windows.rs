//! Processes on Windows, through its own programs.

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

/// CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP
const DETACHED: u32 = 0x0800_0000 | 0x0000_0200;

pub(super) fn detach(command: &mut Command) {
    std::os::windows::process::CommandExt::creation_flags(command, DETACHED);
}

/// The system writes dumps only where an administrator has enabled them.
pub(super) fn forbid_core_dumps() {}

pub(super) fn forbid_inspection() {}

/// A detached process has no terminal.
pub(super) fn leave_terminal() {}

pub(super) async fn wait_for_stop_request() -> io::Result<()> {
    tokio::signal::ctrl_c().await
}

pub(super) fn has_display() -> bool {
    true
}

pub(super) fn browser() -> Command {
    let mut command = Command::new("rundll32");
    command.arg("url.dll,FileProtocolHandler");
    command
}
