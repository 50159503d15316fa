//! A private space: the server has no name of what is in it, and everything works all the same.

use crate::teams::files;
use anyhow::{Context, Result, ensure};
use cairn_e2e::device::Options;
use cairn_e2e::http::Http;
use cairn_e2e::server::OWNER_KEY;
use cairn_e2e::world::Setup;
use cairn_e2e::{Assistant, World};
use serde_json::{Value, json};
use std::fs;

/// Words that no server may have: each in a name, two thousand of them.
const CANARIES: usize = 2_000;
const PREFIX: &str = "canary";

fn private() -> Options {
    Options {
        add: vec!["--private".to_owned()],
        ..Options::default()
    }
}

fn two_devices() -> Result<World> {
    World::with(Setup {
        durable: true,
        a: private(),
        b: private(),
        ..Setup::default()
    })
}

/// Asserts that no file of the server, its database and log included, has one of the words.
fn check_no_canary(world: &World) -> Result<()> {
    let data = files(&world.path("server"))?;
    ensure!(data.len() > 1, "{data:?}");
    for path in data.iter().chain([&world.path("server.log")]) {
        let bytes = fs::read(path)?;
        let needle = PREFIX.as_bytes();
        let found = bytes
            .windows(needle.len())
            .any(|window| window.eq_ignore_ascii_case(needle));
        ensure!(!found, "{} has a name or content", path.display());
    }
    Ok(())
}

/// Asserts that no request that the server got has one of the words in its address.
fn check_requests(world: &World) -> Result<()> {
    for request in world.server.dev().requests()? {
        let text = format!("{request:?}");
        ensure!(!text.to_lowercase().contains(PREFIX), "{text}");
    }
    Ok(())
}

/// Returns a client in the space, without its keys, and the nodes at its top.
fn without_keys(world: &World) -> Result<(String, Value)> {
    let http = Http::new(&world.server.url(), Some(OWNER_KEY));
    let teams = http.get("/api/v1/teams")?;
    let teams = teams["content"].as_array().context("no teams")?;
    let own = teams.iter().find(|team| team["name"] == "Private");
    let space = own.context("no private space")?["space_id"].clone();
    let space = space.as_str().context("no id")?.to_owned();
    let top = http.in_space(&space).get("/api/v1/nodes")?;
    Ok((space, top))
}

#[test]
fn two_devices_sync_and_the_server_has_no_name() -> Result<()> {
    let world = two_devices()?;
    for n in 0..CANARIES / 2 {
        let dir = format!("{PREFIX}-dir-{}", n % 50);
        world.a.files().mkdir(&dir)?;
        let path = format!("{dir}/{PREFIX}-{n}.jpg");
        world.a.files().write(path, format!("{PREFIX} {n}"))?;
    }
    world.settle()?;
    world.equal()?;

    // What people and programs do with files, on both sides.
    world.b.files().rename("canary-dir-1", "canary-moved")?;
    world.b.files().rename("canary-dir-2", "canary-dir-3/in")?;
    world.b.files().rename(
        "canary-dir-4/canary-4.jpg",
        "canary-dir-5/Canary with blanks.TXT",
    )?;
    world.settle()?;
    world
        .a
        .files()
        .write("canary-moved/canary-1.jpg", "canary edited")?;
    world.a.files().remove_dir("canary-dir-6")?;
    world.a.files().rename("canary-dir-7", "canary-7-by-a")?;
    world
        .b
        .files()
        .write("canary-dir-7/canary-late", "canary late")?;
    world.settle()?;
    world.equal()?;

    // One name in two forms of Unicode is one name, as in any other space.
    world.a.files().write("canary-\u{e9}", "canary accent")?;
    world.b.files().write("canary-e\u{301}", "canary accent")?;
    world.settle()?;
    let accents = [&world.a, &world.b].map(|device| device.tree());
    for tree in accents {
        ensure!(tree?.count_of(b"canary accent") == 1);
    }
    for form in ["canary-\u{e9}", "canary-e\u{301}"] {
        if world.a.files().exists(form) {
            world.a.files().remove(form)?;
        }
    }
    world.settle()?;

    // Both make the same name: one file of it, and no third.
    world.a.files().write("canary-both", "canary of a and b")?;
    world.b.files().write("canary-both", "canary of a and b")?;
    world.settle()?;
    let tree = world.equal()?;
    ensure!(tree.count_of(b"canary of a and b") == 1, "{tree:?}");
    check_no_canary(&world)?;
    world.finish()
}

