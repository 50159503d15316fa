//! The one rule: what a value that no device vouches for may be used for. Place, content and state of a
//! node are judged apart; every consumer asks here and nowhere else.

use crate::format2::log::{NodeStatement, ServerEntry};

/// The standing of one value of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// The newest statement says it.
    Vouched,
    /// A server entry on that statement says it.
    Unvouched,
    /// It contradicts what key holders can check.
    Refused,
}

/// The standing of all values of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeStanding {
    pub place: Standing,
    pub content: Standing,
    /// In the trash or not.
    pub state: Standing,
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

/// The verification mode of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    /// Mirrors reversibly what no device vouches for.
    #[default]
    Normal,
    /// Holds it until a person accepts it.
    Strict,
}

/// The answer to a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    Granted,
    /// Waits until a person accepts the value.
    Held,
    /// The value is shown as a proposal and not used.
    ProposedOnly,
    /// Refused as `unvouched`; a person may name the node to have it all the same.
    Unvouched,
    Denied,
}

impl NodeStanding {
    /// A node of which everything is vouched for.
    pub const VOUCHED: Self = Self {
        place: Standing::Vouched,
        content: Standing::Vouched,
        state: Standing::Vouched,
    };

    /// Judges a node by its newest statement and the entry on it.
    #[must_use]
    pub fn of(statement: Option<&NodeStatement>, entry: Option<&ServerEntry>) -> Self {
        let Some(entry) = entry else {
            return match statement {
                Some(_) => Self::VOUCHED,
                None => Self::all(Standing::Refused),
            };
        };
        let Some(statement) = statement else {
            return Self::all(Standing::Unvouched);
        };
        let said = |is_same: bool| {
            if is_same {
                Standing::Vouched
            } else {
                Standing::Unvouched
            }
        };
        let is_trashed = statement.flags.has(crate::format2::log::Flags::TRASHED);
        Self {
            place: said((statement.parent, &statement.name) == (entry.parent, &entry.name)),
            content: said(entry.source.is_none()),
            state: said(is_trashed == entry.is_trashed && !entry.is_purged),
        }
    }

    /// Marks the content as refused: its object or box doesn't open, or its hash is another.
    #[must_use]
    pub fn with_refused_content(self) -> Self {
        Self {
            content: Standing::Refused,
            ..self
        }
    }

    fn all(standing: Standing) -> Self {
        Self {
            place: standing,
            content: standing,
            state: standing,
        }
    }

    fn worst(self) -> Standing {
        self.place.max(self.content).max(self.state)
    }
}

/// Decides one use of a node. `path` has the standing of each folder from the top (for a link: from what
/// is shared) down to the node's parent.
#[must_use]
pub fn permit(node: NodeStanding, path: &[NodeStanding], wish: Use, mode: Mode) -> Permission {
    match wish {
        Use::MirrorPlace => mirror(node.place, mode),
        Use::MirrorTrash => mirror(node.state, mode),
        Use::ReplaceFile => match node.content {
            Standing::Vouched => Permission::Granted,
            // In no mode: a reversible mirror of bytes would still be bytes of a stranger.
            Standing::Unvouched => Permission::ProposedOnly,
            Standing::Refused => Permission::Denied,
        },
        Use::Propose => match node.content {
            Standing::Vouched | Standing::Unvouched => Permission::Granted,
            Standing::Refused => Permission::Denied,
        },
        Use::HandOut => match node.content {
            Standing::Vouched => Permission::Granted,
            Standing::Unvouched => Permission::Unvouched,
            Standing::Refused => Permission::Denied,
        },
        Use::WidenReaders => {
            let path = path.iter().map(|step| step.place.max(step.state)).max();
            strict(node.worst().max(path.unwrap_or(Standing::Vouched)))
        }
        Use::Destroy | Use::ChooseValues => strict(node.worst()),
    }
}

fn mirror(standing: Standing, mode: Mode) -> Permission {
    match (standing, mode) {
        (Standing::Vouched, _) | (Standing::Unvouched, Mode::Normal) => Permission::Granted,
        (Standing::Unvouched, Mode::Strict) => Permission::Held,
        (Standing::Refused, _) => Permission::Denied,
    }
}

