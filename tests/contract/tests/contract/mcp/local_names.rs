//! Names of files on the service, and those that their downloads get on this machine.

use crate::mcp::world::{World, with_passphrase};
use serde_json::{Value, json};

/// Windows takes a backslash for a separator.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_backslash_is_a_character_of_a_name() {
    let world = World::start().await;
    let mut session = world.session(with_passphrase()).await;
    let dir = tempfile::tempdir().unwrap();
    let local = dir.path().join("w");
    std::fs::create_dir(&local).unwrap();
    for (name, content) in [("w\\x.txt", "one"), ("x.txt", "two"), ("X.txt", "three")] {
        std::fs::write(local.join(name), content).unwrap();
    }
    let up = json!({ "local_path": local });
    let folder = session.call_ok("upload_folder", up).await["folder_uuid"].clone();
    let to = dir.path().join("to");
    let down = json!({ "folder_uuid": folder, "output_path": to });
    let down = session.call_ok("download_folder", down).await;
    let content = |name: &str| std::fs::read_to_string(to.join(name)).unwrap();
    assert_eq!(content("w\\x.txt"), "one");
    // One of two names that some disks take for the same gets a number, and the result says which.
    let renamed = down["renamed"].as_array().unwrap();
    assert_eq!(renamed.len(), 1, "{down}");
    let path = renamed[0]["path"].as_str().unwrap();
    assert!(path.ends_with(" (2).txt"), "{down}");
    let expected = if renamed[0]["name"] == "x.txt" {
        "two"
    } else {
        "three"
    };
    assert_eq!(std::fs::read_to_string(path).unwrap(), expected);
    let file =
        json!({ "file_uuid": "/w/w\\x.txt", "output_path": format!("{}/", dir.path().display()) });
    let one = session.call_ok("download_file", file).await;
    assert!(
        one["path"].as_str().unwrap().ends_with("/w\\x.txt"),
        "{one}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_content_hides_is_marked() {
    let world = World::start().await;
    let mut session = world.session(with_passphrase()).await;
    let dir = tempfile::tempdir().unwrap();
    for (name, text, is_marked) in [
        ("tags", "good\u{e0041}\u{e0042}", Value::Bool(true)),
        ("order", "a\u{202e}b", Value::Bool(true)),
        ("plain", "naïve\r\n\ttext", Value::Null),
    ] {
        let local = dir.path().join(name);
        std::fs::write(&local, text).unwrap();
        let up = json!({ "local_path": local });
        let up = session.call_ok("upload_file", up).await;
        let file = json!({ "file_uuid": up["file_uuid"] });
        let read = session.call_ok("read_file_content", file).await;
        assert_eq!(read["content"], text);
        assert_eq!(read["invisible_characters"], is_marked, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_made_first_is_sealed_too() {
    let world = World::start().await;
    let mut session = world.session(with_passphrase()).await;
    let dir = tempfile::tempdir().unwrap();
    let local = dir.path().join("x");
    std::fs::write(&local, "x").unwrap();
    let folder = json!({ "name": "f" });
    let folder = session.call_ok("create_folder", folder).await["id"].clone();
    let up = json!({ "local_path": local, "folder_uuid": folder });
    let up = session.call_ok("upload_file", up).await;
    let file = json!({ "file_uuid": up["file_uuid"] });
    let read = session.call_ok("read_file_content", file).await;
    assert_eq!(read["verified"], true, "{read}");
}
