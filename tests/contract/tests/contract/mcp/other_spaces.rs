//! Moves and copies from one space to another: refused with the reason, wherever the target is named.

use crate::mcp::session::Session;
use crate::mcp::world::{Setup, World, with_passphrase};
use serde_json::{Value, json};

async fn make(session: &mut Session, name: &str, parent: &Value) -> Value {
    let folder = json!({ "name": name, "parent_uuid": parent });
    session.call_ok("create_folder", folder).await["id"].clone()
}

async fn rows(session: &mut Session, folder: &Value) -> Value {
    let list = json!({ "folder_uuid": folder });
    session.call_ok("list_files", list).await["totalElements"].clone()
}

async fn scenario(setup: impl Fn() -> Setup) {
    let world = World::start().await;
    let mut session = world.session(setup()).await;
    let team = json!({ "name": "Six" });
    let team = session.call_ok("create_team", team).await["id"].clone();
    let me = session.call_ok("get_account_info", json!({})).await;
    let own = me["space_id"].clone();
    let sub = make(&mut session, "sub", &team).await;
    let item = make(&mut session, "item", &sub).await;
    let mine = make(&mut session, "mine", &json!("/")).await;
    let folder = make(&mut session, "folder", &json!("/")).await;
    let pairs = [
        (&item, own.clone()),
        (&item, json!("/")),
        (&item, folder),
        (&mine, team.clone()),
        (&mine, json!("Six/")),
        (&mine, sub.clone()),
    ];
    // A server that has seen none of the ids has to look for them.
    for is_new in [false, true] {
        for (node, target) in &pairs {
            let one = json!({ "file_uuid": node, "target_folder_uuid": target });
            let many = json!({ "file_uuids": [node], "target_folder_uuid": target });
            let mut below = many.clone();
            below["new_path"] = json!("left/behind");
            for (tool, arguments) in [
                ("move_file", one.clone()),
                ("copy_file", one),
                ("move_files", many),
                ("move_files", below),
            ] {
                if is_new {
                    session = world.session(setup()).await;
                }
                let message = session.call_err(tool, arguments.clone()).await;
                assert!(
                    message.contains("different spaces") && message.contains("download"),
                    "{tool} {arguments}: {message}"
                );
            }
        }
    }
    assert_eq!(
        rows(&mut session, &sub).await,
        1,
        "the item is where it was"
    );
    assert_eq!(rows(&mut session, &team).await, 1, "nothing came there");
    assert_eq!(rows(&mut session, &json!("/")).await, 2, "nor here");
}

#[tokio::test]
async fn nothing_goes_to_another_space() {
    let dir = tempfile::tempdir().unwrap();
    scenario(|| Setup::default().with_sync(dir.path())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_goes_to_another_space_with_keys_either() {
    let dir = tempfile::tempdir().unwrap();
    scenario(|| with_passphrase().with_sync(dir.path())).await;
}
