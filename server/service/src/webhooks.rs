//! Webhooks outside the store: where they may point, how deliveries are signed, who carries them.

mod courier;
pub mod signature;
pub(crate) mod target;

pub(crate) use courier::{carry, deliver_due};
