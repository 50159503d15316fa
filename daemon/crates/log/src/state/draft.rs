//! One commit on its way into the state: what it changes, held against what was before.

use super::members::{self, Signer};
use super::nodes;
use super::{CHECKPOINT_STEP, KnownDevice, LogResult, NodeState, SpaceState};
use crate::commit::Commit;
use crate::control::{
    Chain, Checkpoint, Control, ControlBody, DeviceList, Genesis, Member, Role, identity_chain,
};
use crate::digest::Element;
use crate::rules::Refusal;
use crate::short;
use crate::statement::{NodeOp, NodeStatement, Statement};
use cairn_model::{AccountId, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// The changes of a commit.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) genesis: Option<Genesis>,
    pub(super) epoch: Option<u64>,
    pub(super) members: Option<BTreeMap<AccountId, Member>>,
    pub(super) lists: BTreeMap<AccountId, DeviceList>,
    pub(super) nodes: BTreeMap<NodeId, (NodeStatement, [u8; 32])>,
    /// The newest hash of each chain, and whether the digest counts it.
    pub(super) chains: BTreeMap<Chain, ([u8; 32], bool)>,
}

/// A commit that is being checked.
pub(super) struct Draft<'a> {
    pub(super) state: &'a SpaceState,
    commit: &'a Commit,
    pub(super) changes: Changes,
}

impl<'a> Draft<'a> {
    pub(super) fn new(state: &'a SpaceState, commit: &'a Commit) -> Self {
        let changes = Changes::default();
        Self {
            state,
            commit,
            changes,
        }
    }

    /// Checks all statements in order.
    pub(super) fn check(mut self, statements: &[(Statement, [u8; 32])]) -> LogResult<Changes> {
        let is_first = self.state.genesis.is_none();
        if is_first != is_founding(statements) {
            return Err(Refusal::Genesis);
        }
        let signer = members::signer(self.state, self.commit, statements)?;
        let mut changed = BTreeSet::new();
        for (statement, hash) in statements {
            let (id, counts) = super::super::frame::element(statement);
            // The first commit alone has two of the space's chain: genesis and epoch.
            if !changed.insert(id) && !is_first {
                return Err(Refusal::Twice);
            }
            match statement {
                Statement::Node(node) => self.check_node(node, *hash, &signer)?,
                Statement::Control(control) => {
                    self.check_control(control, &signer)?;
                    self.changes.chains.insert(id, (*hash, counts));
                }
            }
        }
        nodes::check_places(&self)?;
        members::check_additions(&self)?;
        Ok(self.changes)
    }

    fn check_node(
        &mut self,
        statement: &NodeStatement,
        hash: [u8; 32],
        signer: &Signer,
    ) -> LogResult<()> {
        signer.require(Role::Member)?;
        if statement.epoch != self.epoch() {
            return Err(Refusal::Epoch);
        }
        nodes::check_statement(self.state, statement)?;
        self.changes
            .nodes
            .insert(statement.node, (statement.clone(), hash));
        Ok(())
    }

    fn check_control(&mut self, control: &Control, signer: &Signer) -> LogResult<()> {
        let newest = match self.changes.chains.get(&control.chain) {
            Some((hash, _)) => short(hash),
            None => self.state.chain_prev(&control.chain),
        };
        if control.prev != newest {
            return Err(Refusal::Prev);
        }
        let device = self.commit.header.device;
        let expected = control.body.chain(self.state.space, device);
        if expected.is_some_and(|chain| chain != control.chain) {
            return Err(Refusal::Chain);
        }
        match &control.body {
            ControlBody::Genesis(genesis) => self.found(genesis),
            ControlBody::Roster(roster) => {
                signer.require(Role::Admin)?;
                let members = members::check_roster(self.state, control, roster, signer)?;
                self.changes.members = Some(members);
                Ok(())
            }
            ControlBody::Epoch(epoch) => self.check_epoch(epoch.epoch, signer),
            ControlBody::DeviceList(list) => {
                let account = members::check_devices(self, control, list)?;
                self.changes.lists.insert(account, list.clone());
                Ok(())
            }
            ControlBody::Invitation(invitation) => check_invitation(invitation.role, signer),
            ControlBody::Checkpoint(checkpoint) => self.check_checkpoint(checkpoint),
            ControlBody::Link(_) => signer.require(Role::Member),
            ControlBody::Rejoin(_) => Ok(()),
            ControlBody::Joined(_) => self.check_personal(signer),
            ControlBody::Identity(change) => {
                self.check_personal(signer)?;
                if control.chain != identity_chain(&signer.account.0) {
                    return Err(Refusal::Chain);
                }
                members::check_identity(signer.account, change)
            }
        }
    }

    fn check_epoch(&mut self, epoch: u64, signer: &Signer) -> LogResult<()> {
        signer.require(Role::Admin)?;
        let next = self.state.epoch + 1;
        let jump = if self.state.is_restored {
            super::MAX_JUMP
        } else {
            0
        };
        if !(next..=next + jump).contains(&epoch) {
            return Err(Refusal::Epoch);
        }
        self.changes.epoch = Some(epoch);
        Ok(())
    }

