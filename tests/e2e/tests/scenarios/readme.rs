//! The README's five minutes, as a reader would type them.

use anyhow::{Context as _, Result, ensure};
use cairn_e2e::binaries;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
/// The address that the README's server listens on.
const ADDRESS: &str = "127.0.0.1:8787";

/// The differences from a reader's machine: the port, the keyring, and the hands that type the passphrase.
const BEFORE: &str = include_str!("../../five-minutes.sh");

/// Returns the commands of the section with a title.
fn commands<'a>(text: &'a str, title: &str) -> Result<&'a str> {
    let (_, section) = text.split_once(title).context("the section is gone")?;
    let (_, block) = section.split_once("```sh\n").context("it has no block")?;
    let (block, _) = block.split_once("```").context("the block has no end")?;
    Ok(block)
}

fn bash(script: &str, home: &Path, address: &str) -> Result<String> {
    let programs = binaries::cairn()?;
    let programs = programs.parent().context("a program lies in a folder")?;
    let path = std::env::var("PATH").context("there is a PATH")?;
    let output = Command::new("bash")
        .args(["-c", script])
        .env("HOME", home)
        .env("PATH", format!("{}:{path}", programs.display()))
        .env("SERVER", binaries::server()?)
        .env("ADDRESS", address)
        .env("CAIRN_KDF_MEMORY_MIB", "64")
        .env("CAIRN_KDF_ITERATIONS", "600000")
        .env("XDG_RUNTIME_DIR", home)
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_DATA_HOME")
        .env_remove("XDG_STATE_HOME")
        .env_remove("CAIRN_HOME")
        .env_remove("CAIRN_API_KEY")
        .current_dir(home)
        .output()?;
    ensure!(
        output.status.success(),
        "{}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8(output.stdout)?)
}

#[test]
fn the_five_minutes_of_the_readme_sync_a_file() -> Result<()> {
    let text = std::fs::read_to_string(README)?;
    let block = commands(&text, "## Five minutes")?;
    let free = TcpListener::bind("127.0.0.1:0")?;
    let address = free.local_addr()?.to_string();
    drop(free);
    let home = tempfile::tempdir()?;
    std::fs::write(
        home.path().join("passphrase"),
        "correct horse battery staple",
    )?;
    let started = "cairn-server --data ~/cairn-data &";
    ensure!(block.contains(started), "the README starts no server");
    let block = block.replacen(started, &format!("{started} server=$!; trap end EXIT;"), 1);
    let script = format!("{BEFORE}{}", block.replace(ADDRESS, &address));
    let printed = bash(&script, home.path(), &address)?;
    ensure!(printed.contains("hello\n"), "{printed}");
    Ok(())
}
