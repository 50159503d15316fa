//! A client's side of one session: lines of JSON out, lines of JSON in, each of them kept.

use cairn_mcp::Server;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex,
    split,
};
use tokio::task::JoinHandle;

pub(crate) struct Session {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    server: JoinHandle<Result<(), cairn_mcp::ServeError>>,
    next: u64,
    /// Notifications, in the order of their arrival.
    pub(crate) notifications: Vec<Value>,
    /// With it, the stateless protocol is spoken.
    meta: Option<Value>,
}

impl Session {
    pub(crate) fn over(server: Server) -> Self {
        let (ours, theirs) = duplex(1024 * 1024);
        let (their_reader, their_writer) = split(theirs);
        let server = tokio::spawn(server.serve(their_reader, their_writer));
        let (reader, writer) = split(ours);
        Self {
            reader: BufReader::new(reader),
            writer,
            server,
            next: 1,
            notifications: Vec::new(),
            meta: None,
        }
    }

    /// Speaks the stateless protocol from now on.
    pub(crate) fn stateless(mut self, capabilities: Value) -> Self {
        self.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }));
        self
    }

    pub(crate) async fn initialize(&mut self, capabilities: Value) -> Value {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" },
        });
        let response = self.request("initialize", params).await;
        self.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        response
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.send_line(&message.to_string()).await;
    }

    pub(crate) async fn send_line(&mut self, line: &str) {
        self.writer
            .write_all(format!("{line}\n").as_bytes())
            .await
            .expect("the server reads");
    }

    /// The next line, whatever it is; `None` at the end.
    pub(crate) async fn line(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line).await.expect("a line");
        (read > 0).then(|| serde_json::from_str(&line).expect("every line is JSON"))
    }

    /// Begins a request and gives its id.
    pub(crate) async fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        if let Some(meta) = &self.meta {
            let merged = match params.get("_meta") {
                Some(Value::Object(own)) => {
                    let mut merged = meta.as_object().cloned().unwrap_or_default();
                    merged.extend(own.clone());
                    Value::Object(merged)
                }
                _ => meta.clone(),
            };
            params["_meta"] = merged;
        }
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
        id
    }

    /// The response to a request; notifications before it are kept, requests of the server handed out.
    pub(crate) async fn response_or_request(&mut self, id: u64) -> Value {
        loop {
            let line = self.line().await.expect("the server answers");
            assert_eq!(line["jsonrpc"], "2.0", "{line}");
            if line["id"] == id || (line.get("id").is_some() && line.get("method").is_some()) {
                return line;
            }
            assert!(line.get("method").is_some(), "nobody asked for {line}");
            self.notifications.push(line);
        }
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.response_or_request(id).await
    }

    /// Calls a tool and gives its result.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let response = self.request("tools/call", params).await;
        assert!(response.get("error").is_none(), "{tool}: {response}");
        response["result"].clone()
    }

    /// Calls a tool, which has to succeed, and gives what it says.
    pub(crate) async fn call_ok(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments.clone()).await;
        assert_ne!(result["isError"], true, "{tool} with {arguments}: {result}");
        text(&result)
    }

    /// Calls a tool, which has to fail in the one shape of failures, and gives its message.
    pub(crate) async fn call_err(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments.clone()).await;
        failure(&result).unwrap_or_else(|| panic!("{tool} with {arguments} succeeded: {result}"))
    }

    /// Closes the input and waits for the server's end.
    pub(crate) async fn end(mut self) {
        self.writer
            .shutdown()
            .await
            .expect("the input can be closed");
        while self.line().await.is_some() {}
        self.server
            .await
            .expect("it does not panic")
            .expect("it ends well");
    }
}

/// Returns the text of a result, read as JSON.
pub(crate) fn text(result: &Value) -> Value {
    let content = result["content"].as_array().expect("content");
    assert_eq!(content.len(), 1, "{result}");
    assert_eq!(content[0]["type"], "text");
    let text = content[0]["text"].as_str().expect("text");
    serde_json::from_str(text).expect("it is JSON")
}

/// The message of a failure in the service's shape.
pub(crate) fn failure(result: &Value) -> Option<String> {
    if result["isError"] != true {
        return None;
    }
    let reply = text(result);
    let fields = reply.as_object().expect("an object");
    assert_eq!(fields.len(), 1, "{reply}");
    Some(reply["error"].as_str().expect("a message").to_owned())
}
