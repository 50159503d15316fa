//! JSON-RPC over lines of text. It makes of every line something that the protocol library can answer:
//! arguments that are no object reach the tool's own check, what can't be read gets an error with its id,
//! and nothing ends the session but the end of the input.

use crate::arguments::NO_OBJECT;
use rmcp::RoleServer;
use rmcp::model::{ClientRequest, ErrorCode, ErrorData, JsonRpcRequest, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;

/// A longer line is dropped and answered with an error: nobody's arguments are that large.
const MAX_LINE: usize = 16 * 1024 * 1024;

/// What this server answers: with parameters that can't be read, the parameters are what is wrong.
const KNOWN: [&str; 10] = [
    "initialize",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
];

type Incoming = RxJsonRpcMessage<RoleServer>;
type Outgoing = TxJsonRpcMessage<RoleServer>;

/// Lines in, lines out.
pub(super) struct Lines<R, W> {
    reader: BufReader<R>,
    /// A line that is not whole yet: reading may be interrupted at any point.
    line: Vec<u8>,
    overlong: bool,
    /// Of a line with several messages, those that are still to come.
    waiting: VecDeque<Value>,
    writer: Arc<Mutex<W>>,
    /// Before the first request there is nobody who could take anything else.
    begun: bool,
}

/// What became of a line.
enum Read {
    Message(Box<Incoming>),
    /// Goes back at once.
    Answer(Box<Outgoing>),
    Nothing,
}

impl<R: AsyncRead + Unpin, W> Lines<R, W> {
    pub(super) fn new(reader: R, writer: W) -> Self {
        Self {
            reader: BufReader::new(reader),
            line: Vec::new(),
            overlong: false,
            waiting: VecDeque::new(),
            writer: Arc::new(Mutex::new(writer)),
            begun: false,
        }
    }

    /// The next whole line; `None` at the end. May be dropped at any await without losing anything.
    async fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                let rest = std::mem::take(&mut self.line);
                return Ok((!rest.is_empty()).then_some(rest));
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let take = end.unwrap_or(available.len());
            if self.line.len() + take > MAX_LINE {
                self.overlong = true;
                self.line.clear();
            }
            if !self.overlong {
                self.line.extend_from_slice(&available[..take]);
            }
            self.reader.consume(take + usize::from(end.is_some()));
            if end.is_some() {
                return Ok(Some(std::mem::take(&mut self.line)));
            }
        }
    }

    fn read(&mut self, line: &[u8]) -> Read {
        if std::mem::take(&mut self.overlong) {
            let text = format!("the message has more than {} MiB", MAX_LINE / 1024 / 1024);
            return answer(ErrorCode::INVALID_REQUEST, text, None);
        }
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.iter().all(u8::is_ascii_whitespace) {
            return Read::Nothing;
        }
        match serde_json::from_slice::<Value>(line) {
            Ok(Value::Array(several)) if several.is_empty() => {
                let text = "an empty batch asks for nothing";
                answer(ErrorCode::INVALID_REQUEST, text.to_owned(), None)
            }
            Ok(Value::Array(several)) => {
                self.waiting.extend(several);
                Read::Nothing
            }
            Ok(value) => self.understood(value),
            Err(error) => {
                let text = format!("the message is no JSON: {error}");
                answer(ErrorCode::PARSE_ERROR, text, None)
            }
        }
    }

    fn understood(&mut self, mut value: Value) -> Read {
        let id = value
            .get("id")
            .and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
        let is_request = id.is_some() && value.get("method").is_some_and(Value::is_string);
        if !is_request && !self.begun {
            return Read::Nothing;
        }
        keep_odd_arguments(&mut value);
        let method = value["method"].as_str().map(str::to_owned);
        match serde_json::from_value::<Incoming>(value) {
            // The library takes what it can't read for a method that it doesn't know.
            Ok(Incoming::Request(JsonRpcRequest {
                request: ClientRequest::CustomRequest(custom),
                id,
                ..
            })) if KNOWN.contains(&custom.method.as_str()) => {
                let text = format!("the parameters of {} can't be used", custom.method);
                answer(ErrorCode::INVALID_PARAMS, text, Some(id))
            }
            Ok(message) => {
                self.begun |= is_request;
                Read::Message(Box::new(message))
            }
            Err(error) if is_request => {
                let method = method.unwrap_or_default();
                let text = format!("the parameters of {method} can't be used: {error}");
                answer(ErrorCode::INVALID_PARAMS, text, id)
            }
            // Notifications and responses are never answered.
            Err(_) if method.is_some() => Read::Nothing,
            Err(error) => {
                let text = format!("the message is no JSON-RPC: {error}");
                answer(ErrorCode::INVALID_REQUEST, text, id)
            }
        }
    }
}

/// Puts arguments that are no object where the tool's check finds them, so that the answer is the
/// tool's failure and not the protocol's.
fn keep_odd_arguments(value: &mut Value) {
    if value["method"] != "tools/call" {
        return;
    }
    let odd = value.pointer_mut("/params/arguments");
    if let Some(odd) = odd.filter(|arguments| !arguments.is_object() && !arguments.is_null()) {
        *odd = json!({ NO_OBJECT: odd.take() });
    }
}

fn answer(code: ErrorCode, text: String, id: Option<RequestId>) -> Read {
    Read::Answer(Box::new(Outgoing::error(
        ErrorData::new(code, text, None),
        id,
    )))
}

async fn write<W: AsyncWrite + Unpin>(writer: &Mutex<W>, message: &Outgoing) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut writer = writer.lock().await;
    writer.write_all(&line).await?;
    writer.flush().await
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
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
        async move { write(&writer, &item).await }
    }

    async fn receive(&mut self) -> Option<Incoming> {
        loop {
            let read = match self.waiting.pop_front() {
                Some(value) => self.understood(value),
                None => match self.next_line().await {
                    Ok(Some(line)) => self.read(&line),
                    Ok(None) => return None,
                    Err(error) => {
                        tracing::error!(%error, "the input can't be read");
                        return None;
                    }
                },
            };
            match read {
                Read::Message(message) => return Some(*message),
                Read::Answer(message) => {
                    // In a task of its own: waiting here could be interrupted with half a line out.
                    let writer = self.writer.clone();
                    tokio::spawn(async move {
                        if let Err(error) = write(&writer, &message).await {
                            tracing::error!(%error, "an answer can't be written");
                        }
                    });
                }
                Read::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.writer.lock().await.flush().await
    }
}
