//! The official inspector's command line: it lists what there is, and refuses schemas that some client
//! can't use.

use crate::run::program;
use crate::served_program::DEV_KEY;
use anyhow::{Context as _, Result, bail};
use std::path::Path;
use std::process::Command;

/// Exactly this: a newer version is a change of its own.
const INSPECTOR: &str = "@modelcontextprotocol/inspector@2.12.0";

pub(super) fn run(url: &str) -> Result<()> {
    for arguments in [
        // Strictly: a schema that some client can't use is a failure.
        &["--method", "tools/list", "--strict"][..],
        &[
            "--method",
            "tools/list",
            "--strict",
            "--protocol-era",
            "modern",
        ],
        &["--method", "resources/list"],
        &["--method", "resources/templates/list"],
        &["--method", "prompts/list"],
        &["--method", "tools/call", "--tool-name", "list_files"],
    ] {
        inspect(url, arguments, &program("cairn"))?;
    }
    Ok(())
}

fn inspect(url: &str, arguments: &[&str], cairn: &Path) -> Result<()> {
    let output = Command::new("npx")
        .args(["--yes", INSPECTOR, "--cli"])
        .arg(cairn)
        .arg("mcp")
        .args(arguments)
        // It hands on what it is told to, and nothing of its own environment.
        .args(["-e", &format!("SERVICE_API_KEY={DEV_KEY}")])
        .args(["-e", &format!("SERVICE_API_URL={url}")])
        .args(["-e", "CAIRN_MCP_SYNC=off"])
        .output()
        .context("can't run the inspector")?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let problems = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || stdout.contains("\"isError\": true") {
        bail!("the inspector refuses {arguments:?}: {stdout}{problems}");
    }
    println!("the inspector with {}: good", arguments.join(" "));
    Ok(())
}
