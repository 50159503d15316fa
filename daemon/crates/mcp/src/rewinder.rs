//! The interface to the program that brings folders back to a time: it knows what was where in the past.

use cairn_model::{AccountId, TeamId};
use futures_util::future::BoxFuture;
use serde_json::Value;

/// The use that is made of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RewindMode {
    /// Shows the plan, and changes nothing.
    Plan,
    CarryOut,
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

/// Brings folders of the account that this machine is logged in to back to a time.
pub trait Rewinder: Send + Sync {
    /// Returns the plan, and what came of it; or the reason why there is none, for a person: also that the account of
    /// the tools is another one.
    fn rewind(&self, request: RewindRequest) -> BoxFuture<'static, Result<Value, String>>;
}
