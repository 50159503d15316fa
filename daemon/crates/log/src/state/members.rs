//! Signers, members and their devices: the rules of rosters (the lists of a space's members) and device lists.

use super::draft::Draft;
use super::{LogResult, SpaceState};
use crate::commit::Commit;
use crate::control::{Control, ControlBody, DeviceList, IdentityChange, Member, Role, Roster};
use crate::records::Records;
use crate::rules::Refusal;
use crate::signature::device_number;
use crate::signature::verify;
use crate::statement::Statement;
use cairn_model::AccountId;
use std::collections::BTreeMap;
use uuid::Uuid;

/// The account behind a commit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signer {
    pub(super) account: AccountId,
    pub(super) role: Role,
}

impl Signer {
    pub(super) fn require(&self, role: Role) -> LogResult<()> {
        if self.role >= role {
            Ok(())
        } else {
            Err(Refusal::Role)
        }
    }
}

/// Finds the device of a commit and checks its signature and its numbers. A device list counts in its
/// own commit; everything else is as it was before.
pub(super) fn signer<R: Records>(
    state: &SpaceState<R>,
    commit: &Commit,
    statements: &[(Statement, [u8; 32])],
) -> Result<Signer, R::Error> {
    let number = commit.header.device;
    let known = state.records.device(number)?;
    let (account, key) = match known.as_ref().filter(|device| device.is_listed) {
        Some(device) => (device.account, device.key),
        None => find_listed(statements, number).ok_or(Refusal::Device)?,
    };
    commit
        .verify(state.space, &key)
        .map_err(|_| Refusal::Signature)?;
    if let Some(device) = known {
        if commit.header.own <= device.own {
            return Err(Refusal::Own.into());
        }
        if commit.header.seen < device.min_seen {
            return Err(Refusal::Seen.into());
        }
    }
    let role = match state.role(account) {
        Some(role) => role,
        None if state.genesis.is_none() => Role::Owner,
        None => return Err(Refusal::Role.into()),
    };
    Ok(Signer { account, role })
}

fn find_listed(statements: &[(Statement, [u8; 32])], number: u32) -> Option<(AccountId, [u8; 32])> {
    statements.iter().find_map(|(statement, _)| {
        let Statement::Control(control) = statement else {
            return None;
        };
        let ControlBody::DeviceList(list) = &control.body else {
            return None;
        };
        let device = list.devices.iter().find(|d| d.number == number)?;
        Some((account_of(control), device.key))
    })
}

fn account_of(control: &Control) -> AccountId {
    AccountId(Uuid::from_bytes(control.chain))
}

pub(super) fn check_identity(account: AccountId, change: &IdentityChange) -> LogResult<()> {
    let by = if change.is_objection {
        &change.old
    } else {
        &change.new
    };
    let signed = change.to_sign(account);
    verify(by, &signed, &change.signature).map_err(|_| Refusal::Identity)
}

/// Checks a device list and returns whose it is.
pub(super) fn check_devices<R: Records>(
    draft: &Draft<'_, R>,
    control: &Control,
    list: &DeviceList,
) -> Result<AccountId, R::Error> {
    let account = account_of(control);
    let member = draft.members().get(&account).ok_or(Refusal::DeviceList)?;
    let floor = draft.state.counters.get(&account).copied().unwrap_or(0);
    let is_sorted = list.devices.is_sorted_by(|a, b| a.number < b.number);
    let signed = list.to_sign(account);
    let holds = member.identity == list.identity
        && list.counter > floor
        && !list.devices.is_empty()
        && is_sorted
        && verify(&list.identity, &signed, &list.signature).is_ok();
    if !holds {
        return Err(Refusal::DeviceList.into());
    }
    for device in &list.devices {
        let known = draft.state.records.device(device.number)?;
        let is_its_own = device_number(&device.key) == Some(device.number)
            && known.is_none_or(|known| known.is_listed && known.account == account);
        if !is_its_own {
            return Err(Refusal::DeviceList.into());
        }
    }
    Ok(account)
}

/// Checks a roster against the one before and returns it.
pub(super) fn check_roster<R: Records>(
    state: &SpaceState<R>,
    control: &Control,
    roster: &Roster,
    signer: &Signer,
) -> LogResult<BTreeMap<AccountId, Member>> {
    let mut members = BTreeMap::new();
    for member in &roster.members {
        if members.insert(member.account, *member).is_some() {
            return Err(Refusal::Roster);
        }
    }
    if !members.values().any(|member| member.role == Role::Owner) {
        return Err(Refusal::Roster);
    }
    let mut needs_signature = false;
    let by = roster
        .signed
        .as_ref()
        .and_then(|(by, _)| state.members.get(by));
    let accounts = state.members.keys().chain(members.keys());
    for account in accounts {
        let (old, new) = (state.members.get(account), members.get(account));
        if old == new {
            continue;
        }
        let may_change = |role: Role| {
            role == Role::Owner || [old, new].into_iter().flatten().all(|m| m.role < role)
        };
        let by_may = by.is_none_or(|by| may_change(by.role));
        if !may_change(signer.role) || !by_may {
            return Err(Refusal::Role);
        }
        needs_signature |= widens(old, new);
    }
    match (needs_signature, &roster.signed, by) {
        (false, None, _) => Ok(members),
        (true, Some((_, signature)), Some(by)) if by.role >= Role::Admin => {
            let signed = roster.to_sign(state.space, &control.prev);
            verify(&by.identity, &signed, signature).map_err(|_| Refusal::Roster)?;
            Ok(members)
        }
        _ => Err(Refusal::Roster),
    }
}

/// Returns `true` if somebody is added, or has a higher role or another identity.
fn widens(old: Option<&Member>, new: Option<&Member>) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => new.role > old.role || new.identity != old.identity,
        (None, Some(_)) => true,
        (_, None) => false,
    }
}

/// Checks that every member who is added, or has another identity, has a device list in the same commit.
pub(super) fn check_additions<R: Records>(draft: &Draft<'_, R>) -> LogResult<()> {
    let Some(members) = &draft.changes.members else {
        return Ok(());
    };
    let is_listed = |member: &Member| {
        let fresh = draft.changes.lists.get(&member.account);
        let old = draft.state.members.get(&member.account);
        let is_old = old.is_some_and(|old| old.identity == member.identity);
        is_old || fresh.is_some_and(|list| list.identity == member.identity)
    };
    if members.values().all(is_listed) {
        Ok(())
    } else {
        Err(Refusal::Roster)
    }
}
