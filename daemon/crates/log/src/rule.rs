//! The one rule for unvouched values: what a client may do with a value of a node that only the server gives, and no
//! device has signed. Place, content and state of a node are judged apart; every consumer asks here and nowhere else.

use crate::{NodeStatement, ServerEntry};
use cairn_model::Verification;

/// The trust of one value of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrustLevel {
    /// The newest statement says it.
    Vouched,
    /// A server entry on that statement says it.
    Unvouched,
    /// The value contradicts what key holders can check.
    Refused,
}

/// The trust of all values of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeTrust {
    pub place: TrustLevel,
    pub content: TrustLevel,
    /// In the trash or not.
    pub state: TrustLevel,
}

/// A use of a node's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Moving the file on disk to where it is said to be.
    MirrorPlace,
    /// Moving the file on disk to the local trash, or back.
    MirrorTrash,
    /// Writing the content over a file on disk.
    ReplaceFile,
    /// Offering the content beside the file: as a version, in the dashboard.
    Propose,
    /// Letting more people read: links, invitations, copies into other spaces.
    WidenReaders,
    /// Giving the content to somebody: download, versions, merge, tools, gateways.
    HandOut,
    /// Deleting for good, or dropping the local copy.
    Destroy,
    /// Taking key, number or values for a new statement.
    ChooseValues,
}

/// The decision on a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    Granted,
    /// Waits until a person accepts the value.
    NeedsAcceptance,
    /// The value is shown as a proposal and not used.
    ProposedOnly,
    /// Refused as `unvouched`; a person may ask for this node by name to get it all the same.
    Unvouched,
    Denied,
}

impl NodeTrust {
    /// A node of which everything is vouched for.
    pub const VOUCHED: Self = Self {
        place: TrustLevel::Vouched,
        content: TrustLevel::Vouched,
        state: TrustLevel::Vouched,
    };

    /// Judges a node by its newest statement and the entry on it.
    #[must_use]
    pub fn of(statement: Option<&NodeStatement>, entry: Option<&ServerEntry>) -> Self {
        let Some(entry) = entry else {
            return match statement {
                Some(_) => Self::VOUCHED,
                None => Self::all(TrustLevel::Refused),
            };
        };
        let Some(statement) = statement else {
            return Self::all(TrustLevel::Unvouched);
        };
        let level_if = |is_same: bool| {
            if is_same {
                TrustLevel::Vouched
            } else {
                TrustLevel::Unvouched
            }
        };
        let is_trashed = statement.flags.has(crate::Flags::TRASHED);
        Self {
            place: level_if((statement.parent, &statement.name) == (entry.parent, &entry.name)),
            content: level_if(entry.source.is_none()),
            state: level_if(is_trashed == entry.is_trashed && !entry.is_purged),
        }
    }

    /// Marks the content as refused: its object or box doesn't open, or its hash is another.
    #[must_use]
    pub fn with_refused_content(self) -> Self {
        Self {
            content: TrustLevel::Refused,
            ..self
        }
    }

    fn all(trust: TrustLevel) -> Self {
        Self {
            place: trust,
            content: trust,
            state: trust,
        }
    }

    fn worst_level(self) -> TrustLevel {
        self.place.max(self.content).max(self.state)
    }
}

/// Decides one use of a node. `path` has the trust of each folder from the top (for a link: from what
/// is shared) down to the node's parent.
#[must_use]
pub fn permit(node: NodeTrust, path: &[NodeTrust], usage: Use, mode: Verification) -> Permission {
    match usage {
        Use::MirrorPlace => mirror(node.place, mode),
        Use::MirrorTrash => mirror(node.state, mode),
        Use::ReplaceFile => match node.content {
            TrustLevel::Vouched => Permission::Granted,
            // In no mode: a reversible mirror of bytes would still be bytes of a stranger.
            TrustLevel::Unvouched => Permission::ProposedOnly,
            TrustLevel::Refused => Permission::Denied,
        },
        Use::Propose => match node.content {
            TrustLevel::Vouched | TrustLevel::Unvouched => Permission::Granted,
            TrustLevel::Refused => Permission::Denied,
        },
        Use::HandOut => match node.content {
            TrustLevel::Vouched => Permission::Granted,
            TrustLevel::Unvouched => Permission::Unvouched,
            TrustLevel::Refused => Permission::Denied,
        },
        Use::WidenReaders => {
            let path = path.iter().map(|step| step.place.max(step.state)).max();
            strict_permission(node.worst_level().max(path.unwrap_or(TrustLevel::Vouched)))
        }
        Use::Destroy | Use::ChooseValues => strict_permission(node.worst_level()),
    }
}

fn mirror(trust: TrustLevel, mode: Verification) -> Permission {
    match (trust, mode) {
        (TrustLevel::Vouched, _) | (TrustLevel::Unvouched, Verification::Warn) => {
            Permission::Granted
        }
        (TrustLevel::Unvouched, Verification::Strict) => Permission::NeedsAcceptance,
        (TrustLevel::Refused, _) => Permission::Denied,
    }
}

