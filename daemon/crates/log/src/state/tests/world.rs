//! Test data: a space with its people and devices, and the log that they write. The log begins with the genesis, the
//! statement that founds the space; a frame is one leaf of it, as the server sends it.

use super::both::Both;
use super::*;
use crate::commit::CommitHeader;
use crate::control::{Chain, Control, Device, DeviceList, Epoch, Genesis, Roster};
use crate::ids::ObjectId;
use crate::signature::device_number;
use crate::statement::{FileFacts, FilePart, Statement};
use crate::test_key::{TestKey, sign_commit};
use cairn_model::AccountId;
use std::collections::BTreeMap;

pub(super) fn node(n: u8) -> NodeId {
    NodeId::from_random_bytes([n; 16])
}

pub(super) fn account(n: u8) -> AccountId {
    AccountId::from_random_bytes([0x80 | n; 16])
}

pub(super) fn identity(n: u8) -> TestKey {
    TestKey::from_seed(&[n; 32])
}

/// Device `d` of person `n`.
pub(super) fn device(n: u8, d: u8) -> TestKey {
    TestKey::from_seed(&[0x40 | n << 3 | d; 32])
}

pub(super) fn number(key: &TestKey) -> u32 {
    device_number(&key.public()).unwrap()
}

pub(super) fn node_bytes(statement: &NodeStatement) -> Vec<u8> {
    Statement::Node(statement.clone()).encode().unwrap()
}

pub(super) fn member(n: u8, role: Role) -> Member {
    let identity = identity(n).public();
    Member {
        account: account(n),
        identity,
        role,
    }
}

/// Person 1 founds the space and writes with device 1.
pub(super) struct World {
    pub(super) state: Both,
    pub(super) frames: Vec<Frame>,
    /// Bodies of statements by their hash.
    pub(super) bodies: BTreeMap<[u8; 32], Vec<u8>>,
    own: u64,
    is_private: bool,
}

impl World {
    pub(super) fn empty(is_private: bool) -> Self {
        let state = Both::new(SpaceId::from_random_bytes([0x99; 16]), [5; 16]);
        let (frames, bodies) = (Vec::new(), BTreeMap::new());
        Self {
            state,
            frames,
            bodies,
            own: 0,
            is_private,
        }
    }

    pub(super) fn with_genesis(is_private: bool) -> Self {
        let mut world = Self::empty(is_private);
        let founding = world.founding_statements();
        let header = world.header();
        world.commit_as(header, &founding).unwrap();
        world
    }

    pub(super) fn space(&self) -> SpaceId {
        self.state.space
    }

    pub(super) fn founding_statements(&self) -> Vec<Vec<u8>> {
        let space = *self.space().as_bytes();
        let genesis = Genesis {
            is_private: self.is_private,
            account: account(1),
            identity: identity(1).public(),
            clock_ms: 1,
            random: [1; 16],
        };
        let genesis = self.control_bytes(space, [0; 16], ControlBody::Genesis(genesis));
        let list = ControlBody::DeviceList(self.list(1, 1, &[1]));
        let list = self.control_bytes(*account(1).as_bytes(), [0; 16], list);
        let epoch = ControlBody::Epoch(Epoch {
            epoch: 1,
            check: [2; 32],
            boxes: [3; 32],
        });
        let epoch = self.control_bytes(space, crate::short_hash(&genesis), epoch);
        vec![genesis, list, epoch]
    }

    /// The signed list of a person's devices.
    pub(super) fn list(&self, n: u8, counter: u64, devices: &[u8]) -> DeviceList {
        let mut devices: Vec<Device> = devices
            .iter()
            .map(|d| Device {
                number: number(&device(n, *d)),
                key: device(n, *d).public(),
            })
            .collect();
        devices.sort_unstable();
        let mut list = DeviceList {
            identity: identity(n).public(),
            counter,
            rsa: Box::new([n; 384]),
            kem: Box::new([n; 1184]),
            devices,
            signature: [0; 64],
        };
        list.signature = identity(n).sign(&list.to_sign(account(n)));
        list
    }

    pub(super) fn control_bytes(&self, chain: Chain, prev: [u8; 16], body: ControlBody) -> Vec<u8> {
        Statement::Control(Control { chain, prev, body })
            .encode()
            .unwrap()
    }

