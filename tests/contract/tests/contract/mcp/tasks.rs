//! Long transfers as tasks: when a call becomes one, and what its own session and others get of it.

use crate::mcp::session::{Session, failure, text};
use crate::mcp::world::{Setup, World, with_passphrase};
use cairn_api::Method;
use cairn_mcp::{ForeignTexts, StoredTask, TaskFiles, TaskProcess};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio::sync::{oneshot, watch};
use tokio::task::block_in_place;

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// Tasks in memory. In place of processes, other servers in this one do their work.
struct Tasks {
    world: World,
    kept: Mutex<BTreeMap<String, Kept>>,
    /// Work is done while it is open.
    gate: watch::Sender<bool>,
    /// The number of changes to what is kept, to wait for one.
    changes: watch::Sender<usize>,
}

#[derive(Clone, Default)]
struct Kept {
    state: String,
    is_running: bool,
    is_stop_requested: bool,
}

/// The tasks as servers get them.
#[derive(Clone)]
struct Place(Arc<Tasks>);

impl Tasks {
    fn change<T>(&self, change: impl FnOnce(&mut BTreeMap<String, Kept>) -> T) -> T {
        let changed = change(&mut self.kept.lock().unwrap());
        self.changes.send_modify(|count| *count += 1);
        changed
    }

    async fn wait_until(&self, is_so: impl Fn(&BTreeMap<String, Kept>) -> bool) {
        let mut changes = self.changes.subscribe();
        let so = changes
            .wait_for(|_| is_so(&self.kept.lock().unwrap()))
            .await;
        drop(so.expect("the sender is kept"));
    }
}

impl TaskFiles for Place {
    fn new_id(&self) -> String {
        format!("task-{}", self.0.kept.lock().unwrap().len())
    }

    fn write(&self, id: &str, state: &str) -> io::Result<()> {
        self.0
            .change(|kept| kept.entry(id.to_owned()).or_default().state = state.to_owned());
        Ok(())
    }

    fn read(&self, id: &str) -> io::Result<Option<StoredTask>> {
        let kept = self.0.kept.lock().unwrap().get(id).cloned();
        Ok(kept.map(|kept| StoredTask {
            state: kept.state,
            is_running: kept.is_running,
        }))
    }

    fn remove(&self, id: &str) {
        self.0.change(|kept| kept.remove(id));
    }

    fn request_stop(&self, id: &str) -> io::Result<()> {
        self.0
            .change(|kept| kept.entry(id.to_owned()).or_default().is_stop_requested = true);
        Ok(())
    }

    fn is_stop_requested(&self, id: &str) -> bool {
        let kept = self.0.kept.lock().unwrap();
        kept.get(id).is_some_and(|kept| kept.is_stop_requested)
    }

    fn start(&self, id: &str, call: String) -> io::Result<TaskProcess> {
        let set_running = |all: &Tasks, id: &str, is_running| {
            all.change(|kept| {
                if let Some(kept) = kept.get_mut(id) {
                    kept.is_running = is_running;
                }
            });
        };
        let ((is_ready, ready), (has_ended, ended)) = (oneshot::channel(), oneshot::channel());
        let (all, id) = (self.0.clone(), id.to_owned());
        let server = all.world.server(Setup {
            tasks: Some(Arc::new(self.clone())),
            ..with_passphrase()
        });
        set_running(&all, &id, true);
        let _ = is_ready.send(());
        let is_open = *self.0.gate.borrow();
        let work = async move {
            let mut gate = all.gate.subscribe();
            drop(gate.wait_for(|is_open| *is_open).await);
            server.run_task(&id, &call).await.expect("the work is done");
            set_running(&all, &id, false);
            let _ = has_ended.send(());
        };
        if is_open {
            // It has ended before anybody waits for it, however slow the machine is.
            block_in_place(|| Handle::current().block_on(work));
        } else {
            tokio::spawn(work);
        }
        Ok(TaskProcess { ready, ended })
    }
}

async fn begin(is_open: bool) -> (Arc<Tasks>, TempDir) {
    let tasks = Arc::new(Tasks {
        world: World::start().await,
        kept: Mutex::default(),
        gate: watch::Sender::new(is_open),
        changes: watch::Sender::default(),
    });
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("papers");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("plan.txt"), "the plan").unwrap();
    (tasks, dir)
}

