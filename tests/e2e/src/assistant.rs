//! An assistant's program: a session with `cairn mcp`, in lines over its pipes.

use crate::binaries;
use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A session of a program that knows tasks; its server is killed when it is dropped.
#[derive(Debug)]
pub struct Assistant {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Assistant {
    /// Starts a session with the account of a home.
    ///
    /// # Errors
    /// The program can't be run.
    pub fn start(home: &Path) -> Result<Self> {
        let mut child = Command::new(binaries::cairn()?)
            .arg("--home")
            .arg(home)
            .arg("mcp")
            .env_remove("SERVICE_API_KEY")
            .env("CAIRN_LOG", "debug")
            // Programs end what they started as a group.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("`cairn mcp` can't be started")?;
        let input = child.stdin.take().context("no stdin")?;
        let output = BufReader::new(child.stdout.take().context("no stdout")?);
        Ok(Self {
            child,
            input,
            output,
            next: 1,
        })
    }

    /// Makes a request and returns its result.
    ///
    /// # Errors
    /// The server ended, or responded with an error of the protocol.
    pub fn request(&mut self, method: &str, mut params: Value) -> Result<Value> {
        let id = self.next;
        self.next += 1;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {
                "extensions": { "io.modelcontextprotocol/tasks": {} },
            },
        });
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(self.input, "{request}")?;
        loop {
            let mut line = String::new();
            ensure!(self.output.read_line(&mut line)? > 0, "the server ended");
            let mut line: Value = serde_json::from_str(&line)?;
            if line["id"] != id {
                continue;
            }
            if let Some(error) = line.get("error") {
                bail!("{method}: {error}");
            }
            return Ok(line["result"].take());
        }
    }

    /// Calls a tool and returns its result, whatever kind of result it is.
    ///
    /// # Errors
    /// Fails like [`Assistant::request`].
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        self.request(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// Returns the state of a task.
    ///
    /// # Errors
    /// Fails like [`Assistant::request`].
    pub fn task(&mut self, id: &Value) -> Result<Value> {
        self.request("tasks/get", json!({ "taskId": id }))
    }

    /// Ends the server with everything in its group of processes.
    ///
    /// # Errors
    /// It can't be killed.
    pub fn kill9(mut self) -> Result<()> {
        let pid = i32::try_from(self.child.id())?;
        let group = Pid::from_raw(pid).context("no process")?;
        kill_process_group(group, Signal::KILL)?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Assistant {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
