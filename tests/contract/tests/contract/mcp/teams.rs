//! MCP tools on files of teams by their ids, and the top folder of a team or account as a target.

use crate::mcp::sync::with_sync;
use crate::mcp::world::{PASSPHRASE, Setup, World, with_passphrase};
use cairn_crypto::{AccountKeys, SystemRandom};
use cairn_space::{TeamGrants, Trust, account_keys};
use serde_json::{Value, json};

fn id(value: &Value) -> Value {
    value["id"].clone()
}

/// With and without the account's keys, which are not those of the team.
async fn scenario(setup: Setup) {
    let world = World::start().await;
    let mut session = world.session(setup).await;
    let team = session
        .call_ok("create_team", json!({ "name": "Five" }))
        .await;
    let plans = json!({ "name": "plans", "parent_uuid": id(&team) });
    let plans = session.call_ok("create_folder", plans).await;
    let inner = json!({ "name": "inner", "parent_uuid": id(&plans) });
    let inner = session.call_ok("create_folder", inner).await;
    for root in [id(&team), team["space_id"].clone()] {
        let list = session
            .call_ok("list_files", json!({ "folder_uuid": root }))
            .await;
        assert_eq!(list["content"][0]["id"], plans["id"], "{list}");
    }
    let own = session.call_ok("list_files", json!({})).await;
    assert_eq!(
        own["totalElements"], 0,
        "the team's files are not one's own"
    );
    // A fresh server has seen none of the ids.
    let mut session = world.session(Setup::default()).await;
    let search = json!({ "query": "plans", "include_teams": true });
    let found = session.call_ok("search_files", search).await;
    assert_eq!(found["content"][0]["id"], plans["id"], "{found}");
    let file = json!({ "file_uuid": id(&plans) });
    assert_eq!(
        session.call_ok("get_file_info", file.clone()).await["name"],
        "plans"
    );
    let uri = json!({ "uri": format!("service://files/{}", plans["id"].as_str().unwrap()) });
    let resource = session.request("resources/read", uri).await;
    let text = resource["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("\"plans\""), "{text}");
    let comment = json!({ "file_uuid": id(&plans), "text": "good" });
    session.call_ok("add_comment", comment).await;
    session.call_ok("list_comments", file.clone()).await;
    let rename = json!({ "file_uuid": id(&inner), "new_name": "deeper" });
    assert_eq!(
        session.call_ok("rename_file", rename).await["name"],
        "deeper"
    );
    let to_root = json!({ "file_uuid": id(&inner), "target_folder_uuid": id(&team) });
    let moved = session.call_ok("move_file", to_root).await;
    assert!(moved["parent_id"].is_null(), "{moved}");
    let back = json!({ "file_uuid": id(&inner), "target_folder_uuid": id(&plans) });
    assert_eq!(
        session.call_ok("move_file", back).await["parent_id"],
        plans["id"]
    );
    session.call_ok("delete_file", file.clone()).await;
    session.call_ok("restore_from_trash", file).await;
    let nobody = json!({ "file_uuid": "00000000-0000-4000-8000-000000000000" });
    let message = session.call_err("get_file_info", nobody).await;
    assert!(message.starts_with("not found"), "{message}");
}

