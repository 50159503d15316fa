//! Changes that are made although the answer to them is lost: commands say that they were made.

use crate::commands::world::World;
use serde_json::{Value, json};

/// Has the service carry the next request out, and loses its answer on the way.
fn lose_answer(world: &World, method: &str, path: &str) {
    let rule = json!({
        "path_pattern": path, "method": method, "status": 502, "processed": true, "count": 1,
    });
    world.dev("/_dev/faults", rule);
}

fn sessions(world: &World) -> usize {
    let listed = world.json("a", &["undo", "--list"])["sessions"].clone();
    listed.as_array().expect("a list").len()
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .expect("text")
}

#[test]
fn a_move_whose_answer_is_lost_is_done_and_can_be_undone() {
    let world = World::new();
    world.login("a");
    world.json("a", &["mkdir", "/from"]);
    world.json("a", &["mkdir", "/into"]);
    let before = sessions(&world);
    lose_answer(&world, "PUT", "/api/v1/nodes/*");
    let moved = world.json("a", &["move", "/from", "/into/renamed"]);
    assert_eq!(text(&moved, "/node/path"), "/into/renamed", "{moved}");
    assert_eq!(sessions(&world), before + 1);

    // The move back is one, too.
    lose_answer(&world, "PUT", "/api/v1/nodes/*");
    let undone = world.json("a", &["undo", "--yes"]);
    assert_eq!(undone["left"], json!([]), "{undone}");
    let back = world.json("a", &["info", "/from"]);
    assert_eq!(text(&back, "/name"), "from", "{back}");
}

#[test]
fn a_move_that_was_not_made_is_a_failure() {
    let world = World::new();
    world.login("a");
    world.json("a", &["mkdir", "/from"]);
    let before = sessions(&world);
    world.dev(
        "/_dev/faults",
        json!({ "path_pattern": "/api/v1/nodes/*", "method": "PUT", "status": 502, "count": 1 }),
    );
    world
        .run("a", &["move", "/from", "/to"])
        .assert_refused(1, &["can't move from"]);
    assert_eq!(sessions(&world), before);
    world.json("a", &["info", "/from"]);
}

#[test]
fn what_comes_out_of_the_trash_is_restored_though_the_answer_to_its_seal_is_lost() {
    let world = World::new();
    world.login("a");
    let made = world.json("a", &["mkdir", "/gone"]);
    let id = text(&made, "/node/id").to_owned();
    world.json("a", &["delete", "/gone"]);
    let before = sessions(&world);
    lose_answer(&world, "PUT", "/api/v1/nodes/*");
    world.json("a", &["trash", "restore", "--remote", &id]);
    assert_eq!(sessions(&world), before + 1);
    assert_eq!(world.served_node(&id, None)["state"], "active");
}

#[test]
fn a_deletion_whose_answer_is_lost_is_done() {
    let world = World::new();
    let device = world.login("a")["device_id"].clone();
    world.json("a", &["mkdir", "/shared"]);
    world.json("a", &["mkdir", "/gone"]);
    lose_answer(&world, "DELETE", "/api/v1/nodes/*");
    world.json("a", &["delete", "/gone"]);

    let link = world.json("a", &["share", "create", "/shared"]);
    let code = text(&link, "/short_code").to_owned();
    lose_answer(&world, "DELETE", "/api/v1/shares/*");
    world.json("a", &["share", "revoke", &code]);
    // The control: nothing was lost, and there is nothing to revoke.
    assert_eq!(world.run("a", &["share", "revoke", &code]).code, 1);

    let hook = "https://hooks.example.com/x";
    world.json("a", &["webhooks", "add", "--event", "file.uploaded", hook]);
    let listed = world.json("a", &["webhooks"]);
    let id = text(&listed, "/webhooks/0/id").to_owned();
    lose_answer(&world, "DELETE", "/api/v1/webhooks/*");
    world.json("a", &["webhooks", "remove", &id]);
    assert_eq!(world.json("a", &["webhooks"])["webhooks"], json!([]));

    let other = world.login("b")["device_id"].clone();
    let remove = ["devices", "remove", other.as_str().expect("text"), "--yes"];
    lose_answer(&world, "DELETE", "/api/v1/devices/*");
    let removed = world.json("a", &remove);
    assert_eq!(removed["id"], other, "{removed}");
    let left = world.json("a", &["devices"])["devices"].clone();
    assert_eq!(left.as_array().expect("a list").len(), 1, "{left}");
    assert_eq!(left[0]["id"], device);
}

#[test]
fn what_was_never_there_is_not_deleted_though_an_answer_was_lost() {
    let world = World::new();
    world.login("a");
    for (path, command) in [
        ("/api/v1/shares/*", ["share", "revoke", "nothing"]),
        ("/api/v1/webhooks/*", ["webhooks", "remove", "nothing"]),
    ] {
        let rule = json!({ "path_pattern": path, "method": "DELETE", "status": 502, "count": 1 });
        world.dev("/_dev/faults", rule);
        assert_eq!(world.run("a", &command).code, 1, "{command:?}");
    }
}
