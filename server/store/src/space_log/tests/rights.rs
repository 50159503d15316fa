//! The service's own check of who may write a signed log, within the transaction of the commit.

use super::*;
use crate::Limits;
use crate::space_log::rights::check_writer;
use crate::testing::add_account;
use cairn_model::DeviceId;
use cairn_wire::teams::TeamRole;

#[test]
fn who_lost_the_right_since_the_request_began_writes_nothing() {
    let mut world = World::with_genesis(open(None));
    let run = |world: &World, sql: &str| world.store.writer.lock().execute_batch(sql).unwrap();
    world.actor.device = Some(DeviceId::from_random_bytes([5; 16]));
    world.create(1);
    let listed = format!(
        "INSERT INTO devices (account, id, name, created_at, seen_at, removed_at) VALUES (x'{}', x'{}', 'd', 0, 1, NULL)",
        hex::encode(world.actor.account.as_bytes()),
        hex::encode(world.actor.device.unwrap().as_bytes()),
    );
    run(&world, &listed);
    let folder = world.writer.folder(node(2), None, "b");
    let commit = world.writer.commit(vec![bytes(folder)]);
    for (lose, regain) in [
        (
            "UPDATE accounts SET disabled_at = 1",
            "UPDATE accounts SET disabled_at = NULL",
        ),
        (
            "UPDATE accounts SET deletion_requested_at = 1",
            "UPDATE accounts SET deletion_requested_at = NULL",
        ),
        (
            "UPDATE devices SET removed_at = 2",
            "UPDATE devices SET seen_at = 3",
        ),
    ] {
        run(&world, lose);
        let refused = world.send(&commit);
        assert!(
            matches!(refused, Err(Error::Forbidden(_))),
            "{lose}: {refused:?}"
        );
        run(&world, regain);
    }
    assert_eq!(world.write(&commit), Ok(2));
}

#[test]
fn the_log_of_a_team_is_begun_by_its_owner_and_written_by_its_members() {
    let store = open(None);
    let [owner, member] =
        ["owner@example.com", "member@example.com"].map(|email| add_account(&store, email).id);
    let team = store
        .create_team(owner, "Crew", &Limits::default())
        .unwrap();
    store
        .write(|tx| tx.join(team.id, member, TeamRole::Member))
        .unwrap();
    let space = store
        .membership_in_space(owner, team.space_id)
        .unwrap()
        .space;
    let may = |account, is_first| {
        let actor = Actor {
            account,
            device: None,
            space,
        };
        let checked = store.read(|conn| check_writer(conn, &actor, is_first));
        match checked {
            Ok(()) => true,
            Err(Error::Forbidden(_)) => false,
            Err(error) => panic!("{error}"),
        }
    };
    assert!(may(owner, true) && may(member, false));
    assert!(!may(member, true));
    store.remove_member(owner, team.id, member).unwrap();
    assert!(!may(member, false));
    // It comes before everything else that is asked of the commit.
    let actor = Actor {
        account: member,
        device: None,
        space,
    };
    let refused = store.commit(&actor, &request(b"no commit"));
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
}