#[tokio::test]
async fn files_of_teams_are_reached_by_their_ids() {
    scenario(Setup::default()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_teams_are_reached_by_their_ids_with_keys_too() {
    scenario(with_passphrase()).await;
}

/// Such a link would open nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_team_file_whose_key_is_missing_is_not_shared() {
    let world = World::start().await;
    let mut session = world.session(with_passphrase()).await;
    // The account's own keys are made with its first content.
    let file = tempfile::NamedTempFile::new().unwrap();
    let own = json!({ "local_path": file.path(), "file_name": "x" });
    session.call_ok("upload_file", own).await;
    let team = session
        .call_ok("create_team", json!({ "name": "Five" }))
        .await;
    let plans = json!({ "name": "plans", "parent_uuid": id(&team) });
    let plans = session.call_ok("create_folder", plans).await;
    let link = json!({ "file_uuid": id(&plans), "storage_type": "VR_FOLDER" });
    let mail = json!({ "file_uuid": id(&plans), "email": "ann@example.org" });
    for (tool, arguments) in [
        ("create_share_link", link.clone()),
        ("share_file_by_email", mail),
    ] {
        let message = session.call_err(tool, arguments).await;
        assert!(message.contains("cairn teams grant"), "{tool}: {message}");
    }
    let links = session.call_ok("list_share_links", json!({})).await;
    assert_eq!(links["content"], json!([]), "{links}");
    // Without the account's keys, a link that opens nothing is all that can be had.
    let mut session = world.session(Setup::default()).await;
    let made = session.call_ok("create_share_link", link).await;
    let note = made["note"].as_str().unwrap();
    assert!(
        note.contains("opens nothing") && made["opens_nothing"].is_string(),
        "{made}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_names_a_file_wherever_an_id_does() {
    for setup in [Setup::default(), with_passphrase()] {
        let world = World::start().await;
        let mut session = world.session(setup).await;
        let team = json!({ "name": "Five" });
        session.call_ok("create_team", team).await;
        for (name, parent) in [("a", "/"), ("b", "/a"), ("c", "/a/b"), ("plans", "Five/")] {
            let folder = json!({ "name": name, "parent_uuid": parent });
            session.call_ok("create_folder", folder).await;
        }
        let list = json!({ "folder_uuid": "/a" });
        let list = session.call_ok("list_files", list).await;
        assert_eq!(list["content"][0]["path"], "/a/b", "{list}");
        let team = json!({ "folder_uuid": "Five/" });
        let team_list = session.call_ok("list_files", team).await;
        assert_eq!(team_list["content"][0]["path"], "Five/plans", "{team_list}");
        // The path of a record is taken as it is shown.
        let shown = json!({ "file_uuid": team_list["content"][0]["path"] });
        let info = session.call_ok("get_file_info", shown).await;
        assert_eq!(info["id"], team_list["content"][0]["id"]);
        let up = json!({ "file_uuid": "/a/b/c", "target_folder_uuid": "/" });
        let moved = session.call_ok("move_file", up).await;
        assert_eq!(moved["path"], "/c", "{moved}");
        let links = json!({ "file_uuids": ["/a", "/c"] });
        let links = session.call_ok("bulk_create_share_links", links).await;
        assert_eq!(links["succeeded"], 2, "{links}");
        session
            .call_ok("delete_file", json!({ "file_uuid": "/a/b" }))
            .await;
        for (gone, says) in [
            ("/a/b", "there is no `/a/b`"),
            ("/nothing/here", "there is no"),
            ("/etc/passwd", "there is no"),
            ("/a/../c", "invalid name"),
            ("Six/plans", "the name of a team"),
        ] {
            let gone = json!({ "file_uuid": gone });
            let message = session.call_err("delete_file", gone).await;
            assert!(message.contains(says), "{message}");
        }
        let message = session
            .call_err("delete_file", json!({ "file_uuid": "a" }))
            .await;
        assert!(message.contains("a path such as /a/b"), "{message}");
        let left = session.call_ok("list_files", json!({})).await;
        assert_eq!(left["totalElements"], 2, "{left}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_that_names_nothing_fails_alone_in_a_list() {
    for setup in [Setup::default(), with_passphrase()] {
        let world = World::start().await;
        let dir = tempfile::tempdir().unwrap();
        let mut session = world.session(setup.with_sync(dir.path())).await;
        std::fs::write(dir.path().join("x"), "x").unwrap();
        // The account's keys, if it gets any, are made with its first content.
        let first = json!({ "local_path": dir.path().join("x") });
        session.call("upload_file", first).await;
        for name in ["a", "b", "to"] {
            let folder = json!({ "name": name });
            session.call_ok("create_folder", folder).await;
        }
        let files = json!(["/a", "/none", "/", "/b"]);
        let links = json!({ "file_uuids": files });
        let links = session.call_ok("bulk_create_share_links", links).await;
        assert_eq!(
            (&links["total"], &links["succeeded"], &links["failed"]),
            (&json!(4), &json!(2), &json!(2)),
            "{links}"
        );
        assert_eq!(links["results"][1]["file_id"], "/none", "{links}");
        let missing = links["results"][1]["error"].as_str().unwrap();
        assert!(missing.contains("there is no `/none`"), "{missing}");
        let top = links["results"][2]["error"].as_str().unwrap();
        assert!(top.contains("is the top of the space"), "{top}");
        let moved = json!({ "file_uuids": files, "target_folder_uuid": "/to" });
        let moved = session.call_ok("move_files", moved).await;
        assert_eq!(moved["moved"], 2, "{moved}");
        assert_eq!(moved["failed"][0]["file_uuid"], "/none", "{moved}");
        let only = json!({ "file_uuids": ["/none"], "target_folder_uuid": "/to" });
        let message = session.call_err("move_files", only).await;
        assert!(message.contains("there is no `/none`"), "{message}");
        let only = json!({ "file_uuids": ["/none"] });
        let none = session.call_ok("bulk_create_share_links", only).await;
        assert_eq!(none["failed"], 1, "{none}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_top_of_a_space_is_no_file() {
    for setup in [Setup::default(), with_passphrase()] {
        let world = World::start().await;
        let mut session = world.session(setup).await;
        let file = tempfile::NamedTempFile::new().unwrap();
        let first = json!({ "local_path": file.path(), "file_name": "x" });
        session.call("upload_file", first).await;
        let team = json!({ "name": "Five" });
        let team = session.call_ok("create_team", team).await;
        let me = session.call_ok("get_account_info", json!({})).await;
        for top in [
            json!("/"),
            json!("Five/"),
            me["space_id"].clone(),
            id(&team),
            team["space_id"].clone(),
        ] {
            for tool in ["get_file_info", "delete_file", "create_share_link"] {
                let message = session.call_err(tool, json!({ "file_uuid": top })).await;
                let says = "no file or folder of its own";
                assert!(message.contains(says), "{tool} {top}: {message}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_id_of_the_own_space_names_its_root() {
    for setup in [Setup::default(), with_passphrase()] {
        let world = World::start().await;
        let mut session = world.session(setup).await;
        let account = session.call_ok("get_account_info", json!({})).await;
        let root = account["space_id"].clone();
        let a = session
            .call_ok("create_folder", json!({ "name": "a" }))
            .await;
        let b = json!({ "name": "b", "parent_uuid": id(&a) });
        let b = session.call_ok("create_folder", b).await;
        let up = json!({ "file_uuid": id(&b), "target_folder_uuid": root });
        let moved = session.call_ok("move_file", up).await;
        assert!(moved["parent_id"].is_null(), "{moved}");
        let list = session
            .call_ok("list_files", json!({ "folder_uuid": root }))
            .await;
        assert_eq!(list["totalElements"], 2, "{list}");
    }
}

/// Opens the keys of the development account.
async fn unlock_keys(world: &World) -> AccountKeys {
    let api = world.api("ck_dev_owner");
    let info = api.account().await.unwrap();
    let bundle = account_keys::from_wire(&api.keys().await.unwrap());
    let opened = cairn_crypto::unlock(&bundle, PASSPHRASE, info.id, info.space_id);
    opened.unwrap().0
}

/// Makes a key for a team's files, and grants it to the members, as `cairn teams grant` does.
async fn grant(world: &World, team: &Value) {
    let api = world.api("ck_dev_owner");
    let teams = api.teams().await.unwrap();
    let team = teams
        .iter()
        .find(|one| team["id"] == one.id.to_string())
        .unwrap();
    let grants = TeamGrants::fetch(&api, team).await.unwrap();
    let own = unlock_keys(world).await;
    let granting = grants.grant(&own, &mut Trust::default(), &mut SystemRandom);
    grants.send(&api, &granting.unwrap()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn contents_of_team_files_go_up_and_down() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    let mut session = world.session(with_passphrase()).await;
    let local = dir.path().join("plan.txt");
    std::fs::write(&local, "for all of us").unwrap();
    // The account's own keys are made with its first content.
    let own = json!({ "local_path": local });
    session.call_ok("upload_file", own).await;
    let team = session
        .call_ok("create_team", json!({ "name": "Us" }))
        .await;
    let to_team = json!({ "local_path": local, "folder_uuid": id(&team) });
    let refused = session.call_err("upload_file", to_team.clone()).await;
    assert!(refused.contains("cairn teams grant"), "{refused}");
    grant(&world, &team).await;

    let up = session.call_ok("upload_file", to_team).await;
    let folder = json!({ "name": "notes", "parent_uuid": id(&team) });
    let folder = session.call_ok("create_folder", folder).await;
    let many = dir.path().join("many");
    std::fs::create_dir(&many).unwrap();
    std::fs::write(many.join("a"), "1").unwrap();
    let many = json!({ "local_path": many, "folder_uuid": id(&folder) });
    assert_eq!(
        session.call_ok("upload_folder", many).await["files_uploaded"],
        1
    );

    // A fresh server has seen none of the ids.
    let mut session = world.session(with_passphrase()).await;
    let file = json!({ "file_uuid": up["file_uuid"] });
    let read = session.call_ok("read_file_content", file.clone()).await;
    assert_eq!(
        (&read["content"], &read["verified"]),
        (&json!("for all of us"), &json!(true)),
        "{read}"
    );
    let to = dir.path().join("back.txt");
    let down = json!({ "file_uuid": up["file_uuid"], "output_path": to });
    session.call_ok("download_file", down).await;
    assert_eq!(std::fs::read(&to).unwrap(), b"for all of us");
    let to = dir.path().join("whole");
    let down = json!({ "folder_uuid": id(&team), "output_path": to });
    let down = session.call_ok("download_folder", down).await;
    assert_eq!(
        (&down["downloaded"], &down["unverified"]),
        (&json!(2), &json!(0)),
        "{down}"
    );
    assert_eq!(std::fs::read(to.join("notes/many/a")).unwrap(), b"1");
    // What is renamed, moved or shared with the team's key stays verified, and opens.
    let rename = json!({ "file_uuid": up["file_uuid"], "new_name": "plan (final).txt" });
    session.call_ok("rename_file", rename).await;
    let moved = json!({ "file_uuid": up["file_uuid"], "target_folder_uuid": id(&folder) });
    session.call_ok("move_file", moved).await;
    let to_own =
        json!({ "file_uuid": up["file_uuid"], "target_folder_uuid": own_root(&mut session).await });
    let refused = session.call_err("move_file", to_own).await;
    assert!(refused.contains("different spaces"), "{refused}");
    let read = session.call_ok("read_file_content", file.clone()).await;
    assert_eq!(read["verified"], true, "{read}");
    let link = session.call_ok("create_share_link", file.clone()).await;
    assert!(link["url"].as_str().unwrap().contains('#'), "{link}");
    // Its secret is sealed for the team, and the list is that of the account.
    let mut session = world.session(with_passphrase()).await;
    let links = session.call_ok("list_share_links", json!({})).await;
    assert_eq!(links["content"][0]["url"], link["url"], "{links}");
    let change = json!({ "short_code": link["short_code"], "expiry_days": 3 });
    let changed = session.call_ok("update_share_link", change).await;
    assert_eq!(changed["url"], link["url"], "{changed}");

    let mut session = world.session(Setup::default()).await;
    let missing = session.call_err("read_file_content", file).await;
    assert!(
        missing.contains("SERVICE_PASSPHRASE is not set"),
        "{missing}"
    );
}

async fn own_root(session: &mut crate::mcp::session::Session) -> Value {
    let account = session.call_ok("get_account_info", json!({})).await;
    account["space_id"].clone()
}

#[tokio::test]
async fn the_trash_of_a_team_is_seen_with_the_own_one() {
    let world = World::start().await;
    let (mut session, _dir) = with_sync(&world).await;
    let team = session
        .call_ok("create_team", json!({ "name": "Six" }))
        .await;
    let ours = json!({ "name": "ours", "parent_uuid": id(&team) });
    let ours = session.call_ok("create_folder", ours).await;
    let mine = session
        .call_ok("create_folder", json!({ "name": "mine" }))
        .await;
    for node in [&ours, &mine] {
        session
            .call_ok("delete_file", json!({ "file_uuid": id(node) }))
            .await;
    }
    let trash = session.call_ok("list_trash", json!({})).await;
    assert_eq!(trash["totalElements"], 2, "{trash}");
    let mut paths: Vec<_> = trash["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["former_path"].as_str().unwrap_or_default().to_owned())
        .collect();
    paths.sort();
    assert_eq!(paths, ["/mine", "Six/ours"], "{trash}");
    session
        .call_ok("restore_from_trash", json!({ "file_uuid": id(&ours) }))
        .await;
}
