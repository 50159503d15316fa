//! The checks of the tray: its window's page in Node.js and in a browser, the program on a virtual desktop.

use crate::npm;
use crate::run::{root, run_command, target};
use anyhow::{Context as _, Result, bail};
use std::process::Command;

/// The oldest version of Node.js that the page's tools accept.
const NODE: (u32, u32) = (20, 19);

/// Installs what the page is made with, checks it, tests its logic and builds it: the program has it
/// built in.
pub(crate) fn page() -> Result<()> {
    check_node()?;
    npm::install(&root().join("ui"), &[])?;
    for script in ["check", "unit", "build"] {
        run_command(&mut npm(&["run", "--silent", script]))?;
    }
    Ok(())
}

/// Tests the whole page in Chromium, with a fake of the program behind it (`ui/src/mocks.ts`).
pub(crate) fn browser() -> Result<()> {
    run_command(&mut npm(&["run", "--silent", "browser"]))
}

/// Tests the program with a real daemon and server, on a display and a message bus of its own.
pub(crate) fn desktop() -> Result<()> {
    let debug = target().join("debug");
    let work = tempfile::tempdir()?;
    let mut command = Command::new("xvfb-run");
    command
        .args(["-a", "-s", "-screen 0 1280x900x24 -nolisten tcp"])
        .args(["dbus-run-session", "--"])
        .args([
            "node",
            "--test",
            "--test-concurrency=1",
            "tests/real/desktop.test.mjs",
        ])
        .current_dir(root().join("ui"))
        // Programs that the session starts must not touch the user's own folders.
        .env("HOME", work.path())
        .env("CAIRN_TRAY_BIN", debug.join("cairn-tray"))
        .env("CAIRN_BIN", debug.join("cairn"))
        .env("CAIRN_SERVER_BIN", debug.join("cairn-server"));
    run_command(&mut command)
}

/// Draws the pictures of the documentation anew.
pub(crate) fn screenshots() -> Result<()> {
    run_command(npm(&["run", "--silent", "browser"]).env("CAIRN_SCREENSHOTS", "1"))
}

pub(crate) fn npm(arguments: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.args(arguments).current_dir(root().join("ui"));
    command
}

fn check_node() -> Result<()> {
    let output = Command::new("node")
        .arg("--version")
        .output()
        .context("the tray's window is made with Node.js: install version 20.19 or newer")?;
    let text = String::from_utf8_lossy(&output.stdout);
    if version(&text).is_none_or(|found| found < NODE) {
        bail!(
            "Node.js {} is too old for the tray's window: install version {}.{} or newer",
            text.trim(),
            NODE.0,
            NODE.1
        );
    }
    Ok(())
}

/// The first two numbers of `v20.20.2`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.trim().strip_prefix('v')?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_node_are_compared_by_number() {
        assert_eq!(version("v20.20.2\n"), Some((20, 20)));
        assert!(version("v9.99.0") < Some(NODE));
        assert!(version("v22.1.0") > Some(NODE));
        assert_eq!(version("20.1"), None);
    }
}
