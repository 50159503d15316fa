//! The local protocol between the daemon and its clients: command line, tray, MCP.
//!
//! JSON lines over a private socket: a handshake with versions, then requests with ids, their replies,
//! and events once they are subscribed to. The messages say what a person can see and do; how it is
//! done is up to the daemon's [`Handler`].

mod client;
mod error;
mod line;
mod server;

pub mod envelope;
pub mod event;
pub mod folder;
pub mod history;
pub mod request;
pub mod status;
pub mod why;

pub use cairn_platform::{
    Home,
    process::{forbid_core_dumps, has_display},
};
pub use client::{Client, EventStream, SILENCE_LIMIT, SilenceNotice};
pub use envelope::{Failure, FailureCode, PROTOCOL};
pub use error::ControlError;
pub use event::Event;
pub use folder::{Folder, IgnoreDecision, IgnoreRules, NewFolder, TeamSpace};
pub use history::{
    Activity, ActivityList, Conflict, ConflictList, ResolvePreview, Resolved, Trashed, TrashedList,
};
pub use request::{Accepted, Done, Limits, Reply, Request, TypedRequest, typed};
pub use server::{EventSource, Handler, serve, serve_connection};
pub use status::{
    Confirmation, Decisions, DoctorInfo, FolderStatus, OverallProgress, ProblemGroup, Status,
    Transfer,
};
pub use why::{DecidingRule, PathReport, WaitingList};
