//! The published OpenAPI documents: well made (Redocly), and true of the running server (Schemathesis).
//!
//! Both tools are pinned in `tests/openapi` and fetched when they are missing.

use crate::npm;
use crate::python::environment;
use crate::run::{program, root, run_command, target};
use crate::served_program::{DEV_KEY, ServedProgram};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Random requests to one operation, in `cargo xtask test`: all take about a minute.
pub(crate) const QUICK_REQUESTS: u32 = 25;
/// The same requests each time.
const SEED: &str = "1";
/// A stream without an end, and bodies that are no JSON.
const EXCLUDED_PATHS: [&str; 2] = ["/api/v1/changes/stream", "/api/v1/uploads/batch"];
/// The end of the account that all requests come from: after it, every write is refused. It comes last.
const LAST: &str = "DELETE /api/v1/useraccount";
/// The account of [`DEV_KEY`].
const ACCOUNT: &str = "owner@example.com";

fn dir() -> PathBuf {
    root().join("tests/openapi")
}

/// Checks the whole document and that of each module.
pub(crate) fn lint() -> Result<()> {
    let dir = dir();
    npm::install(&dir, &["--ignore-scripts"])?;
    let documents = target().join("openapi");
    fs::create_dir_all(&documents)?;
    let mut redocly = Command::new("npx");
    redocly
        .current_dir(&dir)
        .env("REDOCLY_TELEMETRY", "off")
        .args([
            "--no-install",
            "redocly",
            "lint",
            "--config",
            "redocly.yaml",
        ]);
    redocly.arg(write(&documents, "whole", &["openapi"])?);
    for module in modules()? {
        redocly.arg(write(&documents, &module, &["openapi", &module])?);
    }
    run_command(&mut redocly)
}

/// Writes a document to a file and returns its path.
fn write(documents: &Path, name: &str, args: &[&str]) -> Result<PathBuf> {
    let path = documents.join(format!("{name}.json"));
    fs::write(&path, document(args)?)?;
    Ok(path)
}

fn document(args: &[&str]) -> Result<Vec<u8>> {
    let server = program("cairn-server");
    let output = Command::new(&server)
        .args(args)
        .output()
        .with_context(|| format!("can't run {}; build it first", server.display()))?;
    if !output.status.success() {
        bail!("`cairn-server {}` failed", args.join(" "));
    }
    Ok(output.stdout)
}

fn modules() -> Result<Vec<String>> {
    let whole: serde_json::Value = serde_json::from_slice(&document(&["openapi"])?)?;
    let tags = whole["tags"]
        .as_array()
        .context("the document has no tags")?;
    Ok(tags
        .iter()
        .filter_map(|tag| tag["name"].as_str().map(str::to_owned))
        .collect())
}

/// Sends the running server what the document allows and what it forbids, alone and in sequences: no response may be
/// one that is not described, and nothing forbidden may be accepted.
pub(crate) fn probe(requests: u32) -> Result<()> {
    let requirements = fs::read_to_string(dir().join("requirements.txt"))?;
    let programs = environment("schemathesis", &requirements)?;
    let data = tempfile::tempdir()?;
    let server = ServedProgram::dev_server_in(data.path())?;
    // Else all that administrators do would be refused.
    let mut role = Command::new(program("cairn-server"));
    role.args(["user", "role", ACCOUNT, "--set", "admin", "--data"]);
    run_command(role.arg(data.path()))?;
    let run = || {
        let mut command = Command::new(programs.join("schemathesis"));
        command
            .current_dir(target())
            .env("SCHEMATHESIS_HOOKS", dir().join("hooks.py"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .arg("--config-file")
            .arg(dir().join("schemathesis.toml"))
            .arg("run")
            .arg(format!("{}/api/v1/openapi.json", server.url))
            .arg("--header")
            .arg(format!("Authorization: Bearer {DEV_KEY}"))
            .args(["--seed", SEED, "--max-examples", &requests.to_string()])
            .args(["--warnings", "off", "--request-timeout", "20"])
            .args(["--generation-database", "none", "--no-color"]);
        command
    };
    let mut all = run();
    for path in EXCLUDED_PATHS {
        all.args(["--exclude-path", path]);
    }
    run_command(all.args(["--exclude-name", LAST]))?;
    let mut last = run();
    last.args(["--phases", "coverage,fuzzing"])
        .args(["--exclude-checks", "account_in_use"]);
    run_command(last.args(["--include-name", LAST]))
}
