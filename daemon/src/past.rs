//! The past of a space: what was where, with which content, and how to get back there.
//!
//! The service keeps every revision and the trash, and the feed has each node once, in its present
//! state. The place of a node before it moved is what this device saw and remembers. `tree` and `plan`
//! are pure; `load` and `carry_out` talk to the service.

pub(crate) mod carry_out;
pub(crate) mod events;
mod load;
pub(crate) mod plan;
pub(crate) mod tree;
mod unseen;

use crate::failure::{CommandResult, Failure};
use crate::remote::Remote;
use cairn_model::NodeId;
pub(crate) use load::{changed_since, load, revisions_of};
pub(crate) use tree::{Past, PastNode, Scope};

/// Finds the part of a space that a path, or an id, names, and its path.
pub(crate) fn scope(
    past: &Past,
    remote: &Remote,
    text: &str,
    at_ms: i64,
) -> CommandResult<(Scope, String)> {
    let (found, path) = match text.parse::<NodeId>() {
        Ok(id) => (past.get(id).map(|_| Scope::Below(id)), past.path(id)),
        Err(_) => {
            let path = remote.path(text)?;
            (past.at_path(&path, at_ms), path)
        }
    };
    let scope = found.ok_or_else(|| {
        Failure::failed(format!(
            "there is no {text} on the service, and there was none then: see `cairn history`"
        ))
    })?;
    Ok((scope, path))
}
