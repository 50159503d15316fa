//! Webhooks outside the store: where they may point, how deliveries are signed, the task that sends them.

mod dispatcher;
pub mod signature;
pub(crate) mod target;
mod turns;

pub(crate) use dispatcher::{deliver_due, run};