#[test]
fn commands_take_the_names_that_people_gave() -> Result<()> {
    let world = two_devices()?;
    let of = |args: &[&str]| -> Result<Value> {
        let all = [args, &["--team", "Private"]].concat();
        world.a.must(&all)?.json()
    };
    let from = world.path("canary.txt");
    fs::write(&from, "canary one")?;
    let from = from.display().to_string();
    of(&["mkdir", "/canary-papers"])?;
    of(&["upload", &from, "--to", "/canary-papers"])?;
    fs::write(&from, "canary two")?;
    of(&["upload", &from, "--to", "/canary-papers"])?;
    let file = "/canary-papers/canary.txt";
    let info = of(&["info", file])?;
    ensure!(info["verified"] == true && info["path"] == file, "{info}");
    let versions = of(&["versions", file])?;
    ensure!(
        versions["versions"].as_array().map(Vec::len) == Some(2),
        "{versions}"
    );

    of(&["copy", "/canary-papers", "/canary-copy"])?;
    of(&[
        "move",
        "/canary-copy/canary.txt",
        "/canary-copy/canary-b.txt",
    ])?;
    let tree = of(&["tree"])?;
    ensure!(tree["files"] == 2, "{tree}");
    let found = of(&["search", "CANARY-B"])?;
    ensure!(found["total"] == 1, "{found}");
    ensure!(
        found["nodes"][0]["path"] == "/canary-copy/canary-b.txt",
        "{found}"
    );
    // In a copied folder, too, a name is found and taken once.
    of(&["copy", "/canary-papers", "/canary-third"])?;
    of(&["info", "/canary-third/canary.txt"])?;

    // The list of all spaces' links has the name too.
    of(&["share", "create", file])?;
    let links = world.a.must(&["share", "list"])?.json()?;
    ensure!(links["links"][0]["file_name"] == "canary.txt", "{links}");

    of(&["delete", file])?;
    let gone = world.a.cli(&["info", file, "--team", "Private"])?;
    gone.refuses(1, &["no /canary-papers/canary.txt"])?;
    world.a.must(&["undo", "--last", "--yes"])?;
    let info = of(&["info", file])?;
    ensure!(info["verified"] == true, "{info}");
    let to = world.path("back");
    of(&["download", file, "--out", &to.display().to_string()])?;
    ensure!(fs::read_to_string(to)? == "canary two");
    check_no_canary(&world)?;
    world.finish()
}