fn strict(standing: Standing) -> Permission {
    match standing {
        Standing::Vouched => Permission::Granted,
        Standing::Unvouched => Permission::Unvouched,
        Standing::Refused => Permission::Denied,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format2::ObjectId;
    use crate::format2::log::{EntryOp, FileFacts, FilePart, Flags, NodeOp, Source};
    use cairn_model::{AccountId, NodeId};

    use Permission as P;
    use Standing::{Refused, Unvouched, Vouched};

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

    fn standing(place: Standing, content: Standing, state: Standing) -> NodeStanding {
        NodeStanding {
            place,
            content,
            state,
        }
    }

    #[test]
    fn the_table_of_uses() {
        use Permission::{Denied as D, Granted as G, Held as H, ProposedOnly as R, Unvouched as U};
        use Standing::{Refused as N, Unvouched as X, Vouched as V};
        // MirrorPlace, MirrorTrash, ReplaceFile, Propose, WidenReaders, HandOut, Destroy, ChooseValues.
        let rows = [
            (standing(V, V, V), [G, G, G, G, G, G, G, G], [G, G]),
            (standing(X, V, V), [G, G, G, G, U, G, U, U], [H, G]),
            (standing(V, V, X), [G, G, G, G, U, G, U, U], [G, H]),
            (standing(V, X, V), [G, G, R, G, U, U, U, U], [G, G]),
            (standing(N, V, V), [D, G, G, G, D, G, D, D], [D, G]),
            (standing(V, N, V), [G, G, D, D, D, D, D, D], [G, G]),
            (standing(V, V, N), [G, D, G, G, D, G, D, D], [G, D]),
        ];
        for (node, normal, strict_mirrors) in rows {
            for (i, (wish, expected)) in USES.into_iter().zip(normal).enumerate() {
                assert_eq!(
                    permit(node, &[], wish, Mode::Normal),
                    expected,
                    "{node:?} {wish:?}"
                );
                let strict = strict_mirrors.get(i).copied().unwrap_or(expected);
                assert_eq!(
                    permit(node, &[], wish, Mode::Strict),
                    strict,
                    "{node:?} {wish:?}"
                );
            }
        }
    }

    #[test]
    fn each_step_of_a_shared_path_counts() {
        let share = |path: &[NodeStanding]| {
            permit(NodeStanding::VOUCHED, path, Use::WidenReaders, Mode::Normal)
        };
        let good = NodeStanding::VOUCHED;
        assert_eq!(share(&[good, good]), P::Granted);
        for bad in [
            standing(Unvouched, Vouched, Vouched),
            standing(Vouched, Vouched, Unvouched),
        ] {
            assert_eq!(share(&[bad, good]), P::Unvouched);
            assert_eq!(share(&[good, bad]), P::Unvouched);
        }
        assert_eq!(share(&[standing(Refused, Vouched, Vouched)]), P::Denied);
    }

    #[test]
    fn no_unvouched_content_replaces_a_file_in_any_mode() {
        for mode in [Mode::Normal, Mode::Strict] {
            for place in [Vouched, Unvouched, Refused] {
                for content in [Unvouched, Refused] {
                    for state in [Vouched, Unvouched, Refused] {
                        let node = standing(place, content, state);
                        for wish in [
                            Use::ReplaceFile,
                            Use::HandOut,
                            Use::Destroy,
                            Use::ChooseValues,
                        ] {
                            assert_ne!(permit(node, &[], wish, mode), P::Granted, "{node:?}");
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
        let rows: [(Change, NodeStanding); 6] = [
            (|_| (), NodeStanding::VOUCHED),
            (
                |e| e.name = b"b".to_vec(),
                standing(Unvouched, Vouched, Vouched),
            ),
            (
                |e| e.parent = Some(e.node),
                standing(Unvouched, Vouched, Vouched),
            ),
            (
                |e| {
                    e.source = Some(Source::Opaque {
                        sha256: [1; 32],
                        size: 1,
                    })
                },
                standing(Vouched, Unvouched, Vouched),
            ),
            (
                |e| e.is_trashed = true,
                standing(Vouched, Vouched, Unvouched),
            ),
            (
                |e| e.is_purged = true,
                standing(Vouched, Vouched, Unvouched),
            ),
        ];
        for (change, expected) in rows {
            let mut entry = entry();
            change(&mut entry);
            assert_eq!(NodeStanding::of(Some(&statement()), Some(&entry)), expected);
        }
        let of = NodeStanding::of;
        assert_eq!(
            of(None, Some(&entry())),
            standing(Unvouched, Unvouched, Unvouched)
        );
        assert_eq!(of(Some(&statement()), None), NodeStanding::VOUCHED);
        assert_eq!(of(None, None), standing(Refused, Refused, Refused));
        let refused = of(Some(&statement()), None).with_refused_content();
        assert_eq!(refused, standing(Vouched, Refused, Vouched));
    }
}
