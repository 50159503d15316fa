//! The past of a space (the files of an account or team) as this device knows it, and restoring it: `load` reads it,
//! `carry_out` carries a plan of [`cairn_space::past`] out.

pub(crate) mod carry_out;
mod load;
mod unchanged;

use crate::failure::{CommandResult, Failure};
use crate::output::text::local_time;
use crate::remote::Remote;
use cairn_model::{Kind, Name, NodeId};
use cairn_platform::Zone;
use cairn_space::past::{Memory, Past, Scope};
pub(crate) use load::{all_revisions_of, changes_since, load, revisions_at};

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

/// Reads a name that the service tells of an earlier time.
fn valid_name(name: &str) -> CommandResult<Name> {
    Name::new(name.to_owned())
        .map_err(|e| Failure::failed(format!("`{name}` is not a valid name: {e}")))
}

/// Says what can't be known of a time, or of all times: that of which the service tells nothing.
pub(crate) fn gap(past: &Past, at_ms: Option<i64>, zone: &Zone) -> Option<String> {
    let memory = past.memory?;
    if at_ms.is_some_and(|at_ms| memory.reaches(at_ms)) {
        return None;
    }
    match memory {
        Memory::Service { from_ms: 0 } => None,
        Memory::Service { from_ms } => Some(format!(
            "The service knows moves, and deletions that were taken back, only since {}; of the time before, only \
             moves that this device saw are known.",
            local_time(from_ms, zone)
        )),
        Memory::Device { first_ms: None } => Some(
            "The service keeps no history of places, and this device has seen no move: what was moved, or deleted and \
             brought back, is not known."
                .to_owned(),
        ),
        Memory::Device {
            first_ms: Some(first_ms),
        } => Some(format!(
            "The service keeps no history of places: this device knows moves only since {}, as far as it saw them, and \
             nothing of what was deleted and brought back.",
            local_time(first_ms, zone)
        )),
    }
}
