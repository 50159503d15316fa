//! JSON-RPC over lines of text. It turns every line into something that the protocol library can handle:
//! arguments that are no object reach the tool's own check, what can't be read gets an error with its id,
//! and nothing ends the session but the end of the input. An error whose id is unknown has none: so the protocol
//! wants it.

use super::unreadable::{self, IdFinder};
use crate::arguments::NOT_AN_OBJECT;
use crate::quote::quote;
use rmcp::RoleServer;
use rmcp::model::{ClientRequest, ErrorCode, ErrorData, JsonRpcRequest, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Mutex, watch};

/// The longest accepted line in bytes; a longer one gets an error.
const MAX_LINE: usize = 16 * 1024 * 1024;

/// The methods of this server: a request for one of them that can't be read has invalid parameters.
const METHODS: [&str; 17] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
];

type Incoming = RxJsonRpcMessage<RoleServer>;
type Outgoing = TxJsonRpcMessage<RoleServer>;

/// A transport with one JSON-RPC message per line.
pub(super) struct LineTransport<R, W> {
    reader: BufReader<R>,
    /// The line so far: reading may be interrupted at any point.
    line: Vec<u8>,
    /// The search for the id of a line that is too long to be kept.
    overlong: Option<IdFinder>,
    /// The messages of a batch that are still to be handled.
    queued: VecDeque<Value>,
    writer: Arc<Mutex<W>>,
    /// Until the first request, other messages are ignored.
    request_seen: bool,
    /// Gets true at the end of the input.
    ended: watch::Sender<bool>,
}

/// A line after parsing.
enum ParsedLine {
    Message(Box<Incoming>),
    /// A reply to send at once.
    Reply(Box<Outgoing>),
    Ignored,
}

impl<R: AsyncRead + Unpin, W> LineTransport<R, W> {
    pub(super) fn new(reader: R, writer: W, ended: watch::Sender<bool>) -> Self {
        Self {
            reader: BufReader::new(reader),
            line: Vec::new(),
            overlong: None,
            queued: VecDeque::new(),
            writer: Arc::new(Mutex::new(writer)),
            request_seen: false,
            ended,
        }
    }

    /// Returns the next whole line, `None` at the end of the input. Cancel-safe.
    async fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                let rest = std::mem::take(&mut self.line);
                return Ok((!rest.is_empty()).then_some(rest));
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let take = end.unwrap_or(available.len());
            if self.overlong.is_none() && self.line.len() + take > MAX_LINE {
                let mut finder = IdFinder::default();
                finder.feed(&std::mem::take(&mut self.line));
                self.overlong = Some(finder);
            }
            match &mut self.overlong {
                Some(finder) => finder.feed(&available[..take]),
                None => self.line.extend_from_slice(&available[..take]),
            }
            self.reader.consume(take + usize::from(end.is_some()));
            if end.is_some() {
                return Ok(Some(std::mem::take(&mut self.line)));
            }
        }
    }

    fn read(&mut self, line: &[u8]) -> ParsedLine {
        if let Some(finder) = self.overlong.take() {
            let text = format!("the message has more than {} MiB", MAX_LINE / 1024 / 1024);
            return error_reply(ErrorCode::INVALID_REQUEST, text, finder.id());
        }
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.iter().all(u8::is_ascii_whitespace) {
            return ParsedLine::Ignored;
        }
        match serde_json::from_slice::<Value>(line) {
            Ok(Value::Array(several)) if several.is_empty() => {
                let text = "the batch is empty";
                error_reply(ErrorCode::INVALID_REQUEST, text.to_owned(), None)
            }
            Ok(Value::Array(several)) => {
                self.queued.extend(several);
                ParsedLine::Ignored
            }
            Ok(value) => self.parse_message(value),
            Err(error) => self.read_broken(line, &error),
        }
    }

    /// Returns the response to a request that can't be read. A response is taken as far as it can be: nobody can refuse it.
    fn read_broken(&mut self, line: &[u8], error: &serde_json::Error) -> ParsedLine {
        let whole = unreadable::with_whole_characters(line);
        let whole = whole.and_then(|whole| serde_json::from_slice::<Value>(&whole).ok());
        let Some(value) = whole.filter(Value::is_object) else {
            let text = format!("the message can't be read as JSON: {error}");
            return error_reply(ErrorCode::PARSE_ERROR, text, unreadable::find_id(line));
        };
        let id = unreadable::find_id(line);
        if id.is_none() {
            return self.parse_message(value);
        }
        let text = "a text in the message has half of a character, a surrogate such as \\ud83d without the other one: send whole characters";
        error_reply(ErrorCode::INVALID_PARAMS, text.to_owned(), id)
    }

    fn parse_message(&mut self, mut value: Value) -> ParsedLine {
        let id = value
            .get("id")
            .and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
        let has_method = value.get("method").is_some_and(Value::is_string);
        let is_request = id.is_some() && has_method;
        if let Some(text) = wrong_envelope(&value, has_method, id.is_some()) {
            return error_reply(ErrorCode::INVALID_REQUEST, text.to_owned(), id);
        }
        if !is_request && !self.request_seen {
            return ParsedLine::Ignored;
        }
        if is_request && let Some((code, text)) = wrong_params(&value) {
            return error_reply(code, text, id);
        }
        wrap_non_object_arguments(&mut value);
        let method = value["method"].as_str().map(str::to_owned);
        match serde_json::from_value::<Incoming>(value) {
            // The library takes what it can't read for a method that it doesn't know.
            Ok(Incoming::Request(JsonRpcRequest {
                request: ClientRequest::CustomRequest(custom),
                id,
                ..
            })) if METHODS.contains(&custom.method.as_str()) => {
                let text = format!("the parameters of {} can't be used", custom.method);
                error_reply(ErrorCode::INVALID_PARAMS, text, Some(id))
            }
            Ok(message) => {
                self.request_seen |= is_request;
                ParsedLine::Message(Box::new(message))
            }
            Err(error) if is_request => {
                let method = method.unwrap_or_default();
                let text = format!("the parameters of {method} can't be used: {error}");
                error_reply(ErrorCode::INVALID_PARAMS, text, id)
            }
            // Notifications and responses are never answered.
            Err(_) if method.is_some() => ParsedLine::Ignored,
            Err(error) => {
                let text = format!("the message is not JSON-RPC: {error}");
                error_reply(ErrorCode::INVALID_REQUEST, text, id)
            }
        }
    }
}

