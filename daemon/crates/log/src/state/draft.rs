//! One commit that is being checked: what it changes, against the state before.

use super::members::{self, Signer};
use super::nodes;
use super::{CHECKPOINT_STEP, LogResult, SpaceState};
use crate::commit::Commit;
use crate::control::{
    Checkpoint, Control, ControlBody, DeviceList, Genesis, Member, Role, identity_chain,
};
use crate::element::ElementName;
use crate::records::Records;
use crate::rules::Refusal;
use crate::short_form;
use crate::statement::{NodeStatement, Statement};
use cairn_model::{AccountId, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// The changes of a commit.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) genesis: Option<Genesis>,
    pub(super) epoch: Option<u64>,
    pub(super) members: Option<BTreeMap<AccountId, Member>>,
    pub(super) lists: BTreeMap<AccountId, DeviceList>,
    pub(super) nodes: BTreeMap<NodeId, NodeStatement>,
    /// The newest hash of each chain.
    pub(super) chains: BTreeMap<ElementName, [u8; 32]>,
}

/// A commit that is being checked.
pub(super) struct Draft<'a, R> {
    pub(super) state: &'a SpaceState<R>,
    commit: &'a Commit,
    pub(super) changes: Changes,
}

impl<'a, R: Records> Draft<'a, R> {
    pub(super) fn new(state: &'a SpaceState<R>, commit: &'a Commit) -> Self {
        let changes = Changes::default();
        Self {
            state,
            commit,
            changes,
        }
    }

    /// Checks all statements in order.
    pub(super) fn check(
        mut self,
        statements: &[(Statement, [u8; 32])],
    ) -> Result<Changes, R::Error> {
        let is_first = self.state.genesis.is_none();
        if is_first != is_founding(statements) {
            return Err(Refusal::Genesis.into());
        }
        let signer = members::signer(self.state, self.commit, statements)?;
        let mut changed = BTreeSet::new();
        for (statement, hash) in statements {
            let name = ElementName::of(statement);
            // The first commit alone has two of the space's chain: genesis and epoch.
            if !changed.insert(name) && !is_first {
                return Err(Refusal::Twice.into());
            }
            match statement {
                Statement::Node(node) => self.check_node(node, &signer)?,
                Statement::Control(control) => {
                    self.check_control(control, &signer)?;
                    self.changes.chains.insert(name, *hash);
                }
            }
        }
        nodes::check_places(&self)?;
        members::check_additions(&self)?;
        Ok(self.changes)
    }

    fn check_node(&mut self, statement: &NodeStatement, signer: &Signer) -> Result<(), R::Error> {
        signer.require(Role::Member)?;
        if statement.epoch != self.epoch() {
            return Err(Refusal::Epoch.into());
        }
        nodes::check_statement(self.state, statement)?;
        let changed = &mut self.changes.nodes;
        changed.insert(statement.node, statement.clone());
        Ok(())
    }

    fn check_control(&mut self, control: &Control, signer: &Signer) -> Result<(), R::Error> {
        let name = ElementName::of_control(control);
        let newest = match self.changes.chains.get(&name) {
            Some(hash) => short_form(hash),
            None => self.state.prev_of(&name)?,
        };
        if control.prev != newest {
            return Err(Refusal::Prev.into());
        }
        let device = self.commit.header.device;
        let expected = control.body.chain(self.state.space, device);
        if expected.is_some_and(|chain| chain != control.chain) {
            return Err(Refusal::Chain.into());
        }
        self.check_body(control, signer)
    }

    fn check_body(&mut self, control: &Control, signer: &Signer) -> Result<(), R::Error> {
        match &control.body {
            ControlBody::Genesis(genesis) => {
                self.found_space(genesis);
                Ok(())
            }
            ControlBody::Roster(roster) => {
                signer.require(Role::Admin)?;
                let members = members::check_roster(self.state, control, roster, signer)?;
                self.changes.members = Some(members);
                Ok(())
            }
            ControlBody::Epoch(epoch) => Ok(self.check_epoch(epoch.epoch, signer)?),
            ControlBody::DeviceList(list) => {
                let account = members::check_devices(self, control, list)?;
                self.changes.lists.insert(account, list.clone());
                Ok(())
            }
            ControlBody::Invitation(invitation) => Ok(check_invitation(invitation.role, signer)?),
            ControlBody::Checkpoint(checkpoint) => self.check_checkpoint(checkpoint),
            ControlBody::Link(_) => Ok(signer.require(Role::Member)?),
            ControlBody::Rejoin(_) => Ok(()),
            ControlBody::Joined(_) => Ok(self.check_personal(signer)?),
            ControlBody::Identity(change) => {
                self.check_personal(signer)?;
                if control.chain != identity_chain(&signer.account.0) {
                    return Err(Refusal::Chain.into());
                }
                Ok(members::check_identity(signer.account, change)?)
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

    fn found_space(&mut self, genesis: &Genesis) {
        let founder = Member {
            account: genesis.account,
            identity: genesis.identity,
            role: Role::Owner,
        };
        self.changes.members = Some(BTreeMap::from([(genesis.account, founder)]));
        self.changes.genesis = Some(genesis.clone());
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

    fn check_checkpoint(&self, checkpoint: &Checkpoint) -> Result<(), R::Error> {
        let position = checkpoint.position;
        if !position.is_multiple_of(CHECKPOINT_STEP) {
            return Err(Refusal::Checkpoint.into());
        }
        let mark = self.state.records.mark(position)?;
        let mark = mark.ok_or(Refusal::Checkpoint)?;
        let root = self.state.records.root_at(position)?;
        let root = root.ok_or(Refusal::RootUnknown)?;
        let holds = (mark.digest, root) == (checkpoint.digest, checkpoint.root);
        if holds && mark.epoch == checkpoint.epoch && position <= self.commit.header.seen {
            Ok(())
        } else {
            Err(Refusal::Checkpoint.into())
        }
    }

    /// The epoch that statements behind this point carry.
    fn epoch(&self) -> u64 {
        self.changes.epoch.unwrap_or(self.state.epoch)
    }

    /// The roster that statements behind this point are checked against.
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