fn setup(tasks: &Arc<Tasks>) -> Setup {
    Setup {
        tasks: Some(Arc::new(Place(tasks.clone()))),
        ..with_passphrase()
    }
}

/// Starts a session whose client says with each request that it knows tasks.
fn session(tasks: &Arc<Tasks>, setup: Setup) -> Session {
    let session = tasks.world.connect(setup);
    session.stateless(json!({ "extensions": { EXTENSION: {} } }))
}

fn upload(dir: &Path) -> Value {
    let arguments = json!({ "local_path": dir.join("papers") });
    json!({ "name": "upload_folder", "arguments": arguments })
}

async fn ask(session: &mut Session, method: &str, id: &Value) -> Value {
    let mut params = json!({ "taskId": id });
    if method == "tasks/update" {
        params["inputResponses"] = json!({});
    }
    session.request(method, params).await
}

/// Begins an upload that becomes a task, and returns its id.
async fn begin_upload(session: &mut Session, dir: &Path) -> Value {
    let response = session.request("tools/call", upload(dir)).await;
    let task = &response["result"];
    assert_eq!(task["resultType"], "task", "{response}");
    assert_eq!(task["status"], "working");
    for time in ["createdAt", "lastUpdatedAt"] {
        assert!(task[time].is_string(), "{task}");
    }
    assert_eq!(task["ttlMs"], Value::Null, "it has not ended");
    assert!(task["pollIntervalMs"].is_u64(), "{task}");
    task["taskId"].clone()
}

