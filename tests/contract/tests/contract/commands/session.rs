//! One session with `cairn mcp` as a client starts it: a real process and its streams.

use crate::commands::world::{World, program};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub(crate) struct Session {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Session {
    /// Starts the program with these variables and shakes hands.
    pub(crate) fn start(world: &World, home: &str, variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(program());
        command
            .arg("--home")
            .arg(world.path(home))
            .args(["--log", "trace", "mcp"])
            .envs(variables.iter().copied())
            .env("CAIRN_KDF_MEMORY_MIB", "64")
            .env("CAIRN_KDF_ITERATIONS", "600000")
            .current_dir(world.dir.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("the program can be run");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut session = Self {
            child,
            input,
            output,
            next: 1,
        };
        let response = session.ask(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            }),
        );
        assert_eq!(
            response["result"]["serverInfo"]["name"], "cairn",
            "{response}"
        );
        session.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        session
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("it is open");
        writeln!(input, "{message}").expect("the server reads");
    }

    /// Every line on stdout is the protocol's: anything else fails here.
    pub(crate) fn line(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line).expect("a line");
        (read > 0).then(|| {
            let value: Value = serde_json::from_str(&line)
                .unwrap_or_else(|e| panic!("stdout has no JSON ({e}): {line:?}"));
            assert_eq!(value["jsonrpc"], "2.0", "{line}");
            value
        })
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let line = self.line().expect("the server answers");
            if line["id"] == id {
                return line;
            }
        }
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let response = self.ask("tools/call", params);
        let result = &response["result"];
        assert_ne!(result["isError"], true, "{tool}: {response}");
        let text = result["content"][0]["text"].as_str().expect("text");
        serde_json::from_str(text).expect("it is JSON")
    }

    /// Reads lines up to a notification of this method.
    pub(crate) fn notification(&mut self, method: &str) -> Value {
        loop {
            let line = self.line().expect("the server goes on");
            if line["method"] == method {
                return line["params"].clone();
            }
        }
    }

    /// Closes the input and gives the exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        self.input = None;
        while self.line().is_some() {}
        self.child.wait().expect("it ends").code()
    }
}
