//! Share links of a team's space, by commands that don't name the team.

use crate::commands::past::settle;
use crate::commands::world::{Stopping, World};

#[test]
fn a_link_of_a_team_is_found_without_naming_the_team() {
    let world = World::new();
    world.login("a");
    let _stopping = Stopping(&world, "a");
    world.json("a", &["teams", "create", "Crew"]);
    world.json("a", &["teams", "grant", "Crew"]);
    std::fs::create_dir_all(world.path("crew")).unwrap();
    world.write("crew/plan.txt", "plan");
    world.json("a", &["add", "crew", "--space", "Crew", "--remote", "/"]);
    settle(&world, "a");

    let made = world.json("a", &["share", "create", "crew/plan.txt"]);
    let address = made["address"].as_str().expect("a whole address");
    for args in [
        &["share", "list", "crew/plan.txt"][..],
        &["share", "list"],
        &["share", "list", "--team", "Crew"],
    ] {
        let listed = world.json("a", args);
        assert_eq!(listed["links"][0]["address"], address, "{args:?}");
    }
    let refreshed = world.json("a", &["share", "refresh", address]);
    assert_eq!(refreshed["address"], address);
    world.write("secret", "a word");
    let secret = world.text("secret");
    let password = ["share", "password", address, "--password-file", &secret];
    assert_eq!(world.json("a", &password)["has_password"], true);
    let off = world.json("a", &["share", "disable", address]);
    assert_eq!(off["address"], address);
}
