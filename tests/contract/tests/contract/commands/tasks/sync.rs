//! Requests about what the sync daemon does, with real daemons on one or two devices.

use super::{DAY, Task, rows, write_files};
use crate::commands::world::{Stopping, World};
use serde_json::{Value, json};

/// Logs two devices in, named after their homes. Each syncs all files of the account with a folder of its own.
fn two_devices(world: &World) {
    for home in ["laptop", "desktop"] {
        let passphrase = world.text("passphrase");
        let login = world.login_args(crate::support::OWNER, &passphrase);
        world.json(home, &[&login[..], &["--device-name", home]].concat());
        world.json(home, &["add", &folder(home)]);
    }
}

fn folder(home: &str) -> String {
    format!("files-{home}")
}

fn wait(world: &World, home: &str) {
    world.json(home, &["status", "--wait", "--timeout", "60"]);
}

#[test]
fn the_version_from_the_other_device_comes_back() {
    let world = World::new();
    two_devices(&world);
    let _stopping = (Stopping(&world, "laptop"), Stopping(&world, "desktop"));
    world.write("files-laptop/essay.md", "written on the laptop");
    wait(&world, "laptop");
    wait(&world, "desktop");
    world.write(
        "files-desktop/essay.md",
        "spoilt on the desktop, and longer",
    );
    wait(&world, "desktop");
    let mut task = Task::begin(&world, "desktop");
    let path = json!({ "path": world.path("files-desktop/essay.md") });
    let file = task.call("sync_locate", path)["node"]["id"].clone();
    let versions = task.call("get_file_versions", json!({ "file_uuid": file }));
    let good = rows(&versions, "content")
        .iter()
        .find(|version| version["device"] == "laptop")
        .unwrap_or_else(|| panic!("no device in {versions}"));
    let restore = json!({ "file_uuid": file, "version_id": good["id"] });
    task.call("restore_file_version", restore);
    let synced = task.call("sync_now", json!({ "wait_seconds": 50 }));
    assert_eq!(synced["in_sync"], true, "{synced}");
    task.end();
    let text = std::fs::read_to_string(world.path("files-desktop/essay.md"));
    assert_eq!(text.expect("it is there"), "written on the laptop");
}

#[test]
fn a_folder_that_does_not_sync_says_why() {
    let world = World::new();
    world.login("a");
    world.json("a", &["add", "files-a"]);
    world.write("files-a/.cairnignore", "*.log\n");
    world.write("files-a/build.log", "x");
    world.write("files-a/notes.txt", "x");
    let _stopping = Stopping(&world, "a");
    // The usual reason first: nothing runs.
    let mut task = Task::begin(&world, "a");
    let status = task.call("sync_status", json!({}));
    assert_eq!(status["running"], false, "{status}");
    assert!(
        status["hint"]
            .as_str()
            .expect("text")
            .contains("cairn start"),
        "{status}"
    );
    world.json("a", &["start"]);
    world.json("a", &["pause"]);
    let status = task.call("sync_status", json!({}));
    assert_eq!(status["state"], "paused", "{status}");
    task.call("sync_resume", json!({}));
    let synced = task.call("sync_now", json!({ "wait_seconds": 50 }));
    assert_eq!(synced["in_sync"], true, "{synced}");
    let why = json!({ "path": world.path("files-a/build.log") });
    let why = task.call("sync_why", why);
    assert_eq!(why["state"], "ignored", "{why}");
    assert!(why["rule"].to_string().contains("*.log"), "{why}");
    task.end();
}

#[test]
fn what_changed_on_the_other_device_on_a_busy_day() {
    let world = World::new();
    two_devices(&world);
    let _stopping = (Stopping(&world, "laptop"), Stopping(&world, "desktop"));
    write_files(&world, "files-laptop/Photos", 150, |_| DAY);
    world.write("files-laptop/report.md", "quarterly");
    wait(&world, "laptop");
    world.json("desktop", &["start"]);
    wait(&world, "desktop");
    world.write("files-desktop/own.md", "not from the laptop");
    wait(&world, "desktop");
    let mut task = Task::begin(&world, "desktop");
    let since = json!({ "since": "2020-01-01", "device": "laptop", "limit": 100 });
    let activity = task.call("sync_activity", since);
    assert_eq!(activity["device"], "laptop", "{activity}");
    assert!(!activity.to_string().contains("own.md"), "{activity}");
    let summary = rows(&activity, "summary");
    let photos = summary.iter().find(|row| row["directory"] == "Photos");
    let photos = photos.unwrap_or_else(|| panic!("no photos in {summary:?}"));
    assert_eq!(
        (&photos["kind"], &photos["count"]),
        (&json!("downloaded"), &json!(150)),
        "{summary:?}"
    );
    task.end();
}

