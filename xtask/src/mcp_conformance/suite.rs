//! The protocol's own conformance suite: its scenarios, against the tools over HTTP, and the published
//! schemas, which it brings along. HTTP is all it speaks, so a program is built that nothing else needs.

use crate::run::{checking_cargo, program, root, run_command};
use crate::served_program::{DEV_KEY, ServedProgram};
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Exactly this: scenarios, schemas and expected failures belong together.
const SUITE: &str = "@modelcontextprotocol/conformance@0.2.0-alpha.12";

/// Revisions of the protocol whose requirements are run, each with expected failures of its own.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// The check that the suite adds to each scenario.
const WELL_FORMED: &str = "wire-schema-valid";

/// The suite on this machine.
pub(super) struct Suite {
    program: PathBuf,
}

impl Suite {
    pub(super) fn install() -> Result<Self> {
        let dir = work_dir().join("suite");
        let mark = dir.join(SUITE.replace('/', "-"));
        if !mark.exists() {
            fs::create_dir_all(&dir)?;
            let mut npm = Command::new("npm");
            npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund"])
                .args(["--loglevel", "error", "--prefix"])
                .arg(&dir)
                .arg(SUITE);
            run_command(&mut npm)?;
            fs::write(&mark, "")?;
        }
        let package = dir.join("node_modules/@modelcontextprotocol/conformance");
        Ok(Self {
            program: package.join("dist/index.js"),
        })
    }

    /// Writes the published schemas of all revisions into one file.
    pub(super) fn schemas(&self) -> Result<PathBuf> {
        let file = work_dir().join("schemas.json");
        let mut node = Command::new("node");
        node.arg(scripts().join("schemas.mjs")).arg(&self.program);
        fs::write(&file, stdout_of(&mut node)?)?;
        Ok(file)
    }

    /// Runs what each revision requires of a server.
    pub(super) fn run(&self, service: &str) -> Result<()> {
        build()?;
        let mut command = Command::new(program("examples/mcp-http"));
        command
            .env("SERVICE_API_KEY", DEV_KEY)
            .env("SERVICE_API_URL", service);
        let tools = ServedProgram::start(&mut command)?;
        for revision in REVISIONS {
            self.meets(&tools.url, revision)?;
        }
        Ok(())
    }

    /// A failure that is not expected ends this, and so does an expected one that didn't happen.
    fn meets(&self, url: &str, revision: &str) -> Result<()> {
        let results = work_dir().join("results").join(revision);
        if results.exists() {
            fs::remove_dir_all(&results)?;
        }
        let expected = scripts().join(format!("conformance-{revision}.yaml"));
        let mut node = Command::new("node");
        node.arg(scripts().join("conformance.mjs"))
            .arg(&self.program)
            .args(["server", "--url", url, "--requirements", revision])
            .arg("--expected-failures")
            .arg(expected)
            .arg("--output-dir")
            .arg(&results);
        stdout_of(&mut node)?;
        let messages = count_well_formed(&results)?;
        println!("the conformance scenarios of {revision}, {messages} messages: good");
        Ok(())
    }
}

/// The program is an example, built with what the workspace's tests are built with: so only the protocol's
/// library and the tools are built once more.
fn build() -> Result<()> {
    run_command(
        checking_cargo()?
            .args(["build", "--workspace", "--example", "mcp-http"])
            .args(["--features", "cairn-mcp/http", "--locked"]),
    )
}

fn work_dir() -> PathBuf {
    root().join("target/mcp-conformance")
}

fn scripts() -> PathBuf {
    root().join("daemon/crates/mcp/tests/conformance")
}

/// Returns the stdout of a program that has to succeed.
fn stdout_of(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output().context("can't run Node.js")?;
    if !output.status.success() {
        bail!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(output.stdout)
}

/// Counts the messages of all scenarios. Each has to be as the schema wants it, in scenarios that are
/// expected to fail and in those that aren't required, too.
fn count_well_formed(results: &Path) -> Result<u64> {
    let mut messages = 0;
    for scenario in fs::read_dir(results)? {
        let file = scenario?.path().join("checks.json");
        let checks: Vec<Value> = serde_json::from_slice(&fs::read(&file)?)?;
        for check in checks.iter().filter(|check| check["id"] == WELL_FORMED) {
            if check["status"] != "SUCCESS" {
                bail!("{}: {}", file.display(), check["errorMessage"]);
            }
            messages += check["details"]["messagesValidated"].as_u64().unwrap_or(0);
        }
    }
    if messages == 0 {
        bail!("no message was checked against a schema");
    }
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn results(checks: &[(&str, &str)]) -> tempfile::TempDir {
        let results = tempfile::tempdir().unwrap();
        let scenario = results.path().join("server-ping");
        fs::create_dir(&scenario).unwrap();
        let checks: Vec<_> = checks
            .iter()
            .map(|(id, status)| json!({ "id": id, "status": status, "details": { "messagesValidated": 3 } }))
            .collect();
        fs::write(scenario.join("checks.json"), json!(checks).to_string()).unwrap();
        results
    }

    #[test]
    fn every_message_has_to_be_as_the_schema_wants_it() {
        let good = results(&[("ping", "FAILURE"), (WELL_FORMED, "SUCCESS")]);
        assert_eq!(count_well_formed(good.path()).unwrap(), 3);
        for bad in [
            results(&[("ping", "SUCCESS"), (WELL_FORMED, "FAILURE")]),
            results(&[("ping", "SUCCESS")]),
        ] {
            assert!(count_well_formed(bad.path()).is_err());
        }
    }
}
