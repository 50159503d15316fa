//! The official Python SDK: scripts of ours drive it, in a virtual environment of its own.

use super::{KEY, Running, program};
use crate::run::{root, show};
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// Exactly this: a newer judge is a change of its own.
const SDK: &str = "mcp==2.3.0";

/// Judges lines and sessions; the lines by the published schemas, too, if they are there.
pub(super) fn run(url: &str, schemas: Option<&Path>) -> Result<()> {
    python(url, "sdk.py", schemas.as_slice())?;
    recorded_session()
}

/// What the documentation tells of a session is what happens. The session begins with a fresh service.
fn recorded_session() -> Result<()> {
    let service = Running::service()?;
    let recorded = root().join("docs/assistants-session.md");
    python(
        &service.url,
        "record.py",
        &[Path::new("--check"), &recorded],
    )
}

/// A script of ours that works with the official SDK.
fn python(url: &str, script: &str, more: &[&Path]) -> Result<()> {
    let venv = root().join("target/judges/python");
    let python = venv.join("bin/python");
    let mark = venv.join(SDK);
    if !mark.exists() {
        show(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        show(Command::new(&python).args(["-m", "pip", "install", "--quiet", SDK]))?;
        std::fs::write(&mark, "")?;
    }
    let script = root().join("daemon/crates/mcp/tests/judges").join(script);
    show(
        Command::new(&python)
            // What Python compiles doesn't belong beside the scripts.
            .arg("-B")
            .arg(script)
            .arg(program("cairn"))
            .args([url, KEY])
            .args(more),
    )
}
