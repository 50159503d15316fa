//! Calls with fakes of the daemon, the program and the desktop.

mod assistants;
mod devices;
mod links;
mod past;
mod sessions;
mod trash;
mod versions;
mod why;

use super::*;
use crate::connection::Daemon;
use crate::input::{Input, LoginStep};
use crate::program::{Program, ProgramError, ProgramErrorCode, Run};
use crate::settings::SettingsFile;
use async_trait::async_trait;
use cairn_control::Request;
use cairn_model::{DeletionDecision, Keep, SyncMode};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::{Notify, mpsc};

/// Replies in the order given, and records requests and runs.
#[derive(Default)]
struct Fake {
    replies: Mutex<VecDeque<Result<Value, ProgramError>>>,
    requests: Mutex<Vec<Request>>,
    runs: Mutex<Vec<Run>>,
    steps: Mutex<Vec<&'static str>>,
    save_to: Mutex<Option<PathBuf>>,
    picked: Mutex<Option<PathBuf>>,
    autostarts: Mutex<bool>,
}

impl Fake {
    fn next(&self) -> Result<Value, ProgramError> {
        self.replies.lock().pop_front().unwrap_or(Ok(json!({})))
    }
}

#[async_trait]
impl Daemon for Fake {
    async fn request(&self, request: Request) -> Result<Value, ProgramError> {
        self.requests.lock().push(request);
        self.next()
    }
    async fn suspend(&self) -> Result<(), ProgramError> {
        self.steps.lock().push("suspend");
        Ok(())
    }
    fn allow(&self) {
        self.steps.lock().push("allow");
    }
}

#[async_trait]
impl Program for Fake {
    async fn run(&self, run: Run) -> Result<Value, ProgramError> {
        self.steps.lock().push("run");
        self.runs.lock().push(run);
        self.next()
    }
    async fn run_steps(
        &self,
        run: Run,
        mut input: mpsc::Receiver<String>,
        steps: mpsc::Sender<Value>,
    ) -> Result<Value, ProgramError> {
        let step = json!({"step": "passphrase", "email": "a@b", "is_new": false});
        steps.send(step).await.unwrap();
        let line = input.recv().await.unwrap();
        self.run(run.with_secret(line)).await
    }
}

#[async_trait]
impl Desktop for Fake {
    async fn pick_folder(&self) -> Option<PathBuf> {
        Some("/picked".into())
    }
    async fn pick_file(&self, folder: &Path) -> Option<PathBuf> {
        assert_eq!(folder, Path::new("/f"));
        self.picked.lock().clone()
    }
    async fn pick_save(&self, _: &str) -> Option<PathBuf> {
        self.save_to.lock().clone()
    }
    fn reveal(&self, path: PathBuf) -> Result<(), ProgramError> {
        assert_eq!(path, PathBuf::from("/f/a/b.txt"));
        Ok(())
    }
    fn open(&self, _: PathBuf) -> Result<(), ProgramError> {
        Err(ProgramError::failed("no file manager"))
    }
    fn autostarts(&self) -> bool {
        *self.autostarts.lock()
    }
    fn set_autostart(&self, on: bool) -> Result<(), ProgramError> {
        *self.autostarts.lock() = on;
        Ok(())
    }
}

struct World {
    dir: tempfile::TempDir,
    fake: Arc<Fake>,
    commands: Commands,
    inputs: mpsc::Receiver<Input>,
}

fn world(replies: Vec<Result<Value, ProgramError>>) -> World {
    let dir = tempfile::tempdir().unwrap();
    let fake = Arc::new(Fake {
        replies: Mutex::new(replies.into()),
        ..Fake::default()
    });
    let (sender, inputs) = mpsc::channel(8);
    let commands = Commands {
        daemon: fake.clone(),
        program: fake.clone(),
        desktop: fake.clone(),
        settings: Mutex::default(),
        file: SettingsFile::in_dir(dir.path()),
        inputs: sender,
        cancel: Notify::new(),
        login_input: Mutex::default(),
    };
    World {
        dir,
        fake,
        commands,
        inputs,
    }
}

fn call(document: Value) -> Call {
    serde_json::from_value(document).unwrap()
}

fn arguments(world: &World) -> Vec<String> {
    world.fake.runs.lock().last().unwrap().arguments.clone()
}

