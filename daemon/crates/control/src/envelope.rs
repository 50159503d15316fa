//! The JSON lines of the protocol, and the handshake about its version.

use crate::event::Event;
use crate::request::{Reply, Request};
use serde::{Deserialize, Serialize};

/// The version of the protocol; it changes when an older peer would misunderstand a message.
pub const PROTOCOL: u32 = 2;

/// The client's first line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Hello {
    pub protocol: u32,
    /// `cli`, `tray`, `mcp`.
    pub client: String,
}

/// The daemon's reply to it. With another protocol than the client's, the connection ends here.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Welcome {
    pub protocol: u32,
    /// The version of the running daemon.
    pub version: String,
    pub pid: u32,
}

/// A later line of the client: a request with a number.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RequestEnvelope {
    /// The reply has the same id; replies may come in another order than the requests.
    pub id: u64,
    pub request: Request,
}

/// The machine-readable kind of a failure; the exit code of the command line follows from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCode {
    Failed,
    /// The request itself makes no sense: an unknown folder, a bad pattern.
    Usage,
    NotLoggedIn,
    Offline,
    /// A person has to decide something first.
    Decision,
    TimedOut,
}

/// The reason why a request was not carried out: what happened, to what, what to do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub code: FailureCode,
    pub message: String,
}

impl Failure {
    #[must_use]
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}

/// A later line of the daemon, as it writes it.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ServerMessage {
    Event(Event),
    #[serde(untagged)]
    Reply {
        id: u64,
        ok: Reply,
    },
    #[serde(untagged)]
    Failure {
        id: u64,
        error: Failure,
    },
}

/// The same line, as a client reads it: the type of `ok` depends on the request.
#[derive(Debug, Deserialize)]
pub(crate) struct IncomingMessage {
    #[serde(default)]
    pub(crate) id: Option<u64>,
    #[serde(default)]
    pub(crate) ok: Option<serde_json::Value>,
    #[serde(default)]
    pub(crate) error: Option<Failure>,
    #[serde(default)]
    pub(crate) event: Option<Event>,
}