#[test]
fn an_assistant_and_a_link_have_the_names() -> Result<()> {
    let world = two_devices()?;
    world.a.files().write("canary-dir/canary.txt", "canary")?;
    world.settle()?;
    let (space, _) = without_keys(&world)?;
    let mut assistant = Assistant::start(world.a.home())?;
    let mut call = |tool: &str, arguments: Value| -> Result<Value> {
        let result = assistant.call(tool, &arguments)?;
        ensure!(result["isError"] != true, "{tool}: {result}");
        let text = result["content"][0]["text"].as_str().context("no text")?;
        Ok(serde_json::from_str(text)?)
    };
    let listed = call("list_files", json!({ "folder_uuid": space }))?;
    ensure!(listed["content"][0]["path"] == "Private/sync", "{listed}");
    let top = listed["content"][0]["id"].clone();
    let listed = call("list_files", json!({ "folder_uuid": top }))?;
    ensure!(listed["content"][0]["name"] == "canary-dir", "{listed}");
    let folder = listed["content"][0]["id"].clone();
    let made = json!({ "name": "canary-made", "parent_uuid": folder });
    call("create_folder", made)?;
    let inside = call("list_files", json!({ "folder_uuid": folder }))?;
    let file = inside["content"].as_array().context("no list")?;
    let file = file.iter().find(|one| one["kind"] == "file");
    let file = file.context("no file")?["id"].clone();
    let renamed = json!({ "file_uuid": file, "new_name": "canary-renamed.txt" });
    call("rename_file", renamed)?;
    let nested = json!({ "path": "canary-x/canary-y", "parent_uuid": folder });
    call("create_nested_folders", nested)?;
    let copied = json!({ "file_uuid": file, "target_folder_uuid": top });
    call("copy_file", copied)?;
    let link = call("create_share_link", json!({ "file_uuid": file }))?;
    ensure!(link["file_name"] == "canary-renamed.txt", "{link}");
    world.settle()?;
    let tree = world.equal()?;
    ensure!(
        tree.file("canary-dir/canary-renamed.txt").is_some(),
        "{tree:?}"
    );
    ensure!(world.b.files().exists("canary-dir/canary-made"));
    check_no_canary(&world)?;
    check_requests(&world)?;
    world.finish()
}

#[test]
fn nobody_brings_a_readable_name_into_a_private_space() -> Result<()> {
    let world = two_devices()?;
    world.a.files().write("canary.txt", "canary")?;
    world.settle()?;
    let (space, top) = without_keys(&world)?;
    let folder = &top["content"][0];
    ensure!(folder["name_format"] == "sealed", "{top}");
    let name = folder["name"].as_str().context("no name")?;
    ensure!(
        name.starts_with('~') && folder["mime_type"].is_null(),
        "{top}"
    );
    let http = Http::new(&world.server.url(), Some(OWNER_KEY)).in_space(&space);
    let id = folder["id"].as_str().context("no id")?;
    let of_folder = format!("/api/v1/nodes/{id}");
    for refused in [
        http.post(
            "/api/v1/nodes",
            &json!({ "kind": "folder", "name": "plain" }),
        ),
        http.post("/api/v1/nodes/folders", &json!({ "path": "a/b" })),
        http.put(&of_folder, &json!({ "name": "plain" })),
        http.put(&of_folder, &json!({ "description": "plain" })),
        http.put(&of_folder, &json!({ "tags": ["plain"] })),
        http.put(&of_folder, &json!({ "labels": { "a": "plain" } })),
    ] {
        let error = refused.err().context("it was taken")?.to_string();
        ensure!(error.contains("409"), "{error}");
    }
    let inside = format!("/api/v1/nodes?parent_id={id}");
    let file = http.get(&inside)?["content"][0].clone();
    ensure!(file["modified_at"].is_null(), "{file}");
    let found = http.get("/api/v1/search?query=~~")?;
    ensure!(found["totalElements"] == 0, "{found}");
    world.finish()
}

#[test]
fn a_pair_is_private_or_it_is_refused() -> Result<()> {
    let world = World::with(Setup {
        unlinked: true,
        ..Setup::default()
    })?;
    let root = world.a.root_text();
    let dry = ["add", &root, "--private", "--dry-run"];
    world.a.cli(&dry)?.refuses(1, &["no private space yet"])?;
    world.a.must(&["teams", "create", "Crew"])?;
    let open = ["add", &root, "--private", "--space", "Crew"];
    world.a.cli(&open)?.refuses(2, &["an open one"])?;
    world.a.must(&["teams", "create", "Vault", "--private"])?;
    world.a.must(&["teams", "grant", "Vault"])?;
    let vault = ["add", &root, "--private", "--space", "Vault", "--yes"];
    let added = world.a.must(&vault)?.json()?;
    ensure!(added["space"]["name"] == "Vault", "{added}");
    world.finish()
}
