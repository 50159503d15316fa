//! The official Python SDK: scripts of ours drive it, in a virtual environment of its own.

use super::KEY;
use crate::python::environment;
use crate::run::{program, root, run_command};
use crate::running::Running;
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

/// Checks that the recorded session of the documentation is still true. The session begins with a fresh service.
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
    let programs = environment("judges/python", SDK)?;
    let script = root().join("daemon/crates/mcp/tests/judges").join(script);
    run_command(
        Command::new(programs.join("python"))
            // What Python compiles doesn't belong beside the scripts.
            .arg("-B")
            .arg(script)
            .arg(program("cairn"))
            .args([url, KEY])
            .args(more),
    )
}