#[tokio::test]
async fn requests_go_to_the_daemon_unchanged() {
    let world = world(vec![]);
    for (asked, wanted) in [
        (
            json!({"op": "resolve", "folder": "/f", "copy": "a (2).txt", "keep": "mine"}),
            Request::Resolve {
                path: "/f/a (2).txt".into(),
                keep: Keep::Mine,
            },
        ),
        (
            json!({"op": "confirm", "folder": "/f", "decision": "keep"}),
            Request::Confirm {
                folder: "/f".into(),
                decision: DeletionDecision::Keep,
            },
        ),
        (
            json!({"op": "confirm", "folder": "/f", "decision": "overwrite"}),
            Request::Confirm {
                folder: "/f".into(),
                decision: DeletionDecision::Overwrite,
            },
        ),
        (json!({"op": "resume"}), Request::Resume { folder: None }),
        (
            json!({"op": "pause", "folder": "/f", "span": "resumed"}),
            Request::Pause {
                folder: Some("/f".into()),
                until: None,
            },
        ),
        (
            json!({"op": "resume", "folder": "/f"}),
            Request::Resume {
                folder: Some("/f".into()),
            },
        ),
        (
            json!({"op": "set_ignore", "folder": "/f", "lines": ["*.log"]}),
            Request::SetIgnore {
                folder: "/f".into(),
                lines: vec!["*.log".into()],
            },
        ),
        (
            json!({"op": "change_folder", "folder": {"local": "/f", "remote": "/", "mode": "upload", "only": ["a"], "exclude": [], "gate": {"percent": 10, "files": 5, "most": 700}}}),
            Request::ChangeFolder {
                folder: cairn_control::NewFolder {
                    local: "/f".into(),
                    remote: "/".into(),
                    mode: SyncMode::Upload,
                    only: vec!["a".into()],
                    exclude: vec![],
                    gate: Some(cairn_model::DeletionGate {
                        percent: 10,
                        files: 5,
                        most: 700,
                    }),
                },
            },
        ),
    ] {
        world.commands.handle(call(asked)).await.unwrap();
        assert_eq!(world.fake.requests.lock().last(), Some(&wanted));
    }
}

#[tokio::test]
async fn a_path_that_leads_out_of_its_folder_is_refused() {
    let world = world(vec![]);
    for path in ["../x", "/etc/passwd", "a/../../x"] {
        for op in ["resolve", "reveal"] {
            let asked =
                call(json!({"op": op, "folder": "/f", "copy": path, "path": path, "keep": "mine"}));
            assert!(world.commands.handle(asked).await.is_err(), "{op} {path}");
        }
    }
    assert!(world.fake.requests.lock().is_empty());
    let reveal = call(json!({"op": "reveal", "folder": "/f", "path": "a/b.txt"}));
    world.commands.handle(reveal).await.unwrap();
}

#[tokio::test]
async fn a_login_suspends_the_daemon_shows_its_steps_and_hides_its_secrets() {
    let mut world = world(vec![Err(ProgramError::new(
        ProgramErrorCode::Offline,
        "no server",
    ))]);
    let form = json!({"server": " http://s ", "api_key": "ck", "device_code": false, "device_name": "", "secrets_in_file": true});
    let login = world
        .commands
        .handle(call(json!({"op": "login", "form": form})));
    let person = async {
        let Some(Input::LoginStep(step)) = world.inputs.recv().await else {
            panic!("no step");
        };
        assert!(matches!(step, LoginStep::Passphrase { is_new: false, .. }));
        let entered = json!({"op": "enter_passphrase", "passphrase": "secret words"});
        world.commands.handle(call(entered)).await.unwrap();
    };
    let (failed, ()) = tokio::join!(login, person);
    assert_eq!(failed.unwrap_err().code, ProgramErrorCode::Offline);
    assert_eq!(*world.fake.steps.lock(), ["suspend", "run", "allow"]);
    let run = world.fake.runs.lock()[0].clone();
    assert_eq!(
        run.arguments,
        ["login", "--server=http://s", "--steps", "--secrets=file"]
    );
    assert_eq!(
        (run.secrets, run.api_key),
        (vec!["secret words".to_owned()], Some("ck".to_owned()))
    );
    let entered = call(json!({"op": "enter_passphrase", "passphrase": "late"}));
    assert!(world.commands.handle(entered).await.is_err());
}

#[tokio::test]
async fn a_login_that_waits_is_cancelled() {
    let mut world = world(vec![]);
    let form = json!({"server": "http://s", "device_code": true, "secrets_in_file": false});
    let login = world
        .commands
        .handle(call(json!({"op": "login", "form": form})));
    let person = async {
        world.inputs.recv().await.unwrap();
        world.commands.handle(Call::CancelLogin {}).await.unwrap();
    };
    let (cancelled, ()) = tokio::join!(login, person);
    assert_eq!(cancelled.unwrap_err().code, ProgramErrorCode::Cancelled);
    assert_eq!(*world.fake.steps.lock(), ["suspend", "allow"]);
}