fn strict_permission(trust: TrustLevel) -> Permission {
    match trust {
        TrustLevel::Vouched => Permission::Granted,
        TrustLevel::Unvouched => Permission::Unvouched,
        TrustLevel::Refused => Permission::Denied,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ObjectId;
    use crate::{EntryOp, FileFacts, FilePart, Flags, NodeOp, Source};
    use cairn_model::{AccountId, NodeId};

    use Permission as P;
    use TrustLevel::{Refused, Unvouched, Vouched};

    const USES: [Use; 8] = [
        Use::MirrorPlace,
        Use::MirrorTrash,
        Use::ReplaceFile,
        Use::Propose,
        Use::WidenReaders,
        Use::HandOut,
        Use::Destroy,
        Use::ChooseValues,
    ];

    fn trust(place: TrustLevel, content: TrustLevel, state: TrustLevel) -> NodeTrust {
        NodeTrust {
            place,
            content,
            state,
        }
    }

    #[test]
    fn the_table_of_uses() {
        use Permission::{
            Denied as D, Granted as G, NeedsAcceptance as H, ProposedOnly as R, Unvouched as U,
        };
        use TrustLevel::{Refused as N, Unvouched as X, Vouched as V};
        // MirrorPlace, MirrorTrash, ReplaceFile, Propose, WidenReaders, HandOut, Destroy, ChooseValues.
        let rows = [
            (trust(V, V, V), [G, G, G, G, G, G, G, G], [G, G]),
            (trust(X, V, V), [G, G, G, G, U, G, U, U], [H, G]),
            (trust(V, V, X), [G, G, G, G, U, G, U, U], [G, H]),
            (trust(V, X, V), [G, G, R, G, U, U, U, U], [G, G]),
            (trust(N, V, V), [D, G, G, G, D, G, D, D], [D, G]),
            (trust(V, N, V), [G, G, D, D, D, D, D, D], [G, G]),
            (trust(V, V, N), [G, D, G, G, D, G, D, D], [G, D]),
        ];
        for (node, normal, strict_mirrors) in rows {
            for (i, (usage, expected)) in USES.into_iter().zip(normal).enumerate() {
                assert_eq!(
                    permit(node, &[], usage, Verification::Warn),
                    expected,
                    "{node:?} {usage:?}"
                );
                let strict = strict_mirrors.get(i).copied().unwrap_or(expected);
                assert_eq!(
                    permit(node, &[], usage, Verification::Strict),
                    strict,
                    "{node:?} {usage:?}"
                );
            }
        }
    }

    #[test]
    fn each_step_of_a_shared_path_counts() {
        let share = |path: &[NodeTrust]| {
            permit(
                NodeTrust::VOUCHED,
                path,
                Use::WidenReaders,
                Verification::Warn,
            )
        };
        let good = NodeTrust::VOUCHED;
        assert_eq!(share(&[good, good]), P::Granted);
        for bad in [
            trust(Unvouched, Vouched, Vouched),
            trust(Vouched, Vouched, Unvouched),
        ] {
            assert_eq!(share(&[bad, good]), P::Unvouched);
            assert_eq!(share(&[good, bad]), P::Unvouched);
        }
        assert_eq!(share(&[trust(Refused, Vouched, Vouched)]), P::Denied);
    }

    #[test]
    fn no_unvouched_content_replaces_a_file_in_any_mode() {
        for mode in [Verification::Warn, Verification::Strict] {
            for place in [Vouched, Unvouched, Refused] {
                for content in [Unvouched, Refused] {
                    for state in [Vouched, Unvouched, Refused] {
                        let node = trust(place, content, state);
                        for usage in [
                            Use::ReplaceFile,
                            Use::HandOut,
                            Use::Destroy,
                            Use::ChooseValues,
                        ] {
                            assert_ne!(permit(node, &[], usage, mode), P::Granted, "{node:?}");
                        }
                    }
                }
            }
        }
    }

    fn statement() -> NodeStatement {
        let facts = Some(FileFacts {
            size: 1,
            mtime_ms: 1,
        });
        let object = ObjectId([1; 32]);
        NodeStatement {
            op: NodeOp::Create,
            node: NodeId::from_random_bytes([1; 16]),
            seq: 1,
            prev: [0; 16],
            flags: Flags::default(),
            parent: None,
            name: b"a".to_vec(),
            epoch: 1,
            file: Some(FilePart {
                object,
                facts,
                key: None,
                attributes: None,
            }),
            sealed_box: vec![1; 48],
        }
    }

    fn entry() -> ServerEntry {
        ServerEntry {
            op: EntryOp::Place,
            node: statement().node,
            prev: [1; 16],
            is_folder: false,
            is_trashed: false,
            is_purged: false,
            parent: None,
            name: b"a".to_vec(),
            source: None,
            actor: AccountId::from_random_bytes([2; 16]),
            clock_ms: 1,
        }
    }

    type Change = fn(&mut ServerEntry);

    #[test]
    fn an_entry_unvouches_what_it_says_otherwise_and_nothing_else() {
        let rows: [(Change, NodeTrust); 6] = [
            (|_| (), NodeTrust::VOUCHED),
            (
                |e| e.name = b"b".to_vec(),
                trust(Unvouched, Vouched, Vouched),
            ),
            (
                |e| e.parent = Some(e.node),
                trust(Unvouched, Vouched, Vouched),
            ),
            (
                |e| {
                    e.source = Some(Source::Opaque {
                        sha256: [1; 32],
                        size: 1,
                    })
                },
                trust(Vouched, Unvouched, Vouched),
            ),
            (|e| e.is_trashed = true, trust(Vouched, Vouched, Unvouched)),
            (|e| e.is_purged = true, trust(Vouched, Vouched, Unvouched)),
        ];
        for (change, expected) in rows {
            let mut entry = entry();
            change(&mut entry);
            assert_eq!(NodeTrust::of(Some(&statement()), Some(&entry)), expected);
        }
        let of = NodeTrust::of;
        assert_eq!(
            of(None, Some(&entry())),
            trust(Unvouched, Unvouched, Unvouched)
        );
        assert_eq!(of(Some(&statement()), None), NodeTrust::VOUCHED);
        assert_eq!(of(None, None), trust(Refused, Refused, Refused));
        let refused = of(Some(&statement()), None).with_refused_content();
        assert_eq!(refused, trust(Vouched, Refused, Vouched));
    }
}
