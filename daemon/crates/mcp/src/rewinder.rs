//! The interface to the program that brings folders back to a time: it knows what was where in the past.

use futures_util::future::BoxFuture;
use serde_json::Value;

/// The use that is made of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RewindMode {
    /// Shows the plan, and changes nothing.
    Plan,
    CarryOut,
}

/// Brings folders of the logged-in account back to a time.
pub trait Rewinder: Send + Sync {
    /// Returns the plan for a folder or file, and what came of it; or the reason why there is none, for a person.
    fn rewind(
        &self,
        path: String,
        to: String,
        mode: RewindMode,
    ) -> BoxFuture<'static, Result<Value, String>>;
}
