//! The interface to the program that brings folders back to a time: it knows what was where in the past.

use cairn_model::{AccountId, TeamId};
use futures_util::future::BoxFuture;
use serde_json::Value;

/// The use that is made of a plan.
#[derive(Clone, PartialEq, Debug)]
pub enum RewindMode {
    /// Shows the plan, and changes nothing.
    Plan,
    /// Carries the plan out. If a person agreed to one, it has to be the same.
    CarryOut { confirmed: Option<Value> },
}

/// The folder or file that is to be brought back, and to when.
#[derive(Clone, Debug)]
pub struct RewindRequest {
    /// The account that the tools use.
    pub account: AccountId,
    /// The team in whose space it is; `None` for the account's own.
    pub team: Option<TeamId>,
    /// A folder or file: its path on the service or on this machine, or its id.
    pub path: String,
    pub to: String,
    pub mode: RewindMode,
}

/// A rewind that was carried out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Rewound {
    /// The session that takes it back.
    pub(crate) session: String,
    pub(crate) path: String,
}

/// Brings folders of the account that this machine is logged in to back to a time.
pub trait Rewinder: Send + Sync {
    /// Returns the plan, and what came of it; or the reason why there is none, for a person: also that the account of
    /// the tools is another one.
    fn rewind(&self, request: RewindRequest) -> BoxFuture<'static, Result<Value, String>>;

    /// Takes a rewind back, by the session that its result names; returns `taken_back` and `left`, lists of sentences.
    fn undo(&self, session: String) -> BoxFuture<'static, Result<Value, String>>;
}