/// Returns the reason why a request can't be one of JSON-RPC 2.0. Nobody waits for an answer to anything else.
fn wrong_envelope(value: &Value, has_method: bool, has_usable_id: bool) -> Option<&'static str> {
    if !has_method || is_notification(value) {
        return None;
    }
    if !has_usable_id {
        return Some("the message is not JSON-RPC: `id` has to be a text or a whole number");
    }
    (value["jsonrpc"] != "2.0")
        .then_some("the message is not JSON-RPC: `jsonrpc` has to be \"2.0\"")
}

/// Returns true for a message without an id. A request with the id null is none, because somebody waits; a notification
/// may have got it from a program that writes out all fields.
fn is_notification(value: &Value) -> bool {
    let is_named_so = |method: &str| method.starts_with("notifications/");
    match value.get("id") {
        None => true,
        Some(id) => id.is_null() && value["method"].as_str().is_some_and(is_named_so),
    }
}

/// Returns the error for parameters of a request that the library would take for others.
fn wrong_params(value: &Value) -> Option<(ErrorCode, String)> {
    let method = value["method"].as_str()?;
    let params = value.get("params").filter(|params| !params.is_null())?;
    if !params.is_object() {
        return Some(if METHODS.contains(&method) {
            let text = format!("the parameters of {method} have to be an object");
            (ErrorCode::INVALID_PARAMS, text)
        } else {
            (ErrorCode::METHOD_NOT_FOUND, method.to_owned())
        });
    }
    let cursor = params.get("cursor").filter(|cursor| !cursor.is_null())?;
    let is_odd = method.ends_with("/list") && !cursor.is_string();
    is_odd.then(|| (ErrorCode::INVALID_PARAMS, "a cursor is a text".to_owned()))
}

/// Makes a sentence of the error of an unknown method, which the library reports by its name alone.
fn name_unknown_method(message: &mut Outgoing) {
    if let Outgoing::Error(reply) = message
        && reply.error.code == ErrorCode::METHOD_NOT_FOUND
    {
        let method = quote(&reply.error.message);
        let text = format!("this server has no method {method} in this revision of the protocol");
        reply.error.message = text.into();
    }
}

/// Moves arguments that are not an object to where the tool's own check finds them, so that the reply is
/// the tool's error and not the protocol's.
fn wrap_non_object_arguments(value: &mut Value) {
    if value["method"] != "tools/call" {
        return;
    }
    let arguments = value.pointer_mut("/params/arguments");
    if let Some(arguments) =
        arguments.filter(|arguments| !arguments.is_object() && !arguments.is_null())
    {
        *arguments = json!({ NOT_AN_OBJECT: arguments.take() });
    }
}

fn error_reply(code: ErrorCode, text: String, id: Option<RequestId>) -> ParsedLine {
    ParsedLine::Reply(Box::new(Outgoing::error(
        ErrorData::new(code, text, None),
        id,
    )))
}

async fn write<W: AsyncWrite + Unpin>(writer: &Mutex<W>, mut message: Outgoing) -> io::Result<()> {
    name_unknown_method(&mut message);
    let mut line = serde_json::to_vec(&message)?;
    line.push(b'\n');
    let mut writer = writer.lock().await;
    writer.write_all(&line).await?;
    writer.flush().await
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: Outgoing,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let writer = self.writer.clone();
        async move { write(&writer, item).await }
    }

    async fn receive(&mut self) -> Option<Incoming> {
        loop {
            let read = match self.queued.pop_front() {
                Some(value) => self.parse_message(value),
                None => match self.next_line().await {
                    Ok(Some(line)) => self.read(&line),
                    Ok(None) => {
                        self.ended.send_replace(true);
                        return None;
                    }
                    Err(error) => {
                        tracing::error!(%error, "the input can't be read");
                        self.ended.send_replace(true);
                        return None;
                    }
                },
            };
            match read {
                ParsedLine::Message(message) => return Some(*message),
                ParsedLine::Reply(message) => {
                    // In a task of its own: waiting here could be interrupted with half a line out.
                    let writer = self.writer.clone();
                    tokio::spawn(async move {
                        if let Err(error) = write(&writer, *message).await {
                            tracing::error!(%error, "a reply can't be written");
                        }
                    });
                }
                ParsedLine::Ignored => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.writer.lock().await.flush().await
    }
}