async fn remote_count(tasks: &Tasks) -> Value {
    let nodes = tasks.world.rest(Method::GET, "nodes", None).await;
    nodes["totalElements"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_transfer_outlives_the_session_that_began_it() {
    let (tasks, dir) = begin(false).await;
    let mut first = session(&tasks, setup(&tasks));
    let id = begin_upload(&mut first, dir.path()).await;
    first.end().await;
    let mut second = session(&tasks, setup(&tasks));
    let working = ask(&mut second, "tasks/get", &id).await;
    assert_eq!(working["result"]["resultType"], "complete", "{working}");
    assert_eq!(working["result"]["status"], "working", "{working}");
    assert_eq!(working["result"]["taskId"], id);
    tasks.gate.send_replace(true);
    tasks
        .wait_until(|kept| kept.values().all(|kept| !kept.is_running))
        .await;
    let done = ask(&mut second, "tasks/get", &id).await;
    let done = &done["result"];
    assert_eq!(done["status"], "completed", "{done}");
    assert!(done["ttlMs"].as_u64() >= Some(24 * 3_600_000), "{done}");
    let uploaded = text(&done["result"]);
    assert_eq!(uploaded["files_uploaded"], 1, "{uploaded}");
    let folder = json!({ "folder_uuid": uploaded["folder_uuid"] });
    let listed = second.call_ok("list_files", folder).await;
    assert_eq!(listed["content"][0]["name"], "plan.txt", "{listed}");
    let late = ask(&mut second, "tasks/cancel", &id).await;
    assert_eq!(late["result"], json!({ "resultType": "complete" }));
    second.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_updated_task_is_acknowledged_and_goes_on() {
    let (tasks, dir) = begin(false).await;
    let mut session = session(&tasks, setup(&tasks));
    let id = begin_upload(&mut session, dir.path()).await;
    let updated = ask(&mut session, "tasks/update", &id).await;
    assert_eq!(updated["result"], json!({ "resultType": "complete" }));
    let got = ask(&mut session, "tasks/get", &id).await;
    assert_eq!(got["result"]["status"], "working", "{got}");
    session.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_say_that_it_knows_tasks_gets_none() {
    let (tasks, dir) = begin(true).await;
    let knows = json!({ "extensions": { EXTENSION: {} } });
    let newer = tasks.world.connect(setup(&tasks)).stateless(json!({}));
    let mut older = tasks.world.connect(setup(&tasks));
    // What was declared before doesn't count: each request has to say so.
    let handshake = older.initialize(knows).await;
    let announced = &handshake["result"]["capabilities"]["extensions"];
    assert_eq!(*announced, json!({ EXTENSION: {} }), "{handshake}");
    for mut session in [newer, older] {
        let response = session.request("tools/call", upload(dir.path())).await;
        assert!(text(&response["result"])["folder_uuid"].is_string());
        assert!(tasks.kept.lock().unwrap().is_empty());
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let refused = ask(&mut session, method, &json!("task-0")).await;
            let error = &refused["error"];
            assert_eq!(error["code"], -32021, "{refused}");
            let required = json!({ "extensions": { EXTENSION: {} } });
            assert_eq!(error["data"]["requiredCapabilities"], required);
        }
        session.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_a_place_for_tasks_has_none() {
    let (tasks, dir) = begin(true).await;
    for (place, is_announced) in [(setup(&tasks), true), (with_passphrase(), false)] {
        let mut session = session(&tasks, place);
        let discovered = session.request("server/discover", json!({})).await;
        let extensions = &discovered["result"]["capabilities"]["extensions"];
        assert_eq!(extensions[EXTENSION].is_object(), is_announced);
        let response = session.request("tools/call", upload(dir.path())).await;
        assert_eq!(response["result"]["resultType"], "complete", "{response}");
        let code = if is_announced { -32602 } else { -32601 };
        let refused = ask(&mut session, "tasks/get", &json!("task-9")).await;
        assert_eq!(refused["error"]["code"], code, "{refused}");
        session.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transfer_that_ends_at_once_is_an_ordinary_result() {
    let (tasks, dir) = begin(true).await;
    let mut session = session(&tasks, setup(&tasks));
    let response = session.request("tools/call", upload(dir.path())).await;
    assert_eq!(response["result"]["resultType"], "complete", "{response}");
    assert_eq!(text(&response["result"])["files_uploaded"], 1);
    assert!(tasks.kept.lock().unwrap().is_empty(), "nothing is kept");
    let arguments = json!({ "local_path": dir.path().join("missing") });
    let params = json!({ "name": "upload_folder", "arguments": arguments });
    let failed = session.request("tools/call", params).await;
    let message = failure(&failed["result"]).unwrap();
    assert!(message.contains("missing"), "{message}");
    session.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_file_needs_no_task() {
    let (tasks, dir) = begin(false).await;
    let mut session = session(&tasks, setup(&tasks));
    let local = dir.path().join("papers/plan.txt");
    let up = session.call_ok("upload_file", json!({ "local_path": local }));
    let id = up.await["file_uuid"].clone();
    let down = json!({ "file_uuid": id, "output_path": dir.path().join("back.txt") });
    session.call_ok("download_file", down).await;
    assert!(tasks.kept.lock().unwrap().is_empty());
    session.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_file_is_a_task_both_ways() {
    let (tasks, dir) = begin(true).await;
    let mut session = session(&tasks, setup(&tasks));
    let (local, back) = (dir.path().join("large"), dir.path().join("back"));
    std::fs::write(&local, vec![7; 16 << 20]).unwrap();
    let mut call = async |name: &str, arguments: Value| {
        let before = *tasks.changes.borrow();
        let params = json!({ "name": name, "arguments": arguments });
        let response = session.request("tools/call", params).await;
        assert_ne!(*tasks.changes.borrow(), before, "{name} was no task");
        text(&response["result"])
    };
    let up = call("upload_file", json!({ "local_path": local })).await;
    let id = &up["file_uuid"];
    let down = json!({ "file_uuid": id, "output_path": back });
    let down = call("download_file", down).await;
    assert_eq!(down["size"], 16 << 20);
    assert!(std::fs::read(&back).unwrap() == std::fs::read(&local).unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn another_account_knows_no_task() {
    let (tasks, dir) = begin(false).await;
    let mut own = session(&tasks, setup(&tasks));
    let id = begin_upload(&mut own, dir.path()).await;
    let other = Setup {
        key: "ck_dev_member",
        ..setup(&tasks)
    };
    let mut other = session(&tasks, other);
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        for id in [&id, &json!("../config")] {
            let refused = ask(&mut other, method, id).await;
            assert_eq!(refused["error"]["code"], -32602, "{method}: {refused}");
        }
    }
    let kept = tasks.kept.lock().unwrap().clone();
    assert!(kept.values().all(|kept| !kept.is_stop_requested));
    let unreadable = other.request("tasks/get", json!({ "taskId": 7 })).await;
    assert_eq!(unreadable["error"]["code"], -32602, "{unreadable}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_task_leaves_nothing() {
    let (tasks, dir) = begin(false).await;
    let mut session = session(&tasks, setup(&tasks));
    let id = begin_upload(&mut session, dir.path()).await;
    let cancelled = ask(&mut session, "tasks/cancel", &id).await;
    assert_eq!(cancelled["result"], json!({ "resultType": "complete" }));
    tasks.gate.send_replace(true);
    tasks
        .wait_until(|kept| kept.values().all(|kept| !kept.is_running))
        .await;
    let task = ask(&mut session, "tasks/get", &id).await;
    assert_eq!(task["result"]["status"], "cancelled", "{task}");
    assert!(task["result"].get("result").is_none(), "{task}");
    assert_eq!(remote_count(&tasks).await, 0);
    session.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_cancelled_before_its_client_knows_a_task_is_stopped() {
    let (tasks, dir) = begin(false).await;
    let mut session = session(&tasks, setup(&tasks));
    let id = session.begin("tools/call", upload(dir.path())).await;
    tasks
        .wait_until(|kept| kept.values().any(|kept| kept.is_running))
        .await;
    let params = json!({ "requestId": id, "reason": "enough" });
    session
        .send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }))
        .await;
    tasks
        .wait_until(|kept| kept.values().all(|kept| kept.is_stop_requested))
        .await;
    tasks.gate.send_replace(true);
    tasks
        .wait_until(|kept| kept.values().all(|kept| !kept.is_running))
        .await;
    assert_eq!(remote_count(&tasks).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_in_lockdown_gets_no_texts_of_a_task_of_another_one() {
    let (tasks, dir) = begin(false).await;
    // A hidden file fails by its name.
    std::fs::write(dir.path().join("papers/.secret-plan"), "x").unwrap();
    let mut first = session(&tasks, setup(&tasks));
    let id = begin_upload(&mut first, dir.path()).await;
    tasks.gate.send_replace(true);
    tasks
        .wait_until(|kept| kept.values().all(|kept| !kept.is_running))
        .await;
    let done = ask(&mut first, "tasks/get", &id).await;
    assert!(done.to_string().contains(".secret-plan"), "{done}");
    let locked = Setup {
        foreign_texts: ForeignTexts::Withheld,
        ..setup(&tasks)
    };
    let mut locked = session(&tasks, locked);
    let done = ask(&mut locked, "tasks/get", &id).await;
    assert_eq!(done["result"]["status"], "completed", "{done}");
    assert!(!done.to_string().contains(".secret-plan"), "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_asked_before_there_is_a_task() {
    let (tasks, dir) = begin(true).await;
    let mut owner = session(&tasks, setup(&tasks));
    let response = owner.request("tools/call", upload(dir.path())).await;
    let folder = text(&response["result"])["folder_uuid"].clone();
    tasks.gate.send_replace(false);
    let local = dir.path().join("papers/plan.txt");
    std::fs::write(&local, "another plan").unwrap();
    let capabilities = json!({ "elicitation": { "form": {} }, "extensions": { EXTENSION: {} } });
    let asking = tasks.world.connect(setup(&tasks));
    let mut asking = asking.stateless(capabilities);
    let arguments = json!({ "folder_uuid": folder, "output_path": dir.path().join("papers") });
    let mut call = json!({ "name": "download_folder", "arguments": arguments });
    let asked = asking.request("tools/call", call.clone()).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    assert!(tasks.kept.lock().unwrap().is_empty());
    call["requestState"] = asked["result"]["requestState"].clone();
    let yes = json!({ "action": "accept", "content": { "confirm": true } });
    call["inputResponses"] = json!({ "confirmation": yes });
    let begun = asking.request("tools/call", call).await;
    assert_eq!(begun["result"]["resultType"], "task", "{begun}");
    assert_eq!(std::fs::read_to_string(&local).unwrap(), "another plan");
    tasks.gate.send_replace(true);
    tasks
        .wait_until(|kept| kept.values().all(|kept| !kept.is_running))
        .await;
    let done = ask(&mut asking, "tasks/get", &begun["result"]["taskId"]).await;
    assert_eq!(text(&done["result"]["result"])["downloaded"], 1, "{done}");
    assert_eq!(std::fs::read_to_string(&local).unwrap(), "the plan");
}
