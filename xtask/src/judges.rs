//! Public clients of the MCP protocol as judges of ours: the official Python SDK, and the official
//! inspector's command line. What they need is installed below `target/`.

use crate::run::{root, show, succeeds};
use anyhow::{Context as _, Result, bail};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Exactly these: a newer judge is a change of its own.
const SDK: &str = "mcp==2.3.0";
const INSPECTOR: &str = "@modelcontextprotocol/inspector@2.12.0";

pub(crate) fn run() -> Result<()> {
    let server = Server::start()?;
    python(&server.url, "sdk.py", &[])?;
    recorded_session()?;
    if succeeds("npx", &["--version"]) {
        inspector(&server.url)
    } else {
        println!("the inspector is left out: there is no npx on this machine");
        Ok(())
    }
}

fn program(name: &str) -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    target
        .join("debug")
        .join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// A bundled server in memory, ended with the value.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start() -> Result<Self> {
        let mut child = Command::new(program("cairn-server"))
            .args(["serve", "--dev", "--ephemeral", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .context("can't start the bundled server")?;
        let output = child.stdout.take().context("its output is piped")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let url = line
            .trim()
            .rsplit(' ')
            .next()
            .unwrap_or_default()
            .to_owned();
        let server = Self { child, url };
        if !server.url.starts_with("http://") {
            bail!("the bundled server said `{}`", line.trim());
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; both ways it is gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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
            .arg(script)
            .arg(program("cairn"))
            .args([url, "ck_dev_owner"])
            .args(more),
    )
}

/// What the documentation tells of a session is what happens. The session begins with a fresh service.
fn recorded_session() -> Result<()> {
    let server = Server::start()?;
    let recorded = root().join("docs/assistants-session.md");
    python(&server.url, "record.py", &[Path::new("--check"), &recorded])
}

fn inspector(url: &str) -> Result<()> {
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
        .args(["-e", "SERVICE_API_KEY=ck_dev_owner"])
        .args(["-e", &format!("SERVICE_API_URL={url}")])
        .args(["-e", "CAIRN_MCP_SYNC=off"])
        .output()
        .context("can't run the inspector")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let problems = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || said.contains("\"isError\": true") {
        bail!("the inspector refuses {arguments:?}: {said}{problems}");
    }
    println!("the inspector with {}: good", arguments.join(" "));
    Ok(())
}
