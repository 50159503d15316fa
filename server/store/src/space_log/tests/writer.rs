//! Devices that write and read a signed log: keys, commits, and a state of their own that follows the pages.

use cairn_log::{
    Commit, CommitHeader, Control, ControlBody, Device, DeviceList, ElementName, Epoch, FileFacts,
    FilePart, Flags, Frame, Genesis, LogPage, NodeOp, NodeStatement, ObjectId, SpaceState,
    Statement, device_number, short_hash,
};
use cairn_model::{AccountId, NodeId, SpaceId};
use ed25519_dalek::{Signer as _, SigningKey};

pub(crate) fn node(n: u8) -> NodeId {
    NodeId::from_random_bytes([n; 16])
}

/// A device with the identity of its account; the index of the device makes its key.
pub(crate) struct Writer {
    pub(crate) state: SpaceState,
    space: SpaceId,
    account: AccountId,
    number: u8,
    own: u64,
}

impl Writer {
    /// Device 1 of an account, at a log without entries.
    pub(crate) fn new(space: SpaceId, account: AccountId, history: [u8; 16]) -> Self {
        Self {
            state: SpaceState::new(space, history),
            space,
            account,
            number: 1,
            own: 0,
        }
    }

    /// Another device of the account, which has read as much.
    pub(crate) fn device(&self, number: u8) -> Self {
        Self {
            state: self.state.clone(),
            number,
            own: 0,
            ..*self
        }
    }

    fn key(&self, number: u8) -> SigningKey {
        let mut seed = [number; 32];
        seed[..16].copy_from_slice(self.account.as_bytes());
        SigningKey::from_bytes(&seed)
    }

    fn identity(&self) -> [u8; 32] {
        self.key(0).verifying_key().to_bytes()
    }

    /// Reads a page on from what it has.
    pub(crate) fn read(&mut self, page: &LogPage) {
        for frame in &page.frames {
            match frame {
                Frame::Commit(bytes) => self.state.apply_commit(bytes),
                Frame::Entry(bytes) => self.state.apply_entry(bytes),
                Frame::CommitLeaf(_) | Frame::EntryLeaf(_) => panic!("nothing is pruned"),
            }
            .unwrap();
        }
        assert_eq!(self.state.head(), (page.size, page.root));
    }

    pub(crate) fn header(&mut self) -> CommitHeader {
        let (seen, root) = self.state.head();
        self.own += 1;
        let key = self.key(self.number).verifying_key().to_bytes();
        CommitHeader {
            history: self.state.history(),
            device: device_number(&key).unwrap(),
            own: self.own,
            seen,
            root,
            clock_ms: 1,
            count: 0,
        }
    }

    pub(crate) fn sign(&self, header: CommitHeader, statements: Vec<Vec<u8>>) -> Vec<u8> {
        let mut commit = Commit::unsigned(header, statements).unwrap();
        let signed = commit.to_sign(self.space);
        commit.signature = self.key(self.number).sign(signed.as_bytes()).to_bytes();
        commit.encode()
    }

    /// A commit that continues what the device has read.
    pub(crate) fn commit(&mut self, statements: Vec<Vec<u8>>) -> Vec<u8> {
        let header = self.header();
        self.sign(header, statements)
    }

    /// The first commit of the space.
    pub(crate) fn first_commit(&mut self) -> Vec<u8> {
        let genesis = ControlBody::Genesis(Genesis {
            is_private: false,
            account: self.account,
            identity: self.identity(),
            clock_ms: 1,
            random: [1; 16],
        });
        let space = *self.space.as_bytes();
        let genesis = encode(space, [0; 16], genesis);
        let list = encode(*self.account.as_bytes(), [0; 16], self.list(1, &[1]));
        let epoch = ControlBody::Epoch(Epoch {
            epoch: 1,
            check: [2; 32],
            boxes: [0; 32],
        });
        let epoch = encode(space, short_hash(&genesis), epoch);
        self.commit(vec![genesis, list, epoch])
    }

    /// The signed list of the account's devices.
    pub(crate) fn list(&self, counter: u64, numbers: &[u8]) -> ControlBody {
        let mut devices: Vec<Device> = numbers
            .iter()
            .map(|number| {
                let key = self.key(*number).verifying_key().to_bytes();
                let number = device_number(&key).unwrap();
                Device { number, key }
            })
            .collect();
        devices.sort_unstable();
        let mut list = DeviceList {
            identity: self.identity(),
            counter,
            rsa: Box::new([1; 384]),
            kem: Box::new([1; 1184]),
            devices,
            signature: [0; 64],
        };
        let signed = list.to_sign(self.account);
        list.signature = self.key(0).sign(signed.as_bytes()).to_bytes();
        ControlBody::DeviceList(list)
    }

    /// A control statement that continues its chain: that of the account for a device list, or the space's.
    pub(crate) fn control(&self, body: ControlBody) -> Vec<u8> {
        let is_list = matches!(body, ControlBody::DeviceList(_));
        let chain = if is_list {
            *self.account.as_bytes()
        } else {
            *self.space.as_bytes()
        };
        let prev = self.state.chain_prev(&ElementName::chain(&chain, &body));
        encode(chain, prev, body)
    }

    pub(crate) fn folder(&self, id: NodeId, parent: Option<NodeId>, name: &str) -> NodeStatement {
        NodeStatement {
            op: NodeOp::Create,
            node: id,
            seq: 1,
            prev: [0; 16],
            flags: Flags::FOLDER,
            parent,
            name: name.into(),
            epoch: self.state.epoch(),
            file: None,
            sealed_box: Vec::new(),
        }
    }

    pub(crate) fn file(&self, id: NodeId, name: &str, object: [u8; 32]) -> NodeStatement {
        NodeStatement {
            flags: Flags::default(),
            file: Some(FilePart {
                object: ObjectId(object),
                facts: Some(FileFacts {
                    size: 100,
                    mtime_ms: 6,
                }),
                key: None,
                attributes: None,
            }),
            sealed_box: vec![1; 48],
            ..self.folder(id, None, name)
        }
    }

    /// The statement that follows a node's newest one and changes nothing yet.
    pub(crate) fn next(&self, id: NodeId, op: NodeOp) -> NodeStatement {
        let old = self.state.statement(id).unwrap().clone();
        NodeStatement {
            op,
            seq: old.seq + 1,
            prev: self.state.node_prev(id),
            ..old
        }
    }
}

pub(crate) fn bytes(statement: NodeStatement) -> Vec<u8> {
    Statement::Node(statement).encode().unwrap()
}

fn encode(chain: [u8; 16], prev: [u8; 16], body: ControlBody) -> Vec<u8> {
    let control = Control { chain, prev, body };
    Statement::Control(control).encode().unwrap()
}
