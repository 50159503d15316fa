//! A value in the Run key of the user's registry, set with the system's own `reg`.

use super::Autostart;
use std::io;
use std::process::{Command, Output};

const RUN_KEY: &str = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Run";

/// There is one key for each user.
pub(super) struct Locations;

#[expect(
    clippy::unnecessary_wraps,
    reason = "the other systems can fail to find the directories"
)]
pub(super) fn locations() -> io::Result<Locations> {
    Ok(Locations)
}

pub(super) fn enable(autostart: &Autostart, _locations: &Locations) -> io::Result<String> {
    // A path on Windows holds no quotes.
    let command: Vec<String> = autostart
        .command()
        .iter()
        .map(|word| format!("\"{word}\""))
        .collect();
    let value = command.join(" ");
    succeed(&reg(&[
        "add",
        RUN_KEY,
        "/v",
        &autostart.id,
        "/t",
        "REG_SZ",
        "/d",
        &value,
        "/f",
    ])?)?;
    Ok(format!("wrote the value {} in {RUN_KEY}", autostart.id))
}

pub(super) fn disable(autostart: &Autostart, locations: &Locations) -> io::Result<()> {
    if is_enabled(autostart, locations) {
        succeed(&reg(&["delete", RUN_KEY, "/v", &autostart.id, "/f"])?)?;
    }
    Ok(())
}

pub(super) fn is_enabled(autostart: &Autostart, _locations: &Locations) -> bool {
    reg(&["query", RUN_KEY, "/v", &autostart.id]).is_ok_and(|found| found.status.success())
}

fn reg(arguments: &[&str]) -> io::Result<Output> {
    Command::new("reg").args(arguments).output()
}

fn succeed(output: &Output) -> io::Result<()> {
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(io::Error::other(format!(
        "can't change {RUN_KEY}: {message}"
    )))
}
