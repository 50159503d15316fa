//! The progress of transfers, as clients that ask for it are told.

use crate::mcp::session::{Session, text};
use crate::mcp::world::{Setup, World, with_passphrase};
use crate::support::noise;
use cairn_mcp::ForeignTexts;
use serde_json::{Value, json};
use std::path::Path;

const BIG: usize = 6_000_000;
const SMALL: [(&str, &str); 2] = [("a.txt", "1"), ("sub/b.txt", "22")];
/// The bytes of all files of [`write_folder`].
const ALL: f64 = 6_000_003.0;

/// Calls a tool and asks for its progress; returns its result, and the parameters of the notifications before it.
async fn call_with_progress(
    session: &mut Session,
    tool: &str,
    arguments: Value,
) -> (Value, Vec<Value>) {
    session.notifications.clear();
    let params = json!({
        "name": tool,
        "arguments": arguments,
        "_meta": { "progressToken": tool },
    });
    let response = session.request("tools/call", params).await;
    assert_ne!(response["result"]["isError"], true, "{response}");
    let sent = session.notifications.iter();
    let sent = sent.filter(|notification| notification["method"] == "notifications/progress");
    let sent: Vec<_> = sent.map(|report| report["params"].clone()).collect();
    for report in &sent {
        assert_eq!(report["progressToken"], tool, "{report}");
    }
    (text(&response["result"]), sent)
}

/// Checks that reports count upwards, and that the last one says that all is done.
fn check_counts(reports: &[Value], total: f64) {
    let mut before = -1.0;
    for report in reports {
        let progress = report["progress"].as_f64().expect("a number");
        assert!(progress > before, "{report} after {before}");
        assert_eq!(report["total"], total, "{report}");
        before = progress;
    }
    assert_eq!(before, total, "{reports:?}");
}

/// Writes a folder with a big file and two small ones.
fn write_folder(dir: &Path) {
    std::fs::create_dir_all(dir.join("sub")).unwrap();
    std::fs::write(dir.join("big.bin"), noise(BIG)).unwrap();
    for (name, content) in SMALL {
        std::fs::write(dir.join(name), content).unwrap();
    }
}

/// Returns the id of a new folder on the service with the files of [`write_folder`].
async fn upload_folder(session: &mut Session, dir: &Path) -> Value {
    write_folder(dir);
    let up = json!({ "local_path": dir });
    let up = session.call_ok("upload_folder", up).await;
    assert_eq!(up["files_uploaded"], 3, "{up}");
    up["folder_uuid"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_tells_how_far_it_is() {
    let world = World::start().await;
    let mut session = world.session(with_passphrase()).await;
    let dir = tempfile::tempdir().unwrap();
    let local = dir.path().join("big");
    std::fs::write(&local, noise(BIG)).unwrap();
    let up = json!({ "local_path": local });
    let (_, reports) = call_with_progress(&mut session, "upload_file", up).await;
    check_counts(&reports, 6_000_000.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folders_download_tells_how_far_it_is() {
    let world = World::start().await;
    let mut session = world.session(with_passphrase()).await;
    let dir = tempfile::tempdir().unwrap();
    let folder = upload_folder(&mut session, &dir.path().join("from")).await;
    let to = dir.path().join("to");
    let down = json!({ "folder_uuid": folder, "output_path": to });
    let (done, reports) = call_with_progress(&mut session, "download_folder", down.clone()).await;
    assert_eq!(
        (&done["downloaded"], &done["failed"]),
        (&json!(3), &json!(0)),
        "{done}"
    );
    check_counts(&reports, ALL);
    let named = |report: &Value| report["message"].as_str().map(str::to_owned);
    let messages: Vec<_> = reports.iter().filter_map(named).collect();
    let known = ["big.bin", "2 small files"];
    assert!(
        !messages.is_empty() && messages.iter().all(|text| known.contains(&&**text)),
        "{messages:?}"
    );
    // Nothing is transferred, and nothing reported of it.
    let (again, reports) = call_with_progress(&mut session, "download_folder", down).await;
    assert_eq!(again["skipped"], 3, "{again}");
    let moved = |report: &Value| report["progress"] != 0.0;
    assert!(!reports.iter().any(moved), "{reports:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_progress_token_no_progress_is_sent() {
    let world = World::start().await;
    let mut session = world.session(with_passphrase()).await;
    let dir = tempfile::tempdir().unwrap();
    let folder = upload_folder(&mut session, &dir.path().join("from")).await;
    let down = json!({ "folder_uuid": folder, "output_path": dir.path().join("to") });
    session.call_ok("download_folder", down).await;
    assert!(
        session.notifications.is_empty(),
        "{:?}",
        session.notifications
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_lockdown_progress_names_no_file() {
    let world = World::start().await;
    let locked = Setup {
        foreign_texts: ForeignTexts::Withheld,
        ..with_passphrase()
    };
    let mut session = world.session(locked).await;
    let dir = tempfile::tempdir().unwrap();
    let folder = upload_folder(&mut session, &dir.path().join("from")).await;
    let down = json!({ "folder_uuid": folder, "output_path": dir.path().join("to") });
    let (_, reports) = call_with_progress(&mut session, "download_folder", down).await;
    check_counts(&reports, ALL);
    for report in reports {
        assert!(report.get("message").is_none(), "{report}");
    }
}
