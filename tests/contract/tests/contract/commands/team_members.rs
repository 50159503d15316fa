//! Members of teams: invitations that can't be answered, roles, and how a membership ends.

use crate::commands::world::World;
use serde_json::{Value, json};

const OWNER: &str = "owner@example.com";
const MEMBER: &str = "member@example.com";

/// Home `a` is the owner's, home `b` the member's.
fn with_two_accounts() -> World {
    let world = World::new();
    world.login("a");
    let passphrase = world.text("passphrase");
    world.json("b", &world.login_args("ck_dev_member", &passphrase));
    world
}

fn invite(world: &World, team: &str) -> String {
    let sent = world.json("a", &["teams", "invite", team, MEMBER]);
    sent["invitation"]["id"].as_str().expect("an id").to_owned()
}

/// Makes the team Crew with both, and its key, which both have accepted.
fn with_crew() -> World {
    let world = with_two_accounts();
    world.json("a", &["teams", "create", "Crew"]);
    world.json("b", &["teams", "accept", &invite(&world, "Crew")]);
    world.json("a", &["teams", "keys", "Crew", "--accept-new", MEMBER]);
    world.json("a", &["teams", "grant", "Crew"]);
    world.json("b", &["teams", "keys", "Crew", "--accept-new", OWNER]);
    world
}

fn emails(world: &World, home: &str, team: &str) -> Vec<Value> {
    let members = world.json(home, &["teams", "members", team])["members"].clone();
    let members = members.as_array().expect("a list").iter();
    members.map(|member| member["email"].clone()).collect()
}

#[test]
fn an_invitation_that_was_answered_before_says_how() {
    let world = with_two_accounts();
    world.json("a", &["teams", "create", "Crew"]);
    let declined = invite(&world, "Crew");
    world
        .run("a", &["teams", "invite", "Crew", MEMBER])
        .assert_refused(1, &["has an open invitation"]);
    world
        .run("a", &["teams", "accept", &declined])
        .assert_refused(1, &["another address"]);
    world.json("b", &["teams", "decline", &declined]);
    for answer in ["accept", "decline"] {
        let refused = world.run("b", &["teams", answer, &declined]);
        refused.assert_refused(1, &["was declined already"]);
        assert!(!refused.stderr.contains("meanwhile"), "{refused:?}");
    }
    let accepted = invite(&world, "Crew");
    world.json("b", &["teams", "accept", &accepted]);
    world
        .run("b", &["teams", "accept", &accepted])
        .assert_refused(1, &["was accepted already"]);
    let unknown = "10751ba7-867b-475e-93bd-3b554e176601";
    world
        .run("b", &["teams", "accept", unknown])
        .assert_refused(1, &["no such invitation"]);
}

#[test]
fn a_member_gets_a_role_with_which_the_team_is_renamed() {
    let world = with_crew();
    let rename = ["teams", "rename", "Crew", "Fleet"];
    assert_eq!(world.run("b", &rename).code, 1, "no admin yet");
    let changed = world.json("a", &["teams", "role", "Crew", MEMBER, "admin"]);
    assert_eq!(
        (&changed["member"]["role"], &changed["former_role"]),
        (&json!("admin"), &json!("member"))
    );
    let renamed = world.json("b", &rename);
    assert_eq!(
        (&renamed["team"]["name"], &renamed["former_name"]),
        (&json!("Fleet"), &json!("Crew"))
    );
    world
        .run("a", &["teams", "role", "Fleet", "eve@example.com", "admin"])
        .assert_refused(2, &["cairn teams members Fleet"]);
    assert_eq!(
        world
            .run("a", &["teams", "role", "Fleet", MEMBER, "owner"])
            .code,
        2
    );
}

#[test]
fn a_removed_member_is_shut_out_of_what_is_written_from_then_on() {
    let world = with_crew();
    world.write("before", "before");
    world.json("a", &["upload", "before", "--team", "Crew"]);
    assert_eq!(
        world.json("b", &["cat", "/before", "--team", "Crew"])["text"],
        "before"
    );
    let remove = ["teams", "remove", "Crew", MEMBER];
    world
        .run("a", &remove)
        .assert_refused(5, &["nothing was done", "--yes"]);
    let planned = world.json("a", &[&remove[..], &["--dry-run"]].concat());
    assert_eq!(
        (&planned["dry_run"], &planned["would_remove"]["email"]),
        (&json!(true), &json!(MEMBER))
    );
    world
        .run("a", &["teams", "remove", "Crew", OWNER, "--yes"])
        .assert_refused(2, &["cairn teams leave Crew"]);
    world
        .run("b", &["teams", "remove", "Crew", OWNER, "--yes"])
        .assert_refused(1, &["only the owner and admins"]);
    assert_eq!(emails(&world, "b", "Crew"), [OWNER, MEMBER]);

    let epoch = world.json("a", &["teams", "keys", "Crew"])["epoch"].clone();
    let removed = world.json("a", &[&remove[..], &["--yes"]].concat());
    let key = &removed["key"];
    assert_eq!(
        (&key["state"], &key["waiting"]),
        (&json!("renewed"), &json!([])),
        "{removed}"
    );
    assert!(key["epoch"].as_u64() > epoch.as_u64(), "{removed}");
    assert_eq!(emails(&world, "a", "Crew"), [OWNER]);
    world
        .run("b", &["cat", "/before", "--team", "Crew"])
        .assert_refused(1, &["no team Crew"]);
    // The others go on at once.
    world.write("after", "after");
    world.json("a", &["upload", "after", "--team", "Crew"]);
    for name in ["before", "after"] {
        let path = format!("/{name}");
        let read = world.json("a", &["cat", &path, "--team", "Crew"]);
        assert_eq!(read["text"], name);
    }
}

#[test]
fn a_service_that_keeps_a_removed_member_gets_no_key_for_them() {
    let world = with_crew();
    let id = world.json("a", &["teams", "keys", "Crew"])["team_id"].clone();
    let id = id.as_str().expect("an id");
    let mut members = world.served_team_keys(id.parse().expect("an id"))["members"].clone();
    for member in members.as_array_mut().expect("a list") {
        member["has_grant"] = false.into();
    }
    let path = format!("/api/v1/teams/{id}/keys$");
    world.dev(
        "/_dev/faults",
        json!({ "path_pattern": path, "method": "GET", "set": { "/members": members } }),
    );
    let removed = world.json("a", &["teams", "remove", "Crew", MEMBER, "--yes"]);
    assert_eq!(removed["key"]["state"], "failed", "{removed}");
    let why = removed["key"]["message"].as_str().expect("a reason");
    assert!(why.contains("still lists the removed member"), "{why}");
    world.clear_faults();
    let served = world.served_team_keys(id.parse().expect("an id"));
    assert_eq!(served["grants"].as_array().map(Vec::len), Some(1));
    world.json("a", &["teams", "grant", "Crew"]);
}

#[test]
fn a_member_leaves_and_the_owner_can_not() {
    let world = with_crew();
    world
        .run("a", &["teams", "leave", "Crew", "--yes"])
        .assert_refused(1, &["you own Crew"]);
    let leave = ["teams", "leave", "Crew"];
    world
        .run("b", &leave)
        .assert_refused(5, &["nothing was done", "--yes"]);
    let planned = world.json("b", &[&leave[..], &["--dry-run"]].concat());
    assert_eq!(planned["would_leave"]["name"], "Crew");
    let left = world.run("b", &[&leave[..], &["--yes"]].concat());
    assert!(left.stdout.contains("cairn teams grant Crew"), "{left:?}");
    assert_eq!(emails(&world, "a", "Crew"), [OWNER]);
}