    /// The `prev` of the next statement in the chain of the space.
    pub(super) fn space_prev(&self) -> [u8; 16] {
        let name = ElementName {
            id: *self.space().as_bytes(),
            class: 32,
        };
        self.state.chain_prev(&name)
    }

    /// A control statement that continues its chain.
    pub(super) fn next(&self, chain: Chain, body: ControlBody) -> Vec<u8> {
        let prev = self.state.chain_prev(&ElementName::chain(&chain, &body));
        self.control_bytes(chain, prev, body)
    }

    /// A roster signed by person `by`.
    pub(super) fn roster(&self, members: Vec<Member>, by: Option<u8>) -> ControlBody {
        let mut roster = Roster {
            members,
            boxes: [0; 32],
            signed: None,
        };
        let prev = self.space_prev();
        if let Some(by) = by {
            let signed = roster.to_sign(self.space(), &prev);
            roster.signed = Some((account(by), identity(by).sign(&signed)));
        }
        ControlBody::Roster(roster)
    }

    pub(super) fn header(&self) -> CommitHeader {
        let (seen, root) = self.state.head();
        CommitHeader {
            history: self.state.history,
            device: number(&device(1, 1)),
            own: self.own + 1,
            seen,
            root,
            clock_ms: 1,
            count: 0,
        }
    }

    /// Signs with the key of the header's device.
    pub(super) fn commit_as(
        &mut self,
        header: CommitHeader,
        statements: &[Vec<u8>],
    ) -> LogResult<u64> {
        let keys = (1..=4).flat_map(|n| (1..=4).map(move |d| device(n, d)));
        let key = keys.into_iter().find(|key| number(key) == header.device);
        let own = header.own;
        let commit = sign_commit(self.space(), header, statements.to_vec(), &key.unwrap()).unwrap();
        let position = self.state.apply_commit(&commit.encode())?;
        self.own = self.own.max(own);
        self.frames.push(Frame::Commit(commit.encode()));
        for statement in statements {
            self.bodies.insert(hash(statement), statement.clone());
        }
        Ok(position)
    }

    pub(super) fn commit(&mut self, statements: &[Vec<u8>]) -> LogResult<u64> {
        self.commit_as(self.header(), statements)
    }

    /// Commits as device `d` of person `n`.
    pub(super) fn commit_by(&mut self, n: u8, d: u8, statements: &[Vec<u8>]) -> LogResult<u64> {
        let header = CommitHeader {
            device: number(&device(n, d)),
            ..self.header()
        };
        self.commit_as(header, statements)
    }

    pub(super) fn node(&mut self, statement: NodeStatement) -> LogResult<u64> {
        self.commit(&[node_bytes(&statement)])
    }

    /// Commits a control statement in the chain that it belongs to.
    pub(super) fn control(&mut self, body: ControlBody) -> LogResult<u64> {
        let chain = body.chain(self.space(), number(&device(1, 1))).unwrap();
        self.commit(&[self.next(chain, body)])
    }

    pub(super) fn folder_statement(&self, n: u8, parent: Option<u8>) -> NodeStatement {
        let is_private = self.is_private;
        let flags = if is_private {
            Flags::FOLDER.with(Flags::PRIVATE)
        } else {
            Flags::FOLDER
        };
        NodeStatement {
            op: NodeOp::Create,
            node: node(n),
            seq: 1,
            prev: [0; 16],
            flags,
            parent: parent.map(node),
            name: if is_private {
                Vec::new()
            } else {
                format!("folder {n}").into_bytes()
            },
            epoch: self.state.epoch(),
            file: None,
            sealed_box: if is_private { vec![1; 48] } else { Vec::new() },
        }
    }

    pub(super) fn folder(&self, n: u8, parent: Option<u8>) -> Vec<u8> {
        node_bytes(&self.folder_statement(n, parent))
    }

    pub(super) fn file_statement(&self, n: u8, parent: Option<u8>, name: &str) -> NodeStatement {
        let facts = Some(FileFacts {
            size: 5,
            mtime_ms: 6,
        });
        let object = ObjectId([n; 32]);
        NodeStatement {
            flags: Flags::default(),
            name: name.into(),
            file: Some(FilePart {
                object,
                facts,
                key: None,
                attributes: None,
            }),
            sealed_box: vec![1; 48],
            ..self.folder_statement(n, parent)
        }
    }

