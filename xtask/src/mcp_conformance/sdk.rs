//! The official Python SDK: scripts of ours drive it, in a virtual environment of its own.

use crate::python::environment;
use crate::run::{program, root, run_command};
use crate::served_program::{DEV_KEY, ServedProgram};
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// Exactly this: a newer version is a change of its own.
const SDK: &str = "mcp==2.3.0";

/// Checks lines and sessions; the lines by the published schemas, too, if they are there.
pub(super) fn run(url: &str, schemas: Option<&Path>) -> Result<()> {
    python(url, "sdk.py", schemas.as_slice())?;
    recorded_session()
}

/// Checks that the recorded session of the documentation is still true. The session begins with a fresh service.
fn recorded_session() -> Result<()> {
    let service = ServedProgram::dev_server()?;
    let recorded = root().join("docs/assistants-session.md");
    python(
        &service.url,
        "record.py",
        &[Path::new("--check"), &recorded],
    )
}

/// A script of ours that works with the official SDK.
fn python(url: &str, script: &str, more: &[&Path]) -> Result<()> {
    let programs = environment("mcp-conformance/python", SDK)?;
    let scripts = root().join("daemon/crates/mcp/tests/conformance");
    run_command(
        Command::new(programs.join("python"))
            // What Python compiles doesn't belong beside the scripts.
            .arg("-B")
            .arg(scripts.join(script))
            .arg(program("cairn"))
            .args([url, DEV_KEY])
            .args(more),
    )
}
