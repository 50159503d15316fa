//! The tool server for assistants: time until it has answered the first request, and memory when idle. Assistants'
//! programs start one for each window, and keep it.

use super::Bench;
use crate::peer::Tool;
use crate::process::memory;
use crate::table::{Measure, Results, median};
use anyhow::{Context, Result, bail};
use cairn_e2e::binaries;
use cairn_e2e::device::{Device, Options};
use cairn_e2e::server::{OWNER_KEY, Server, Storage};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) const TITLE: &str = "the tool server for assistants, from its start to its first answer";
const STARTS: usize = 20;

pub(super) fn run(bench: &Bench, results: &mut Results) -> Result<()> {
    if !bench.has(Tool::Cairn) {
        return Ok(());
    }
    let dir = bench.part("assistant")?;
    let server = Server::start(Storage::Disk(dir.join("server")), dir.join("server.log"))?;
    let device = Device::new(&dir, "a", Options::default())?;
    device.login(&server.url(), OWNER_KEY)?;
    let (mut seconds, mut bytes) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let (time, memory) = start(device.home())?;
        seconds.push(time);
        bytes.push(memory);
    }
    let of = |values| median(values).context("nothing was measured");
    results.add(TITLE, Measure::Seconds, Tool::Cairn, of(seconds)?);
    results.add(TITLE, Measure::IdleMemory, Tool::Cairn, of(bytes)?);
    drop(server);
    super::clear(&dir)
}

/// The pause after which it counts as idle.
const IDLE: Duration = Duration::from_secs(3);

/// Returns the seconds until the server has answered `initialize`, and its memory when idle, after it has listed its
/// tools.
fn start(home: &Path) -> Result<(f64, f64)> {
    let begun = Instant::now();
    let mut child = Command::new(binaries::cairn()?)
        .arg("--home")
        .arg(home)
        .arg("mcp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("the tool server can't be started")?;
    let mut input = child.stdin.take().context("it has no input")?;
    let mut output = BufReader::new(child.stdout.take().context("it has no output")?);
    let mut ask = |id: u32, method: &str, params: Value| -> Result<()> {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(input, "{request}")?;
        let mut line = String::new();
        output.read_line(&mut line)?;
        if !line.contains("\"result\"") {
            bail!("{method} was answered with {line:?}");
        }
        Ok(())
    };
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "bench", "version": "1" },
    });
    ask(1, "initialize", hello)?;
    let seconds = begun.elapsed().as_secs_f64();
    ask(2, "tools/list", json!({}))?;
    thread::sleep(IDLE);
    let bytes = memory(child.id())? as f64;
    drop(input);
    child.wait()?;
    Ok((seconds, bytes))
}
