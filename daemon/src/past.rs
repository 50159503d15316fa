//! The past of a space (the files of an account or team) as this device knows it, and restoring it: `load` reads it,
//! `carry_out` carries a plan of [`cairn_space::past`] out.

pub(crate) mod carry_out;
mod load;
mod unchanged;

use crate::failure::{CommandResult, Failure};
use crate::remote::Remote;
use cairn_model::{Kind, NodeId};
use cairn_space::past::{Past, Scope};
pub(crate) use load::{changes_since, load, revisions_of};

/// Finds the part of a space that a path, or an id, names, and its path. A path names what was there at the
/// time: a file with its place.
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
            let found = past.at_path(&path, at_ms);
            (
                found.map(|scope| with_place(past, scope, &path, at_ms)),
                path,
            )
        }
    };
    let scope = found.ok_or_else(|| {
        Failure::failed(format!(
            "there is no {text} on the service, and there was none then: see `cairn history`"
        ))
    })?;
    Ok((scope, path))
}

fn with_place(past: &Past, scope: Scope, path: &str, at_ms: i64) -> Scope {
    let one = scope.top().and_then(|top| past.get(top));
    match one.filter(|one| one.node.kind == Kind::File && past.stood_at(one, path, at_ms)) {
        Some(one) => Scope::Place(one.node.id),
        None => scope,
    }
}
