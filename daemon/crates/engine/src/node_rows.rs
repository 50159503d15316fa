//! Conversions between the service's nodes and the rows of the index, with the check of a node's seal and the
//! data of the next one.

use cairn_crypto::{NodeFacts, NodeSeal, SealInfo, SpaceKeys};
use cairn_index::RemoteRow;
use cairn_model::{Kind, Name, NameFormat, NodeId};
use cairn_transfer::{Download, KnownNumbers, MAX_NUMBER};
use cairn_wire::Sealed;
use cairn_wire::nodes::{ContentSource, Node};

/// The result of checking a node's seal, the MAC by which a key holder authenticates its name, parent and content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trust {
    Verified,
    /// Changed without keys (a dashboard, a keyless tool).
    Unverified,
    /// The node has a seal, but not for what it is now.
    Broken,
}

/// Converts a node of the service into a row, or returns the reason why it can't be one.
pub(crate) fn remote_row(
    keys: &SpaceKeys,
    node: &Node,
) -> Result<(RemoteRow, Trust), &'static str> {
    let name = Name::new(node.name.clone()).map_err(|_| "its name can't be a file's name")?;
    if node.space_id != keys.space() {
        return Err("it belongs to another space");
    }
    // The keys of a later epoch may be on their way: everything is listed again with them.
    if node.space_id.is_private() && node.name_format != NameFormat::Plain {
        return Err("its name is sealed with a key that is not at hand, or not at all");
    }
    if node.kind == Kind::File && node.revision_id.is_none() {
        return Err("a file without content");
    }
    if node.parent_id == Some(node.id) {
        return Err("it contains itself");
    }
    if node.version > MAX_NUMBER {
        return Err("it was changed more often than anything can be");
    }
    let mut row = RemoteRow {
        node: node.id,
        parent: node.parent_id,
        name,
        kind: node.kind,
        revision: node.revision_id,
        size: node.size,
        modified_ms: node.modified_at.map(|at| at.0),
        executable: node.executable,
        version: node.version,
        seal: node.seal.as_ref().map(|s| s.0.clone()),
        source: node.content_source.map(|s| (s.node_id, s.revision_id)),
        device: node.device_id,
        hash: None,
        number: None,
        number_before: 0,
        seen: 0,
        changed_ms: Some(node.updated_at.0),
    };
    let trust = match seal_info(keys, &row) {
        Some(Some(info)) => {
            row.seen = info.seq;
            Trust::Verified
        }
        Some(None) => Trust::Broken,
        None => Trust::Unverified,
    };
    Ok((row, trust))
}

/// Opens a row's seal: `None` without a seal, `Some(None)` if it does not fit.
pub(crate) fn seal_info(keys: &SpaceKeys, row: &RemoteRow) -> Option<Option<SealInfo>> {
    let seal = row.seal.as_deref()?;
    Some(NodeSeal::check(keys, &facts_of(row), seal).ok())
}

/// Returns whether a row's seal fits, and is of the current epoch.
pub(crate) fn is_seal_current(keys: &SpaceKeys, row: &RemoteRow) -> bool {
    row.seal
        .as_deref()
        .is_some_and(|seal| NodeSeal::check_current(keys, &facts_of(row), seal).is_ok())
}

/// Returns what is known of a node's numbers, for the next revision and seal.
pub(crate) fn known_numbers(keys: &SpaceKeys, row: &RemoteRow) -> KnownNumbers {
    let seal = seal_info(keys, row).flatten();
    KnownNumbers {
        seal_seq: row.seen.max(seal.map_or(0, |info| info.seq)),
        sealed: seal.is_some(),
        revision: row.number,
        version: row.version,
    }
}

/// A node's attributes after a change, for its next seal.
pub(crate) struct Next<'a> {
    pub(crate) parent: Option<NodeId>,
    pub(crate) name: &'a str,
    pub(crate) executable: bool,
}

/// Returns the seal of a node after a change of its name, place or mode. `None` where the present
/// state is unverified: a new seal would authenticate what was not checked.
pub(crate) fn next_seal(keys: &SpaceKeys, row: &RemoteRow, next: &Next<'_>) -> Option<Sealed> {
    let info = seal_info(keys, row)??;
    let facts = NodeFacts {
        node: row.node,
        parent: next.parent,
        name: next.name,
        kind: row.kind,
        executable: next.executable,
        deleted: false,
    };
    let info = SealInfo {
        seq: known_numbers(keys, row).next_seal().ok()?,
        manifest_hash: info.manifest_hash,
    };
    Some(Sealed(NodeSeal::make(keys, &facts, info)))
}

/// Returns the seal of a node that goes to the trash.
pub(crate) fn deletion_seal(keys: &SpaceKeys, row: &RemoteRow, confirmed: bool) -> Option<Sealed> {
    let info = seal_info(keys, row)??;
    let facts = NodeFacts {
        deleted: true,
        ..facts_of(row)
    };
    let seq = known_numbers(keys, row).next_seal().ok()?;
    let info = SealInfo { seq, ..info };
    let info = if confirmed {
        info.mark_confirmed()
    } else {
        info
    };
    Some(Sealed(NodeSeal::make(keys, &facts, info)))
}

