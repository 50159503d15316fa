//! Rosters, roles and device lists: who may change what.

use super::world::{World, account, device, identity, member, node_bytes, number};
use super::*;
use crate::control::{Invitation, LinkNotice, Rejoin};

/// A team with one member of each role: persons 1 (owner), 2 (admin), 3 (member), 4 (viewer).
pub(super) fn team() -> World {
    let mut world = World::with_genesis(false);
    world.add(2, Role::Admin);
    world.add(3, Role::Member);
    world.add(4, Role::Viewer);
    world
}

fn members(roles: [Option<Role>; 4]) -> Vec<Member> {
    let people = (1..).zip(roles);
    people
        .filter_map(|(n, role)| Some(member(n, role?)))
        .collect()
}

const O: Option<Role> = Some(Role::Owner);
const A: Option<Role> = Some(Role::Admin);
const M: Option<Role> = Some(Role::Member);
const V: Option<Role> = Some(Role::Viewer);

/// The statements that device 1 of person `n` can make, each with the least role that allows it.
fn statements(world: &World, n: u8) -> Vec<(Vec<u8>, Role)> {
    let space = *world.space().as_bytes();
    let link = LinkNotice {
        act: 1,
        top: world::node(1),
        listing: 1,
        hash: [0; 32],
    };
    let invitation = Invitation {
        invite: [1; 16],
        token: [2; 32],
        role: V,
        expiry_ms: 5,
    };
    let epoch = crate::Epoch {
        epoch: 2,
        check: [1; 32],
        boxes: [1; 32],
    };
    let rejoin = Rejoin {
        history: [1; 16],
        size: 1,
        root: [1; 32],
    };
    let chain = crate::control::rejoin_chain(number(&device(n, 1)));
    let roster = world.roster(members([O, A, M, None]), None);
    let list = ControlBody::DeviceList(world.list(n, 2, &[1, 2]));
    let invitation = ControlBody::Invitation(invitation);
    vec![
        (world.folder(1, None), Role::Member),
        (world.next([7; 16], ControlBody::Link(link)), Role::Member),
        (world.next(space, ControlBody::Epoch(epoch)), Role::Admin),
        (world.next(space, invitation), Role::Admin),
        (world.next(space, roster), Role::Admin),
        (world.next(*account(n).as_bytes(), list), Role::Viewer),
        (world.next(chain, ControlBody::Rejoin(rejoin)), Role::Viewer),
    ]
}

#[test]
fn roles_allow_what_the_table_says() {
    for (n, role) in (1..).zip([Role::Owner, Role::Admin, Role::Member, Role::Viewer]) {
        for (i, (statement, least)) in statements(&team(), n).into_iter().enumerate() {
            let done = team().commit_by(n, 1, &[statement]);
            if role >= least {
                assert!(done.is_ok(), "{role:?}, case {i}: {done:?}");
            } else {
                assert_eq!(done, Err(Refusal::Role), "{role:?}, case {i}");
            }
        }
    }
}

#[test]
fn nobody_changes_a_role_at_or_above_their_own() {
    type Case = (u8, Option<u8>, [Option<Role>; 4], Result<(), Refusal>);
    // Who signs the commit and the roster, the new roles, and what becomes of it.
    let cases: [Case; 12] = [
        (1, None, [O, None, M, V], Ok(())),
        (1, None, [O, M, M, V], Ok(())),
        (1, Some(1), [O, O, M, V], Ok(())),
        (1, Some(1), [O, A, A, V], Ok(())),
        (2, Some(2), [O, A, M, M], Ok(())),
        (2, None, [O, A, None, None], Ok(())),
        (2, Some(2), [O, A, A, V], Err(Refusal::Role)),
        (2, None, [O, M, M, V], Err(Refusal::Role)),
        (2, None, [None, A, M, V], Err(Refusal::Roster)),
        (1, None, [A, A, M, V], Err(Refusal::Roster)),
        (1, None, [O, A, M, M], Err(Refusal::Roster)),
        (1, Some(1), [O, A, None, V], Err(Refusal::Roster)),
    ];
    for (i, (by_device, by, roles, expected)) in cases.into_iter().enumerate() {
        let mut world = team();
        let roster = world.roster(members(roles), by);
        let statement = world.next(*world.space().as_bytes(), roster);
        let done = world.commit_by(by_device, 1, &[statement]).map(|_| ());
        assert_eq!(done, expected, "case {i}");
    }
}

#[test]
fn an_admins_device_raises_nobody_without_a_passphrase() {
    // The identity of a member, or of nobody, instead of an admin's.
    for by in [3, 4] {
        let mut world = team();
        let roster = world.roster(members([O, A, M, M]), Some(by));
        let statement = world.next(*world.space().as_bytes(), roster);
        assert!(world.commit_by(1, 1, &[statement]).is_err());
    }
    let mut world = team();
    let ControlBody::Roster(mut roster) = world.roster(members([O, A, M, M]), Some(1)) else {
        unreachable!()
    };
    roster.members[3].role = Role::Admin;
    let statement = world.next(*world.space().as_bytes(), ControlBody::Roster(roster));
    assert_eq!(world.commit(&[statement]), Err(Refusal::Roster));
}