#[tokio::test]
async fn a_folder_is_added_by_the_program_and_the_daemon_woken() {
    let world = world(vec![]);
    let folder = json!({"local": "-odd name", "remote": "/x", "mode": "two-way", "only": ["a b"], "exclude": ["*.o"], "gate": null});
    world
        .commands
        .handle(call(json!({"op": "add_folder", "folder": folder})))
        .await
        .unwrap();
    assert_eq!(
        arguments(&world),
        [
            "add",
            "--remote=/x",
            "--mode=two-way",
            "--deletion-gate=off",
            "--only=a b",
            "--exclude=*.o",
            "--",
            "-odd name"
        ]
    );
    assert_eq!(*world.fake.steps.lock(), ["run", "allow"]);
}

#[tokio::test]
async fn a_typed_folder_may_begin_with_the_home() {
    let world = world(vec![]);
    let folder = json!({"local": " ~/My notes ", "remote": "/x", "mode": "two-way", "only": [], "exclude": [], "gate": null});
    world
        .commands
        .handle(call(json!({"op": "add_folder", "folder": folder})))
        .await
        .unwrap();
    let home = cairn_platform::dirs::user_home().unwrap();
    assert_eq!(
        arguments(&world).last().map(PathBuf::from),
        Some(home.join("My notes"))
    );
}

#[tokio::test]
async fn the_limits_are_those_in_force() {
    let mut status = json!({"state": "idle", "pending": 0, "folders": [], "counters": cairn_model::Counters::default()});
    status["limits"] = json!({"up": 1000, "down": null});
    let world = world(vec![Ok(status)]);
    let limits = world.commands.handle(Call::Limits {}).await.unwrap();
    assert_eq!(limits, json!({"up": 1000}));
    assert_eq!(*world.fake.requests.lock(), [Request::Status]);
}

#[tokio::test]
async fn a_bug_report_goes_where_a_person_chooses_and_names_nothing_unasked() {
    let world = world(vec![Ok(
        json!({"path": "/x/r.zip", "bytes": 3, "names": false}),
    )]);
    let asked = json!({"op": "bug_report", "name": "r.zip", "names": false});
    let cancelled = world.commands.handle(call(asked.clone())).await.unwrap();
    assert_eq!(cancelled, Value::Null);
    assert!(world.fake.runs.lock().is_empty());
    *world.fake.save_to.lock() = Some("/x/r.zip".into());
    let saved = world.commands.handle(call(asked)).await.unwrap();
    assert_eq!(saved, json!("/x/r.zip"));
    assert_eq!(arguments(&world), ["bugreport", "--out=/x/r.zip"]);
}

#[tokio::test]
async fn a_folder_of_a_team_is_chosen_and_added_in_its_space() {
    let teams = json!({"teams": [{"id": "t2", "name": "zoo"}, {"id": "t1", "name": "Crew"}]});
    let world = world(vec![Ok(teams), Ok(json!({"nodes": []}))]);
    let listed = world.commands.handle(Call::Teams {}).await.unwrap();
    assert_eq!(
        listed,
        json!([{"id": "t1", "name": "Crew"}, {"id": "t2", "name": "zoo"}])
    );
    let asked = json!({"op": "remote_items", "team": "t1", "path": "/plans"});
    world.commands.handle(call(asked)).await.unwrap();
    assert_eq!(arguments(&world), ["list", "--team=t1", "--", "/plans"]);
    let folder = json!({"local": "/x", "remote": "/plans", "team": {"id": "t1", "name": "Crew"}, "mode": "two-way", "only": [], "exclude": [], "gate": null});
    assert_adds_with(&world, &folder, "--space=t1").await;
}

/// Asserts that a folder is added with an argument among the others.
async fn assert_adds_with(world: &World, folder: &Value, argument: &str) {
    let asked = call(json!({"op": "add_folder", "folder": folder}));
    world.commands.handle(asked).await.unwrap();
    let added = arguments(world);
    assert!(added.contains(&argument.to_owned()), "{added:?}");
}

#[tokio::test]
async fn a_folder_is_added_to_the_private_space() {
    let world = world(vec![Ok(json!({}))]);
    let folder = json!({"local": "/x", "remote": "/diary", "private": true, "mode": "two-way", "only": [], "exclude": [], "gate": null});
    assert_adds_with(&world, &folder, "--private").await;
}

#[tokio::test]
async fn only_folders_of_the_server_are_offered() {
    let nodes = json!({"nodes": [
        {"id": "2", "kind": "folder", "name": "b", "path": "/b"},
        {"id": "3", "kind": "file", "name": "c", "path": "/c"},
        {"id": "1", "kind": "folder", "name": "A", "path": "/A", "total": {"files": 2, "bytes": 40}},
    ]});
    let world = world(vec![Ok(nodes)]);
    let reply = world
        .commands
        .handle(call(json!({"op": "remote_folders", "path": "/"})))
        .await
        .unwrap();
    assert_eq!(
        reply,
        json!([{"name": "A", "path": "/A", "bytes": 40}, {"name": "b", "path": "/b"}]),
        "a server that is older gives no sizes"
    );
    assert_eq!(arguments(&world), ["list", "--sizes", "--", "/"]);
}