/// Returns the seal of a node that comes out of the trash just as it went there, with the deletion that has the seal of
/// this number. `None` for any other one, and for one to which a person has agreed: its seal has no whole hash.
pub(crate) fn restoring_seal(keys: &SpaceKeys, trashed: &Node, number: u64) -> Option<Sealed> {
    let facts = facts_in_trash(trashed);
    let info = NodeSeal::check_current(keys, &facts, &trashed.seal.as_ref()?.0).ok()?;
    if info.seq != number || info.is_confirmed() {
        return None;
    }
    let known = KnownNumbers {
        seal_seq: info.seq,
        sealed: true,
        revision: None,
        version: trashed.version,
    };
    let facts = NodeFacts {
        deleted: false,
        ..facts
    };
    let seq = known.next_seal().ok()?;
    Some(Sealed(NodeSeal::make(
        keys,
        &facts,
        SealInfo { seq, ..info },
    )))
}

/// The evidence for a deletion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Deletion {
    /// A key-holding client, after a person confirmed it; with the sequence of its seal.
    Confirmed { seq: u64 },
    /// A key-holding client; with the sequence of its seal.
    Verified { seq: u64 },
    /// Anybody.
    Unverified,
}

impl Deletion {
    /// Returns the same evidence for what went with the folder that was deleted, whose own seal is another one.
    pub(crate) fn of_content(self) -> Self {
        match self {
            Self::Confirmed { .. } => Self::Confirmed { seq: 0 },
            Self::Verified { .. } => Self::Verified { seq: 0 },
            Self::Unverified => Self::Unverified,
        }
    }

    /// Returns the same evidence without a person's agreement.
    pub(crate) fn without_agreement(self) -> Self {
        match self {
            Self::Confirmed { seq } | Self::Verified { seq } => Self::Verified { seq },
            Self::Unverified => Self::Unverified,
        }
    }

    /// Returns the sequence number of the seal that proves it; 0 if that is the seal of a folder above.
    pub(crate) fn seq(self) -> Option<u64> {
        match self {
            Self::Confirmed { seq } | Self::Verified { seq } => Some(seq),
            Self::Unverified => None,
        }
    }
}

/// Checks the seal of a trashed node; `None` where the service has nothing left of it.
pub(crate) fn deletion(keys: &SpaceKeys, node: Option<&Node>) -> Deletion {
    let info = node
        .and_then(|node| NodeSeal::check(keys, &facts_in_trash(node), &node.seal.as_ref()?.0).ok());
    match info {
        Some(info) if info.is_confirmed() => Deletion::Confirmed { seq: info.seq },
        Some(info) => Deletion::Verified { seq: info.seq },
        None => Deletion::Unverified,
    }
}

/// Returns whether the seal of a trashed node fits, and is of the current epoch.
pub(crate) fn is_deletion_current(keys: &SpaceKeys, node: &Node) -> bool {
    node.seal
        .as_ref()
        .is_some_and(|seal| NodeSeal::check_current(keys, &facts_in_trash(node), &seal.0).is_ok())
}

fn facts_in_trash(node: &Node) -> NodeFacts<'_> {
    NodeFacts {
        node: node.id,
        parent: node.parent_id,
        name: &node.name,
        kind: node.kind,
        executable: node.executable,
        deleted: true,
    }
}

fn facts_of(row: &RemoteRow) -> NodeFacts<'_> {
    NodeFacts {
        node: row.node,
        parent: row.parent,
        name: row.name.as_str(),
        kind: row.kind,
        executable: row.executable,
        deleted: false,
    }
}

/// Returns the first seal of a new folder.
pub(crate) fn folder_seal(
    keys: &SpaceKeys,
    node: NodeId,
    parent: Option<NodeId>,
    name: &str,
) -> Sealed {
    let facts = NodeFacts {
        node,
        parent,
        name,
        kind: Kind::Folder,
        executable: false,
        deleted: false,
    };
    Sealed(NodeSeal::make(
        keys,
        &facts,
        SealInfo {
            seq: 1,
            manifest_hash: None,
        },
    ))
}

/// Returns the download of a node's current revision.
pub(crate) fn download_of(keys: &SpaceKeys, row: &RemoteRow) -> Option<Download> {
    let sealed = seal_info(keys, row).flatten();
    Some(Download {
        node: row.node,
        revision: row.revision?,
        source: row.source.map(|(node_id, revision_id)| ContentSource {
            node_id,
            revision_id,
        }),
        manifest_hash: sealed.and_then(|info| info.manifest_hash),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::SpaceId;
    use cairn_wire::Timestamp;
    use serde_json::json;

    #[test]
    fn a_name_that_was_not_opened_is_no_files_name_in_a_private_space() {
        let private = SpaceId::private_from_random_bytes([1; 16]);
        let open = SpaceId::from_random_bytes([1; 16]);
        for (space, format, taken) in [
            (private, "plain", true),
            (private, "sealed", false),
            (private, "other", false),
            (open, "sealed", true),
        ] {
            let keys = SpaceKeys::from_raw(space, 1, &[7; 32]).unwrap();
            let at = Timestamp(0).to_string();
            let node = json!({
                "id": NodeId::from_random_bytes([2; 16]), "space_id": space, "parent_id": null, "kind": "folder",
                "name": "a", "name_format": format, "size": 0, "mime_type": null, "category": null,
                "state": "active", "revision_id": null, "version": 1, "created_at": at, "updated_at": at,
                "modified_at": null, "executable": false, "description": "", "labels": {}, "tags": [],
                "favorite": false, "seal": null, "seq": 1,
            });
            let node: Node = serde_json::from_value(node).unwrap();
            assert_eq!(remote_row(&keys, &node).is_ok(), taken, "{format}");
        }
    }
}
