//! Content up and down: what arrives, what is refused, what a cancelled call leaves.

use crate::mcp::session::{Session, failure};
use crate::mcp::world::{Setup, World, with_passphrase};
use crate::support::noise;
use cairn_api::Method;
use cairn_model::Verification;
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

/// Uploads a file of this name and content and gives its id.
async fn upload(session: &mut Session, dir: &Path, name: &str, bytes: &[u8]) -> Value {
    let local = dir.join(name);
    std::fs::write(&local, bytes).unwrap();
    session
        .call_ok("upload_file", json!({ "local_path": local }))
        .await["file_uuid"]
        .clone()
}

async fn begin() -> (World, Session, TempDir) {
    let world = World::start().await;
    let session = world.session(with_passphrase()).await;
    (world, session, tempfile::tempdir().unwrap())
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_goes_up_and_comes_back_as_it_was() {
    let (_world, mut session, dir) = begin().await;
    let bytes = noise(3_000_000);
    let local = dir.path().join("big.bin");
    std::fs::write(&local, &bytes).unwrap();
    let up = session
        .call_ok("upload_file", json!({ "local_path": local }))
        .await;
    assert_eq!(
        (&up["name"], &up["size"]),
        (&json!("big.bin"), &json!(3_000_000))
    );
    let id = up["file_uuid"].as_str().unwrap();
    let to = dir.path().join("new/place/copy.bin");
    let down = json!({ "file_uuid": id, "output_path": to });
    let down = session.call_ok("download_file", down).await;
    assert_eq!(down["size"], 3_000_000);
    assert!(std::fs::read(&to).unwrap() == bytes);
    assert_eq!(
        names(to.parent().unwrap()),
        ["copy.bin"],
        "nothing else is left"
    );
    let into = dir.path().join("new");
    session
        .call_ok(
            "download_file",
            json!({ "file_uuid": id, "output_path": into }),
        )
        .await;
    assert!(std::fs::read(into.join("big.bin")).unwrap() == bytes);
    std::fs::write(&to, [&bytes[..], b"more"].concat()).unwrap();
    let again = session
        .call_ok(
            "upload_file",
            json!({ "local_path": to, "file_name": "big.bin" }),
        )
        .await;
    assert_eq!(again["file_uuid"], id, "a new version of the same file");
    let versions = session
        .call_ok("get_file_versions", json!({ "file_uuid": id }))
        .await;
    assert_eq!(versions["totalElements"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn content_is_read_as_text_or_base64() {
    let (_world, mut session, dir) = begin().await;
    let text = "naïve \u{200b}text\n";
    let ids = [
        upload(&mut session, dir.path(), "a.txt", text.as_bytes()).await,
        upload(&mut session, dir.path(), "b.bin", &[0xff, 0, 0xfe]).await,
    ];
    let params = json!({ "name": "read_file_content", "arguments": { "file_uuid": ids[0] } });
    let response = session.request("tools/call", params).await;
    let result = &response["result"];
    assert!(
        result.get("structuredContent").is_none(),
        "content stands once"
    );
    let reply = crate::mcp::session::text(result);
    assert_eq!(
        (&reply["content"], &reply["name"], &reply["size"]),
        (&json!(text), &json!("a.txt"), &json!(text.len()))
    );
    let message = session
        .call_err("read_file_content", json!({ "file_uuid": ids[1] }))
        .await;
    assert!(message.contains("base64"), "{message}");
    let reply = session
        .call_ok(
            "read_file_content",
            json!({ "file_uuid": ids[1], "encoding": "base64" }),
        )
        .await;
    assert_eq!(reply["content"], "/wD+");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_points_to_the_other_way() {
    let (_world, mut session, dir) = begin().await;
    let id = upload(
        &mut session,
        dir.path(),
        "big.txt",
        &vec![b'x'; 10 * 1024 * 1024 + 1],
    )
    .await;
    let message = session
        .call_err("read_file_content", json!({ "file_uuid": id }))
        .await;
    assert!(message.contains("download_file"), "{message}");
    let read = json!({ "file_uuid": id, "encoding": "base64" });
    assert_eq!(
        session.call_ok("read_file_content", read).await["size"],
        10 * 1024 * 1024 + 1
    );
    let huge = dir.path().join("huge");
    std::fs::File::create(&huge)
        .and_then(|file| file.set_len(500 * 1024 * 1024 + 1))
        .unwrap();
    let message = session
        .call_err("upload_file", json!({ "local_path": huge }))
        .await;
    assert!(message.contains("500 MiB"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_go_up_and_down_whole() {
    let (_world, mut session, dir) = begin().await;
    let from = dir.path().join("from");
    std::fs::create_dir_all(from.join("sub/deep")).unwrap();
    for (name, content) in [("a", "1"), ("sub/b", "22"), ("sub/deep/c", "333")] {
        std::fs::write(from.join(name), content).unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/passwd", from.join("link")).unwrap();
    let up = session
        .call_ok("upload_folder", json!({ "local_path": from }))
        .await;
    assert_eq!(
        (
            &up["files_uploaded"],
            &up["folders_created"],
            &up["total_bytes"]
        ),
        (&json!(3), &json!(3), &json!(6)),
        "{up}"
    );
    #[cfg(unix)]
    assert!(
        up["errors"][0]["error"]
            .as_str()
            .unwrap()
            .contains("symbolic link")
    );
    let to = dir.path().join("to");
    std::fs::create_dir_all(to.join("sub")).unwrap();
    std::fs::write(to.join("sub/b"), "22").unwrap();
    let down = json!({ "folder_uuid": up["folder_uuid"], "output_path": to });
    let down = session.call_ok("download_folder", down).await;
    assert_eq!(
        (&down["downloaded"], &down["skipped"], &down["failed"]),
        (&json!(2), &json!(1), &json!(0)),
        "{down}"
    );
    assert_eq!(down["unverified"], 0, "{down}");
    assert_eq!(std::fs::read(to.join("sub/deep/c")).unwrap(), b"333");
    let again = json!({ "folder_uuid": up["folder_uuid"], "output_path": to });
    let again = session.call_ok("download_folder", again).await;
    assert_eq!(
        (&again["downloaded"], &again["skipped"]),
        (&json!(0), &json!(3)),
        "{again}"
    );
    let flat = dir.path().join("flat");
    std::fs::create_dir_all(flat.join("below")).unwrap();
    std::fs::write(flat.join("top"), "1").unwrap();
    std::fs::write(flat.join("below/x"), "1").unwrap();
    let up = json!({ "local_path": flat, "recursive": false });
    let up = session.call_ok("upload_folder", up).await;
    assert_eq!(
        (&up["files_uploaded"], &up["folders_created"]),
        (&json!(1), &json!(1))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn system_directories_are_out_of_bounds() {
    let (_world, mut session, dir) = begin().await;
    let id = upload(&mut session, dir.path(), "x", b"x").await;
    for path in [
        "/etc/cairn",
        "/usr/x",
        "/var/x",
        "/tmp/../etc/x",
        "/dev/shm/x",
    ] {
        for (tool, arguments) in [
            (
                "download_file",
                json!({ "file_uuid": id, "output_path": path }),
            ),
            (
                "download_folder",
                json!({ "folder_uuid": id, "output_path": path }),
            ),
            ("upload_file", json!({ "local_path": path })),
            ("upload_folder", json!({ "local_path": path })),
        ] {
            let message = session.call_err(tool, arguments).await;
            assert!(
                message.contains("system directory"),
                "{tool} {path}: {message}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn small_files_of_a_folder_travel_together_and_each_has_an_outcome() {
    let (world, mut session, dir) = begin().await;
    let from = dir.path().join("many");
    std::fs::create_dir_all(from.join("taken")).unwrap();
    for n in 0..40 {
        std::fs::write(from.join(format!("f{n:02}")), n.to_string()).unwrap();
    }
    std::fs::write(from.join("taken/x"), "x").unwrap();
    let first = json!({ "local_path": from });
    let up = session.call_ok("upload_folder", first).await;
    assert_eq!(
        (&up["files_uploaded"], &up["failed"]),
        (&json!(41), &json!(0))
    );
    // A file stands where the folder has to go.
    let list = json!({ "folder_uuid": up["folder_uuid"], "page_size": 100 });
    let list = session.call_ok("list_files", list).await;
    let children = list["content"].as_array().unwrap();
    let named = |name: &str| {
        let found = children.iter().find(|node| node["name"] == name);
        found.unwrap()["id"].clone()
    };
    let delete = json!({ "file_uuid": named("taken") });
    session.call_ok("delete_file", delete).await;
    let rename = json!({ "file_uuid": named("f00"), "new_name": "taken" });
    session.call_ok("rename_file", rename).await;
    let before = world.requests().await.len();
    let params = json!({
        "name": "upload_folder",
        "arguments": { "local_path": from },
        "_meta": { "progressToken": "many" },
    });
    let response = session.request("tools/call", params).await;
    let up = crate::mcp::session::text(&response["result"]);
    assert_eq!(
        (&up["files_uploaded"], &up["files_unchanged"], &up["failed"]),
        (&json!(1), &json!(39), &json!(1)),
        "{up}"
    );
    assert!(
        up["errors"][0]["path"].as_str().unwrap().ends_with("taken"),
        "{up}"
    );
    let requests = world.requests().await.len() - before;
    assert!(requests < 20, "{requests} requests for 40 files");
    let report = session.notifications.last().unwrap();
    assert!(report["params"]["total"].is_number(), "{report}");
    let before = world.requests().await.len();
    let down = json!({ "folder_uuid": up["folder_uuid"], "output_path": dir.path().join("to") });
    let down = session.call_ok("download_folder", down).await;
    assert_eq!(
        (&down["downloaded"], &down["failed"]),
        (&json!(41), &json!(0)),
        "{down}"
    );
    let requests = world.requests().await.len() - before;
    assert!(requests < 20, "{requests} requests for 41 files down");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_download_leaves_nothing() {
    let (world, mut session, dir) = begin().await;
    let id = upload(&mut session, dir.path(), "big", &noise(4_000_000)).await;
    let rule = json!({ "path_pattern": "/api/v1/chunks", "latency_ms": 600_000 });
    world.dev("/_dev/faults", rule).await;
    let to = dir.path().join("out");
    std::fs::create_dir(&to).unwrap();
    let params = json!({
        "name": "download_file",
        "arguments": { "file_uuid": id, "output_path": to.join("big") },
    });
    let call = session.begin("tools/call", params).await;
    let cancelled = json!({ "requestId": call, "reason": "enough" });
    session
        .send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }))
        .await;
    let other = session.request("ping", json!({})).await;
    assert!(
        other["result"].is_object(),
        "the call's answer is not wanted any more"
    );
    session.end().await;
    assert_eq!(names(&to), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_the_trash_or_no_file_is_refused() {
    let (_world, mut session, dir) = begin().await;
    let id = upload(&mut session, dir.path(), "x", b"x").await;
    let folder = session
        .call_ok("create_folder", json!({ "name": "f" }))
        .await;
    let message = session
        .call_err("read_file_content", json!({ "file_uuid": folder["id"] }))
        .await;
    assert!(message.contains("is a folder"), "{message}");
    let place = json!({ "local_path": dir.path().join("x"), "folder_uuid": id });
    assert!(
        session
            .call_err("upload_file", place)
            .await
            .contains("is a file")
    );
    session
        .call_ok("delete_file", json!({ "file_uuid": id }))
        .await;
    let result = session
        .call("read_file_content", json!({ "file_uuid": id }))
        .await;
    assert!(failure(&result).unwrap().contains("in the trash"));
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_made_without_keys_do_not_stand_in_the_way_of_the_first() {
    let (world, mut session, dir) = begin().await;
    let folder = session
        .call_ok("create_folder", json!({ "name": "f" }))
        .await;
    let local = dir.path().join("x");
    std::fs::write(&local, "x").unwrap();
    let into = json!({ "local_path": local, "folder_uuid": folder["id"] });
    session.call_ok("upload_file", into).await;
    // From now on there is something that only the keys open: they are never made again.
    let mut other = world
        .session(Setup {
            passphrase: Some("another one"),
            ..Setup::default()
        })
        .await;
    let again = json!({ "local_path": local });
    let reply = other.call_err("upload_file", again).await;
    assert!(reply.contains("SERVICE_PASSPHRASE"), "{reply}");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_this_device_is_strict_nothing_unverified_is_handed_out() {
    let (world, mut session, dir) = begin().await;
    let local = dir.path().join("x");
    // The keys are made with the first content: what is created before has no seal.
    upload(&mut session, dir.path(), "x", b"x").await;
    let folder = json!({ "name": "f" });
    let folder = session.call_ok("create_folder", folder).await["id"].clone();
    let up = json!({ "local_path": local, "folder_uuid": folder });
    let file = session.call_ok("upload_file", up).await["file_uuid"].clone();
    let calls = [
        ("read_file_content", json!({ "file_uuid": file })),
        (
            "download_file",
            json!({ "file_uuid": file, "output_path": dir.path().join("back") }),
        ),
        (
            "download_folder",
            json!({ "folder_uuid": folder, "output_path": dir.path().join("all") }),
        ),
    ];
    let strict = || Setup {
        verification: Verification::Strict,
        ..with_passphrase()
    };
    let mut session = world.session(strict()).await;
    session
        .call_ok("read_file_content", json!({ "file_uuid": file }))
        .await;
    // The service, or whoever has no keys, gives it another name.
    let path = format!("nodes/{}", file.as_str().unwrap());
    let renamed = Some(json!({ "name": "contract.txt" }));
    world.rest(Method::PUT, &path, renamed).await;
    for (tool, arguments) in &calls {
        let refused = session.call_err(tool, arguments.clone()).await;
        assert!(
            refused.contains("/f/contract.txt") && refused.contains("strict"),
            "{tool}: {refused}"
        );
    }
    assert_eq!(names(dir.path()), ["x"]);
    let mut session = world.session(with_passphrase()).await;
    for (tool, arguments) in calls {
        session.call_ok(tool, arguments).await;
    }
}