    fn found(&mut self, genesis: &Genesis) -> LogResult<()> {
        let founder = Member {
            account: genesis.account,
            identity: genesis.identity,
            role: Role::Owner,
        };
        self.changes.members = Some(BTreeMap::from([(genesis.account, founder)]));
        self.changes.genesis = Some(genesis.clone());
        Ok(())
    }

    /// A personal space has one member, its founder.
    fn check_personal(&self, signer: &Signer) -> LogResult<()> {
        let is_founder = self
            .state
            .genesis
            .as_ref()
            .is_some_and(|genesis| genesis.account == signer.account);
        if is_founder && self.state.members.len() == 1 {
            Ok(())
        } else {
            Err(Refusal::Role)
        }
    }

    fn check_checkpoint(&self, checkpoint: &Checkpoint) -> LogResult<()> {
        let position = checkpoint.position;
        let mark = self.state.marks.get(&position);
        let root = self.state.root_at(position);
        let (Some((digest, epoch)), Some(root)) = (mark, root) else {
            let is_old = position.is_multiple_of(CHECKPOINT_STEP) && mark.is_some();
            return Err(if is_old {
                Refusal::RootUnknown
            } else {
                Refusal::Checkpoint
            });
        };
        let holds = (digest, root) == (&checkpoint.digest, &checkpoint.root);
        if holds && *epoch == checkpoint.epoch && position <= self.commit.header.seen {
            Ok(())
        } else {
            Err(Refusal::Checkpoint)
        }
    }

    /// The epoch that statements behind this point carry.
    fn epoch(&self) -> u64 {
        self.changes.epoch.unwrap_or(self.state.epoch)
    }

    /// The roster that statements behind this point are held against.
    pub(super) fn members(&self) -> &BTreeMap<AccountId, Member> {
        self.changes.members.as_ref().unwrap_or(&self.state.members)
    }
}

/// An admin invites nobody to a role at or above their own.
fn check_invitation(role: Option<Role>, signer: &Signer) -> LogResult<()> {
    signer.require(Role::Admin)?;
    let is_below = role.is_none_or(|role| role < signer.role);
    if is_below || signer.role == Role::Owner {
        Ok(())
    } else {
        Err(Refusal::Role)
    }
}

fn is_founding(statements: &[(Statement, [u8; 32])]) -> bool {
    let body = |at: usize| match statements.get(at) {
        Some((Statement::Control(control), _)) => Some(&control.body),
        Some((Statement::Node(_), _)) | None => None,
    };
    statements.len() == 3
        && matches!(body(0), Some(ControlBody::Genesis(_)))
        && matches!(body(1), Some(ControlBody::DeviceList(_)))
        && matches!(body(2), Some(ControlBody::Epoch(_)))
}

impl SpaceState {
    /// Takes in what was checked.
    pub(super) fn take(&mut self, changes: Changes) {
        if let Some(genesis) = changes.genesis {
            self.genesis = Some(genesis);
        }
        if let Some(members) = changes.members {
            self.members = members;
        }
        self.epoch = changes.epoch.unwrap_or(self.epoch);
        for (account, list) in changes.lists {
            for device in self.devices.values_mut() {
                device.is_listed &= device.account != account;
            }
            for device in &list.devices {
                let fresh = KnownDevice {
                    account,
                    key: device.key,
                    is_listed: true,
                    own: 0,
                    min_seen: 0,
                };
                let known = self.devices.entry(device.number).or_insert(fresh);
                known.is_listed = true;
            }
            self.lists.insert(account, list);
        }
        for (chain, (hash, counts)) in changes.chains {
            let old = self.chains.insert(chain, hash);
            if counts {
                if let Some(old) = old {
                    self.digest.remove(&chain, Element::Signed, &old);
                }
                self.digest.add(&chain, Element::Signed, &hash);
            }
        }
        // All old places go before new ones come: two nodes may swap theirs.
        for node in changes.nodes.keys() {
            let old = self.nodes.get(node).and_then(|n| n.signed.as_ref());
            // A name that a node in the trash once had may be another's by now.
            if let Some((old, _)) = old.filter(|(old, _)| nodes::has_place(old)) {
                self.places.remove(&(old.parent, old.name.clone()));
            }
        }
        for (node, (statement, hash)) in changes.nodes {
            self.take_node(node, statement, hash);
        }
    }

    fn take_node(&mut self, node: NodeId, statement: NodeStatement, hash: [u8; 32]) {
        let id = node.as_bytes();
        let old = self.nodes.remove(&node).unwrap_or_default();
        if let Some((_, old)) = old.signed {
            self.digest.remove(id, Element::Signed, &old);
        }
        if let Some((_, old)) = old.entry {
            self.digest.remove(id, Element::Server, &old);
        }
        if statement.op == NodeOp::Purge {
            self.purged.insert(node);
            return;
        }
        self.digest.add(id, Element::Signed, &hash);
        if nodes::has_place(&statement) {
            let place = (statement.parent, statement.name.clone());
            self.places.insert(place, node);
        }
        let state = NodeState {
            signed: Some((statement, hash)),
            entry: None,
        };
        self.nodes.insert(node, state);
    }
}