    pub(super) fn create_folder(&mut self, n: u8, parent: Option<u8>) {
        self.node(self.folder_statement(n, parent)).unwrap();
    }

    pub(super) fn create_file(&mut self, n: u8, parent: Option<u8>, name: &str) {
        self.node(self.file_statement(n, parent, name)).unwrap();
    }

    /// The statement that follows a node's newest one.
    pub(super) fn successor(&self, n: u8, op: NodeOp) -> NodeStatement {
        let old = self.state.statement(node(n)).unwrap().clone();
        let prev = self.state.node_prev(node(n));
        NodeStatement {
            op,
            seq: old.seq + 1,
            prev,
            ..old
        }
    }

    pub(super) fn rename_statement(&self, n: u8, parent: Option<u8>, name: &str) -> NodeStatement {
        let (parent, name) = (parent.map(node), name.into());
        NodeStatement {
            parent,
            name,
            ..self.successor(n, NodeOp::Place)
        }
    }

    pub(super) fn rename(&mut self, n: u8, parent: Option<u8>, name: &str) {
        self.node(self.rename_statement(n, parent, name)).unwrap();
    }

    pub(super) fn trash(&mut self, n: u8) {
        let mut statement = self.successor(n, NodeOp::Trash);
        statement.flags = statement.flags.with(Flags::TRASHED);
        self.node(statement).unwrap();
    }

    pub(super) fn purge(&mut self, n: u8) {
        self.node(self.successor(n, NodeOp::Purge)).unwrap();
    }

    /// An entry that moves a folder to the top.
    pub(super) fn entry(&self, n: u8, name: &str) -> ServerEntry {
        ServerEntry {
            op: EntryOp::Place,
            node: node(n),
            prev: self.state.node_prev(node(n)),
            is_folder: true,
            is_trashed: false,
            is_purged: false,
            parent: None,
            name: name.into(),
            source: None,
            actor: account(1),
            clock_ms: 1,
        }
    }

    pub(super) fn keyless_place(&mut self, n: u8, name: &str) {
        let bytes = self.entry(n, name).encode();
        self.state.apply_entry(&bytes).unwrap();
        self.frames.push(Frame::Entry(bytes));
    }

    /// Adds device 2 of the founder and returns its number.
    pub(super) fn second_device(&mut self) -> u32 {
        let list = ControlBody::DeviceList(self.list(1, 2, &[1, 2]));
        let list = self.next(*account(1).as_bytes(), list);
        self.commit(&[list]).unwrap();
        number(&device(1, 2))
    }

    /// Adds person `n` with device 1.
    pub(super) fn add(&mut self, n: u8, role: Role) {
        let mut members: Vec<Member> = self.state.members.values().copied().collect();
        members.push(member(n, role));
        let roster = self.next(*self.space().as_bytes(), self.roster(members, Some(1)));
        let list = ControlBody::DeviceList(self.list(n, 1, &[1]));
        let list = self.next(*account(n).as_bytes(), list);
        self.commit(&[roster, list]).unwrap();
    }

    /// The consistency proof from a size to the present one (RFC 9162, section 2.1.4.1).
    pub(super) fn proof(&self, size: u64) -> Vec<[u8; 32]> {
        let leaves: Vec<[u8; 32]> = self.frames.iter().map(|f| f.leaf().unwrap()).collect();
        fn root(leaves: &[[u8; 32]]) -> [u8; 32] {
            let mut tree = Tree::default();
            leaves.iter().for_each(|leaf| tree.push(*leaf));
            tree.root()
        }
        fn prove(old: usize, leaves: &[[u8; 32]], is_whole: bool) -> Vec<[u8; 32]> {
            if old == leaves.len() {
                return if is_whole {
                    Vec::new()
                } else {
                    vec![root(leaves)]
                };
            }
            let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
            let (mut proof, other) = if old <= left.len() {
                (prove(old, left, is_whole), root(right))
            } else {
                (prove(old - left.len(), right, false), root(left))
            };
            proof.push(other);
            proof
        }
        prove(usize::try_from(size).unwrap(), &leaves, true)
    }
}
