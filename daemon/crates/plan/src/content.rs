//! The three-way comparison of one file's content.
//!
//! A missing hash is requested where a guess would cost data or a transfer, and nowhere else.
//! Modification times are not compared.

use crate::Need;
use crate::tree::{LocalNode, RemoteNode, SyncedNode};

/// The result of comparing the contents of an entity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Content {
    /// No change, or none that can be compared.
    Same,
    /// A change on the local side alone.
    Push,
    /// A change on the remote side alone.
    Pull,
    /// Both sides have the same bytes, but the synced node doesn't record it yet.
    Unrecorded,
    /// Both sides changed, to different bytes.
    Conflict,
}

/// Compares what exists of a file; facts that it lacks go to `needs`.
///
/// Against another node than the one that was agreed on there is no base: the bytes are equal or
/// they conflict.
pub(crate) fn compare(
    local: Option<&LocalNode>,
    remote: Option<&RemoteNode>,
    base: &SyncedNode,
    needs: &mut Vec<Need>,
) -> Content {
    if let (Some(l), Some(r)) = (local, remote)
        && r.id != base.node
    {
        return match same_bytes(l, r, needs) {
            Some(true) => Content::Unrecorded,
            Some(false) => Content::Conflict,
            None => Content::Same,
        };
    }
    let edited_here = local.is_some_and(|l| is_edited_locally(l, remote, base, needs));
    let edited_there = remote.is_some_and(|r| is_edited_remotely(r, base));
    match (local, remote) {
        (Some(l), Some(r)) if edited_here && edited_there => match same_bytes(l, r, needs) {
            Some(true) => Content::Unrecorded,
            Some(false) => Content::Conflict,
            None => Content::Same,
        },
        (Some(_), _) if edited_here => Content::Push,
        (_, Some(_)) if edited_there => Content::Pull,
        (Some(l), Some(r)) if r.revision != base.revision || l.id != base.local => {
            Content::Unrecorded
        }
        (_, _) => Content::Same,
    }
}

/// Compares the bytes of two files; `None` after requesting the missing hashes.
pub(crate) fn same_bytes(
    local: &LocalNode,
    remote: &RemoteNode,
    needs: &mut Vec<Need>,
) -> Option<bool> {
    if local.size != remote.size {
        return Some(false);
    }
    if local.hash.is_none() {
        needs.push(Need::LocalHash(local.id));
    }
    if remote.hash.is_none() {
        needs.push(Need::RemoteHash(remote.id));
    }
    Some(local.hash? == remote.hash?)
}

/// Returns whether the bytes differ from the base. A changed time is no edit; a changed size is one
/// without reading.
fn is_edited_locally(
    local: &LocalNode,
    remote: Option<&RemoteNode>,
    base: &SyncedNode,
    needs: &mut Vec<Need>,
) -> bool {
    if local.size != base.size {
        return true;
    }
    let Some(hash) = local.hash else {
        needs.push(Need::LocalHash(local.id));
        return false;
    };
    let head = remote.filter(|r| r.revision == base.revision);
    let known = base.hash.or_else(|| head.and_then(|r| r.hash));
    known != Some(hash)
}

fn is_edited_remotely(remote: &RemoteNode, base: &SyncedNode) -> bool {
    if remote.revision == base.revision {
        return false;
    }
    match (remote.hash, base.hash) {
        _ if remote.size != base.size => true,
        (Some(now), Some(then)) => now != then,
        (Some(_) | None, Some(_) | None) => true,
    }
}