/// The ids of the rows of one month.
fn of_month(rows: &[Value], month: &str) -> Vec<Value> {
    let taken = |row: &&Value| {
        let at = row["modified_at"].as_str();
        at.is_some_and(|at| at.starts_with(month))
    };
    rows.iter()
        .filter(taken)
        .map(|row| row["id"].clone())
        .collect()
}

#[test]
fn photos_are_put_into_a_folder_per_month() {
    let world = World::new();
    world.login("a");
    world.json("a", &["add", "files-a"]);
    let _stopping = Stopping(&world, "a");
    std::fs::create_dir_all(world.path("files-a/Pictures/From the camera")).expect("a folder");
    // Three months whatever the day is.
    for (n, day) in (0..60).zip((1..=20).cycle()) {
        let name = format!("files-a/Pictures/From the camera/IMG_2026{n:04}.jpg");
        world.write(&name, format!("photo {n}"));
        let at = time::Date::from_calendar_date(2026, month(n), day).expect("a day");
        let at = at.midnight().assume_utc();
        let file = std::fs::File::options()
            .append(true)
            .open(world.path(&name));
        let file = file.expect("it is there");
        file.set_modified(at.into()).expect("its time can be set");
    }
    wait(&world, "a");
    let mut task = Task::begin(&world, "a");
    let path = json!({ "path": world.path("files-a/Pictures/From the camera") });
    let camera = task.call("sync_locate", path)["node"]["id"].clone();
    let list = json!({ "folder_uuid": camera, "page_size": 100 });
    let list = task.call("list_files", list);
    let photos = rows(&list, "content");
    assert_eq!(photos.len(), 60, "{list}");
    for month in ["01", "02", "03"] {
        let ids = of_month(photos, &format!("2026-{month}"));
        assert_eq!(ids.len(), 20, "{list}");
        let moved = json!({
            "file_uuids": ids, "target_folder_uuid": camera, "new_path": format!("2026/{month}"),
        });
        let moved = task.call("move_files", moved);
        assert_eq!(
            (&moved["moved"], &moved["failed"]),
            (&json!(20), &json!([]))
        );
    }
    task.end();
    wait(&world, "a");
    let there =
        crate::commands::world::names(&world.path("files-a/Pictures/From the camera/2026/02"));
    assert_eq!(there.len(), 20, "{there:?}");
}

/// The month of a photo.
fn month(n: usize) -> time::Month {
    [
        time::Month::January,
        time::Month::February,
        time::Month::March,
    ][n / 20]
}

#[test]
fn a_conflict_is_compared_and_ended() {
    let world = World::new();
    two_devices(&world);
    let _stopping = (Stopping(&world, "laptop"), Stopping(&world, "desktop"));
    world.write("files-laptop/plan.md", "base\n");
    wait(&world, "laptop");
    wait(&world, "desktop");
    for home in ["laptop", "desktop"] {
        world.json(home, &["pause"]);
        world.write(
            &format!("files-{home}/plan.md"),
            format!("base\nedited on the {home}\n"),
        );
    }
    for home in ["laptop", "desktop"] {
        world.json(home, &["resume"]);
        wait_for_anything(&world, home);
    }
    let mut task = Task::begin(&world, "desktop");
    let conflicts = task.call("sync_conflicts", json!({}));
    let conflict = &rows(&conflicts, "conflicts")[0];
    let read = |task: &mut Task, id: &str| {
        let file = json!({ "file_uuid": conflict[id] });
        task.call("read_file_content", file)["content"].clone()
    };
    assert_eq!(read(&mut task, "file_uuid"), "base\nedited on the laptop\n");
    assert_eq!(
        read(&mut task, "copy_uuid"),
        "base\nedited on the desktop\n"
    );
    let keep = json!({ "path": conflict["path"], "keep": "mine" });
    task.call("sync_resolve_conflict", keep);
    let status = task.call("sync_status", json!({}));
    assert_eq!(status["open_conflicts"], 0, "{status}");
    task.end();
    let kept = std::fs::read_to_string(world.path("files-desktop/plan.md"));
    assert_eq!(kept.expect("it is there"), "base\nedited on the desktop\n");
}

/// Waits until nothing moves; a conflict is what the test is about.
fn wait_for_anything(world: &World, home: &str) {
    let waited = world.run(home, &["status", "--wait", "--timeout", "60"]);
    assert!([0, 5].contains(&waited.code), "{waited:?}");
}
