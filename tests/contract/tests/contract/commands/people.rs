//! The commands about teams and AI tokens (with which the assistant is paid).

use crate::commands::world::World;
use serde_json::json;

#[test]
fn teams_are_shown_made_and_joined() {
    let world = World::new();
    world.login("a");
    let teams = world.json("a", &["teams"])["teams"].clone();
    assert_eq!(
        (&teams[0]["name"], &teams[0]["role"]),
        (&json!("Dev Team"), &json!("owner"))
    );
    let made = world.json("a", &["teams", "create", "Alpha"])["team"].clone();
    assert_eq!(made["member_count"], 1);
    let sent = world.json(
        "a",
        &["teams", "invite", "Alpha", "member@example.com", "--admin"],
    );
    assert_eq!(sent["invitation"]["role"], "admin");

    let passphrase = world.text("passphrase");
    world.json("b", &world.login_args("ck_dev_member", &passphrase));
    let waiting = world.json("b", &["teams", "invitations"])["invitations"].clone();
    let id = waiting[0]["id"].as_str().expect("an invitation's id");
    let joined = world.json("b", &["teams", "accept", id]);
    assert_eq!(joined["team"]["id"], made["id"]);
    let members = world.json("b", &["teams", "members", "Alpha"]);
    let emails: Vec<_> = members["members"]
        .as_array()
        .expect("a list of members")
        .iter()
        .map(|member| member["email"].as_str())
        .collect();
    assert_eq!(
        emails,
        [Some("owner@example.com"), Some("member@example.com")]
    );
    let text = world.run("a", &["teams", "list"]).stdout;
    assert!(
        text.contains("Alpha") && text.contains("Dev Team"),
        "{text}"
    );

    world
        .run("b", &["teams", "accept", id])
        .assert_refused(1, &["accepted already"]);
    world
        .run("b", &["teams", "invite", "Dev Team", "x@example.com"])
        .assert_refused(1, &["owner and admins"]);
    world
        .run("a", &["teams", "members", "Beta"])
        .assert_refused(1, &["Beta", "yours: Alpha"]);
    assert_eq!(world.run("a", &["teams", "accept", "nonsense"]).code, 2);
}

#[test]
fn tokens_are_counted_and_priced() {
    let world = World::new();
    world.login("a");
    // All are those of the plan.
    let tokens = world.json("a", &["tokens"]);
    assert_eq!(
        (&tokens["balance"], &tokens["included"]),
        (&json!(500), &json!(500))
    );
    let packs = world.json("a", &["tokens", "packs"]);
    assert_eq!(
        (&packs["packs"][0]["tokens"], &packs["packs"][0]["price"]),
        (&json!(500), &json!("4.99"))
    );
    let text = world.run("a", &["tokens", "packs"]).stdout;
    assert!(
        text.contains("14.99 USD") && text.contains("/billing/"),
        "{text}"
    );
}
