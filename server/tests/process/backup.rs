//! Backups of a running server, and what comes of them.

use super::crash::{batch, upload_single, whole_files};
use super::server::{Server, run};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[track_caller]
fn json(output: &Output) -> Value {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn objects(data: &Path) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(data.join("objects")).unwrap();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
    files.map(|file| file.unwrap().path()).collect()
}

#[test]
fn a_backup_of_a_busy_server_is_restored_and_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let [data, copy, restored] = ["data", "copy", "restored"].map(|name| dir.path().join(name));
    let server = Server::on(&data);
    for seed in 0..5 {
        assert!(upload_single(&server.address, seed).unwrap());
    }
    assert!(batch(&server.address, &[10, 11, 12]).unwrap());
    let cursor = |server: &Server| {
        let feed = server.call("GET", "/api/v1/changes", b"").json();
        feed["cursor"].as_str().unwrap().to_owned()
    };
    let history = |server: &Server| {
        let list = server.call("GET", "/api/v1/changes/snapshot", b"").json();
        list["epoch"].as_str().unwrap().to_owned()
    };
    let (known, known_history) = (cursor(&server), history(&server));
    // Writers all along: whatever the copy holds of them is whole.
    let done = AtomicBool::new(false);
    let made = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut seed = 100;
            while !done.load(Ordering::SeqCst) || seed < 110 {
                assert!(upload_single(&server.address, seed).unwrap());
                seed += 1;
            }
        });
        let made = run(
            &["backup", text(&copy), "--json", "--data", text(&data)],
            "",
        );
        done.store(true, Ordering::SeqCst);
        writer.join().unwrap();
        json(&made)
    });
    assert_eq!(made["has_objects"], true);
    assert!(made["objects"].as_u64().unwrap() >= 6, "{made}");
    assert!(upload_single(&server.address, 800).unwrap());
    let lost = cursor(&server);
    server.kill();
    std::fs::remove_dir_all(&data).unwrap();

    let again = run(
        &["restore", text(&copy), "--json", "--data", text(&restored)],
        "",
    );
    assert_eq!(json(&again)["objects"], made["objects"]);
    let checked = run(
        &["check", "--read-data", "--json", "--data", text(&restored)],
        "",
    );
    let checked = json(&checked);
    assert_eq!(
        checked["problems"].as_array().unwrap().len(),
        0,
        "{checked}"
    );
    assert_eq!(
        (&checked["objects"], &checked["unreferenced"]),
        (&made["objects"], &Value::from(0))
    );

    let server = Server::on(&restored);
    assert!(whole_files(&server).len() >= 8);
    let changes = |cursor: &str| {
        server
            .call("GET", &format!("/api/v1/changes?cursor={cursor}"), b"")
            .status
    };
    assert_eq!(changes(&known), 200, "clients go on from what they know");
    assert!(upload_single(&server.address, 900).unwrap());
    assert_eq!(changes(&lost), 410, "what was lost is noticed");
    assert_ne!(history(&server), known_history, "and told to people");
    assert!(server.terminate());
}

#[test]
fn a_restore_that_fails_leaves_no_database_to_start_on() {
    let dir = tempfile::tempdir().unwrap();
    let [data, copy, restored] = ["data", "copy", "restored"].map(|name| dir.path().join(name));
    let server = Server::on(&data);
    assert!(upload_single(&server.address, 1).unwrap());
    json(&run(
        &["backup", text(&copy), "--json", "--data", text(&data)],
        "",
    ));
    assert!(server.terminate());
    let damaged = rusqlite::Connection::open(copy.join("cairn.db")).unwrap();
    let log = "INSERT INTO logs (space, history, size, root, core) \
         SELECT row, zeroblob(16), 1, zeroblob(32), x'00' FROM spaces LIMIT 1";
    assert_eq!(damaged.execute(log, []).unwrap(), 1);
    drop(damaged);
    let refused = run(&["restore", text(&copy), "--data", text(&restored)], "");
    assert!(!refused.status.success());
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains("the state"), "{message}");
    assert!(!restored.join("cairn.db").exists());
}

#[test]
fn a_check_names_what_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let server = Server::on(&data);
    for seed in 0..3 {
        assert!(upload_single(&server.address, seed).unwrap());
    }
    let check = |words: &[&str]| run(&[&["check", "--data", text(&data)], words].concat(), "");
    assert!(check(&[]).status.success());
    let all = objects(&data);
    std::fs::remove_file(&all[0]).unwrap();
    std::fs::write(&all[1], "short").unwrap();
    let found = check(&[]);
    assert_eq!(found.status.code(), Some(1));
    let printed = String::from_utf8(found.stdout).unwrap();
    assert!(
        printed.contains("is missing") && printed.contains("has 5 bytes"),
        "{printed}"
    );
    // What is not whole can't be backed up as if it were.
    let copy = dir.path().join("copy");
    let refused = run(&["backup", text(&copy), "--data", text(&data)], "");
    assert_eq!(refused.status.code(), Some(1));
    assert!(!copy.join("backup.json").exists());
    let refused = run(
        &[
            "restore",
            text(&copy),
            "--data",
            text(&dir.path().join("new")),
        ],
        "",
    );
    assert!(String::from_utf8_lossy(&refused.stderr).contains("not a complete backup"));
    assert!(!dir.path().join("new").exists());
}

#[test]
fn nothing_is_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let [data, copy] = ["data", "copy"].map(|name| dir.path().join(name));
    drop(Server::on(&data));
    std::fs::create_dir(&copy).unwrap();
    std::fs::write(copy.join("mine"), "x").unwrap();
    let refused = run(&["backup", text(&copy), "--data", text(&data)], "");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("is not empty"));
    std::fs::remove_file(copy.join("mine")).unwrap();
    json(&run(
        &["backup", text(&copy), "--json", "--data", text(&data)],
        "",
    ));
    let refused = run(&["restore", text(&copy), "--data", text(&data)], "");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("is not empty"));
}

#[test]
fn a_backup_and_its_data_lie_apart() {
    let dir = tempfile::tempdir().unwrap();
    let [data, copy] = ["data", "copy"].map(|name| dir.path().join(name));
    drop(Server::on(&data));
    let roundabout = copy.join("..").join("data").join("objects").join("copy");
    std::fs::create_dir(&copy).unwrap();
    for inside in [data.join("backup"), data.clone(), roundabout] {
        let refused = run(&["backup", text(&inside), "--data", text(&data)], "");
        assert_eq!(refused.status.code(), Some(1), "{}", inside.display());
        let message = String::from_utf8_lossy(&refused.stderr);
        assert!(message.contains("lies in"), "{message}");
    }
    assert!(!data.join("backup").exists());
    json(&run(
        &["backup", text(&copy), "--json", "--data", text(&data)],
        "",
    ));
    let inside = copy.join("data");
    let refused = run(&["restore", text(&copy), "--data", text(&inside)], "");
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains("lies in"), "{message}");
    assert!(!inside.exists());
}
