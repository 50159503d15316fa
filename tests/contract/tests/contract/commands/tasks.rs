//! Requests of people to an assistant, done through `cairn mcp` beside real daemons with the calls that an
//! assistant makes: each in few calls, and small enough to leave room in a conversation.

mod sync;

use crate::commands::session::Session;
use crate::commands::world::World;
use cairn_crypto::{KdfParams, LinkSecret};
use cairn_e2e::http::Http;
use cairn_wire::shares::PasswordKdf;
use serde_json::{Value, json};
use std::fs::File;
use std::time::{Duration, SystemTime};

const MOST_CALLS: usize = 5;
const MOST_TOKENS: usize = 8_000;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// One request of a person. Arguments and answers count, as both are in the conversation.
struct Task {
    session: Session,
    calls: usize,
    bytes: usize,
}

impl Task {
    fn begin(world: &World, home: &str) -> Self {
        Self {
            session: Session::start(world, home, &[]),
            calls: 0,
            bytes: 0,
        }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.bytes += arguments.to_string().len();
        let params = json!({ "name": tool, "arguments": arguments });
        let response = self.session.ask("tools/call", params);
        let result = &response["result"];
        assert_ne!(result["isError"], true, "{tool}: {response}");
        let text = result["content"][0]["text"].as_str().expect("text");
        self.calls += 1;
        self.bytes += text.len();
        serde_json::from_str(text).expect("it is JSON")
    }

    /// Checks that the conversation has stayed small.
    #[track_caller]
    fn end(self) {
        // JSON full of ids has about 2.3 bytes a token (o200k).
        let tokens = self.bytes * 10 / 23;
        let used = format!("{} calls, {tokens} tokens", self.calls);
        assert!(self.calls <= MOST_CALLS && tokens <= MOST_TOKENS, "{used}");
        assert_eq!(self.session.end(), Some(0));
    }
}

/// The rows of a response.
fn rows<'a>(response: &'a Value, list: &str) -> &'a Vec<Value> {
    let rows = response[list].as_array();
    rows.unwrap_or_else(|| panic!("no {list} in {response}"))
}

fn set_age(world: &World, name: &str, age: Duration) {
    let file = File::options().append(true).open(world.path(name));
    let file = file.expect("it is there");
    let at = SystemTime::now() - age;
    file.set_modified(at).expect("its time can be set");
}

/// Writes files `PREFIX000.EXT` of these numbers and sizes into a folder, each as old as `age` says.
fn write_files(world: &World, folder: &str, count: usize, age: impl Fn(usize) -> Duration) {
    std::fs::create_dir_all(world.path(folder)).expect("a folder can be made");
    for n in 0..count {
        let name = format!("{folder}/IMG_{n:04}.jpg");
        world.write(&name, format!("photo {n}"));
        set_age(world, &name, age(n));
    }
}

#[test]
fn large_files_that_nobody_touches_and_what_they_take_up() {
    let world = World::new();
    world.login("a");
    let mut stale = 0;
    for n in 0..351 {
        let folder = format!("src/folder {:02}", n % 31);
        std::fs::create_dir_all(world.path(&folder)).expect("a folder can be made");
        let (name, size) = (format!("{folder}/file {n:03}.txt"), 1_000 + n * 37);
        world.write(&name, "x".repeat(size));
        if n % 3 == 0 {
            set_age(&world, &name, 200 * DAY);
            stale += size;
        }
    }
    world.json("a", &["upload", "--recursive", "src", "--to", "/"]);
    let mut task = Task::begin(&world, "a");
    let usage = task.call("get_storage_usage", json!({}));
    let old = &usage["files"]["not_modified_for_90_days"];
    assert_eq!((&old["count"], &old["bytes"]), (&json!(117), &json!(stale)));
    let largest = &rows(old, "largest")[0];
    assert_eq!(largest["path"], "/src/folder 07/file 348.txt", "{old}");
    let largest = &rows(&usage["files"], "largest")[0];
    assert_eq!(largest["size"], 1_000 + 350 * 37, "{usage}");
    task.end();
}

/// Opens a link as a visitor who was told the password.
fn visit(world: &World, link: &Value, password: &str) {
    let address = link["url"].as_str().expect("an address");
    let (_, secret) = address.split_once('#').expect("the whole address");
    let http = Http::new(&world.url, None);
    let code = link["short_code"].as_str().expect("a code");
    let path = format!("/api/v1/public/shares/{code}");
    let page = http.get(&path).expect("the link is there");
    let kdf: PasswordKdf = serde_json::from_value(page["kdf"].clone()).expect("parameters");
    let kdf = KdfParams::parse(kdf.iterations, &kdf.salt.0).expect("parameters");
    let secret = LinkSecret::parse(secret).expect("a secret");
    let (_, check) = secret.key_with_password(password, &kdf).expect("derived");
    let open = json!({ "gate": check.to_hex(), "email": "anna@example.com" });
    let opened = http.post(&format!("{path}/open"), &open);
    assert!(opened.expect("it opens")["files"].is_array());
}

#[test]
fn a_report_is_shared_for_a_week_and_who_opened_it() {
    let world = World::new();
    world.login("a");
    for folder in ["2024", "2025", "2026"] {
        std::fs::create_dir_all(world.path(&format!("src/{folder}"))).expect("a folder");
        world.write(&format!("src/{folder}/report.pdf"), folder);
    }
    world.json("a", &["upload", "--recursive", "src", "--to", "/"]);
    let mut task = Task::begin(&world, "a");
    let found = task.call("search_files", json!({ "query": "report", "ext": "pdf" }));
    let report = rows(&found, "content")
        .iter()
        .find(|row| row["path"] == "/src/2026/report.pdf")
        .expect("paths tell files of one name apart");
    let link = json!({ "file_uuid": report["id"], "expiry_days": 7, "password": "sesame 2026" });
    let link = task.call("create_share_link", link);
    visit(&world, &link, "sesame 2026");
    // "Send me the link to that report again."
    let links = task.call("list_share_links", json!({}));
    assert_eq!(rows(&links, "content")[0]["url"], link["url"], "{links}");
    let log = json!({ "short_code": link["short_code"] });
    let log = task.call("get_share_access_log", log);
    assert!(
        log["content"].to_string().contains("anna@example.com"),
        "{log}"
    );
    task.end();
}

#[test]
fn a_file_that_was_deleted_by_mistake_comes_back() {
    let world = World::new();
    world.login("a");
    write_files(&world, "src", 60, |_| DAY);
    world.write("src/plan.md", "the plan");
    world.json("a", &["upload", "--recursive", "src", "--to", "/"]);
    let paths: Vec<String> = (0..60).map(|n| format!("/src/IMG_{n:04}.jpg")).collect();
    for path in &paths {
        world.json("a", &["delete", path]);
    }
    world.json("a", &["delete", "/src/plan.md"]);
    let mut task = Task::begin(&world, "a");
    let trash = task.call("list_trash", json!({}));
    assert_eq!(trash["totalElements"], 61, "{trash}");
    let last = &rows(&trash, "content")[0];
    assert_eq!(last["former_path"], "/src/plan.md", "{trash}");
    assert!(last["trashed_at"].is_string(), "{trash}");
    task.call("restore_from_trash", json!({ "file_uuid": last["id"] }));
    task.end();
    assert_eq!(
        world.json("a", &["info", "/src/plan.md"])["name"],
        "plan.md"
    );
}