#[test]
fn a_member_comes_with_a_device_list_of_the_same_identity() {
    let mut world = World::with_genesis(false);
    let roster = world.roster(members([O, M, None, None]), Some(1));
    let space = *world.space().as_bytes();
    assert_eq!(
        world.commit(&[world.next(space, roster.clone())]),
        Err(Refusal::Roster)
    );
    let non_member = ControlBody::DeviceList(world.list(3, 1, &[1]));
    let non_member = world.next(*account(2).as_bytes(), non_member);
    let done = world.commit(&[world.next(space, roster.clone()), non_member]);
    assert_eq!(done, Err(Refusal::DeviceList));
    let list = ControlBody::DeviceList(world.list(2, 1, &[1]));
    let list = world.next(*account(2).as_bytes(), list);
    // The roster counts for the list behind it, not for one before it.
    let done = world.commit(&[list.clone(), world.next(space, roster.clone())]);
    assert_eq!(done, Err(Refusal::DeviceList));
    world.commit(&[world.next(space, roster), list]).unwrap();
}

#[test]
fn a_removed_member_writes_nothing() {
    let mut world = team();
    let roster = world.roster(members([O, A, None, V]), None);
    let roster = world.next(*world.space().as_bytes(), roster);
    world.commit(&[roster]).unwrap();
    let statement = node_bytes(&world.folder_statement(1, None));
    assert_eq!(world.commit_by(3, 1, &[statement]), Err(Refusal::Role));
    let list = ControlBody::DeviceList(world.list(3, 2, &[1]));
    let list = world.next(*account(3).as_bytes(), list);
    assert_eq!(world.commit_by(3, 1, &[list]), Err(Refusal::Role));
}

#[test]
fn a_removed_device_writes_nothing_and_never_comes_back() {
    let mut world = World::with_genesis(false);
    world.second_device();
    let chain = *account(1).as_bytes();
    let only = ControlBody::DeviceList(world.list(1, 3, &[1]));
    world.commit(&[world.next(chain, only)]).unwrap();
    let statement = world.folder(1, None);
    assert_eq!(world.commit_by(1, 2, &[statement]), Err(Refusal::Device));
    let back = ControlBody::DeviceList(world.list(1, 4, &[1, 2]));
    assert_eq!(
        world.commit(&[world.next(chain, back)]),
        Err(Refusal::DeviceList)
    );
}

#[test]
fn each_field_of_a_device_list_counts() {
    type Change = fn(&mut DeviceList);
    let changes: [(&str, Change); 9] = [
        ("an old counter", |l| l.counter = 1),
        ("another counter", |l| l.counter += 1),
        ("another identity", |l| l.identity = identity(2).public()),
        ("another RSA key", |l| l.rsa[0] ^= 1),
        ("another ML-KEM key", |l| l.kem[0] ^= 1),
        ("another number", |l| l.devices[0].number ^= 1),
        ("another key", |l| l.devices[0].key[0] ^= 1),
        ("a device fewer", |l| l.devices.truncate(1)),
        ("another signature", |l| l.signature[0] ^= 1),
    ];
    for (name, change) in changes {
        let mut world = World::with_genesis(false);
        let mut list = world.list(1, 2, &[1, 2]);
        change(&mut list);
        let statement = world.next(*account(1).as_bytes(), ControlBody::DeviceList(list));
        assert_eq!(
            world.commit(&[statement]),
            Err(Refusal::DeviceList),
            "{name}"
        );
    }
    // Signed, and still refused: no devices, one device twice, no member, a list in another account's chain.
    let mut world = team();
    for (n, chain, devices) in [(1, 1, &[][..]), (1, 1, &[1, 1]), (5, 5, &[1]), (2, 1, &[2])] {
        let list = ControlBody::DeviceList(world.list(n, 9, devices));
        let statement = world.next(*account(chain).as_bytes(), list);
        assert_eq!(world.commit(&[statement]), Err(Refusal::DeviceList), "{n}");
    }
}

#[test]
fn a_signed_device_list_that_does_not_count_up_is_refused() {
    let mut world = World::with_genesis(false);
    world.second_device();
    for counter in [1, 2] {
        let list = ControlBody::DeviceList(world.list(1, counter, &[1, 2]));
        let statement = world.next(*account(1).as_bytes(), list);
        let refused = Err(Refusal::DeviceList);
        assert_eq!(world.commit(&[statement]), refused, "{counter}");
    }
}

#[test]
fn control_statements_stay_in_their_chains() {
    let mut world = World::with_genesis(false);
    let epoch = || {
        ControlBody::Epoch(crate::Epoch {
            epoch: 2,
            check: [1; 32],
            boxes: [1; 32],
        })
    };
    let space = *world.space().as_bytes();
    let elsewhere = world.next([7; 16], epoch());
    assert_eq!(world.commit(&[elsewhere]), Err(Refusal::Chain));
    let mut prev = world.space_prev();
    prev[0] ^= 1;
    let late = world.control_bytes(space, prev, epoch());
    assert_eq!(world.commit(&[late]), Err(Refusal::Prev));
    let next = world.next(space, epoch());
    assert_eq!(
        world.commit(&[next.clone(), next.clone()]),
        Err(Refusal::Twice)
    );
    world.commit(&[next]).unwrap();
}