#[tokio::test]
async fn the_recovery_key_is_made_with_the_passphrase_and_saved_where_a_person_chooses() {
    let world = world(vec![
        Ok(json!({"recovery_key": "AB-CD", "in_force": true})),
        Ok(json!({"recovery_key": "EF-GH", "in_force": null})),
    ]);
    for (key, in_force) in [("AB-CD", true), ("EF-GH", false)] {
        let asked = call(json!({"op": "recovery_setup", "passphrase": "p"}));
        assert_eq!(
            world.commands.handle(asked).await.unwrap(),
            json!({"key": key, "in_force": in_force})
        );
    }
    let asked = json!({"op": "save_text", "name": "key.txt", "text": "AB-CD"});
    assert_eq!(
        world.commands.handle(call(asked.clone())).await.unwrap(),
        json!(false)
    );
    let path = world.dir.path().join("key.txt");
    *world.fake.save_to.lock() = Some(path.clone());
    assert_eq!(
        world.commands.handle(call(asked)).await.unwrap(),
        json!(true)
    );
    assert_eq!(std::fs::read_to_string(path).unwrap(), "AB-CD");
}

#[tokio::test]
async fn settings_are_saved_and_the_controller_notified() {
    let mut world = world(vec![]);
    let settings = json!({"language": "de", "icon": "dark", "notify": {"conflict": true, "question": true, "error": true, "done": false}, "setup_left": true});
    world
        .commands
        .handle(call(json!({"op": "set_settings", "settings": settings})))
        .await
        .unwrap();
    assert!(
        matches!(world.inputs.recv().await, Some(Input::Settings(s)) if s == world.commands.settings())
    );
    assert_eq!(world.commands.file.load(), world.commands.settings());
    let start = world.commands.handle(Call::Start {}).await.unwrap();
    assert_eq!(
        (&start["language"], &start["settings"]["setup_left"]),
        (&json!("de"), &json!(true))
    );
}

#[tokio::test]
async fn autostart_of_both_is_switched_where_it_differs() {
    let world = world(vec![Ok(json!({"enabled": true}))]);
    world
        .commands
        .handle(call(
            json!({"op": "set_autostart", "tray": true, "daemon": true}),
        ))
        .await
        .unwrap();
    assert!(*world.fake.autostarts.lock());
    assert_eq!(world.fake.runs.lock().len(), 1, "the daemon starts already");
}

#[tokio::test]
async fn webhooks_are_listed_added_and_their_failures_shown() {
    let webhooks = json!({"webhooks": [{"id": "w1", "url": "https://a", "events": ["file.uploaded"], "status": "disabled"}]});
    let made = json!({"webhook": {"secret": "s3"}});
    let deliveries = json!({"deliveries": [
        {"id": "d2", "event": "file.deleted", "state": "retrying", "created_at": "2026-01-02T03:04:05.000Z", "attempts": [{"status": 500, "error": null}]},
        {"id": "d1", "event": "file.uploaded", "state": "failed", "created_at": "2026-01-02T03:04:05.000Z", "attempts": [{"status": 200}, {"status": null, "error": "timed out"}]},
    ]});
    let world = world(vec![Ok(webhooks), Ok(made), Ok(deliveries)]);
    let listed = world.commands.handle(Call::Webhooks {}).await.unwrap();
    assert_eq!(
        listed,
        json!([{"id": "w1", "url": "https://a", "events": ["file.uploaded"], "enabled": false}])
    );
    let asked = call(json!({"op": "add_webhook", "url": " https://b ", "events": ["file.moved"]}));
    assert_eq!(world.commands.handle(asked).await.unwrap(), json!("s3"));
    assert_eq!(
        arguments(&world),
        ["webhooks", "add", "--event=file.moved", "--", "https://b"]
    );
    let sent = world
        .commands
        .handle(call(json!({"op": "deliveries", "id": "w1"})))
        .await
        .unwrap();
    assert_eq!(
        (&sent[0]["last_error"], &sent[1]["last_error"]),
        (&json!("HTTP 500"), &json!("timed out"))
    );
    for (action, word) in [
        ("test", "test"),
        ("disable", "disable"),
        ("remove", "remove"),
    ] {
        let asked = call(json!({"op": "change_webhook", "id": "w1", "action": action}));
        world.commands.handle(asked).await.unwrap();
        assert_eq!(arguments(&world), ["webhooks", word, "--", "w1"]);
    }
    let asked = call(json!({"op": "retry_delivery", "id": "w1", "delivery": "d1"}));
    world.commands.handle(asked).await.unwrap();
    assert_eq!(arguments(&world), ["webhooks", "retry", "--", "w1", "d1"]);
}
