//! The controller with doubles of the desktop, the daemon and the program, in paused time.

use super::*;
use crate::commands::Desktop;
use crate::connection::Daemon;
use crate::file_request::{FileDialog, FileRequest};
use crate::program::{Program, ProgramError, Run};
use crate::settings::SettingsFile;
use crate::strings::Language;
use crate::tray::PauseFor;
use async_trait::async_trait;
use cairn_control::{Activity, Conflict, FolderStatus, OverallProgress, Status};
use cairn_model::{ActivityKind, ConflictKind, SyncState};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Default)]
struct FakeGui {
    trays: Mutex<Vec<Tray>>,
    views: Mutex<Vec<View>>,
    rows: Mutex<Vec<ActivityView>>,
    opened: Mutex<Vec<Option<Place>>>,
    notifications: Mutex<Vec<Notification>>,
    quits: Mutex<u32>,
}

impl Gui for FakeGui {
    fn show_tray(&self, tray: &Tray, _: IconScheme) {
        self.trays.lock().push(tray.clone());
    }
    fn push_view(&self, view: &View) {
        self.views.lock().push(view.clone());
    }
    fn push_activity(&self, rows: &[ActivityView]) {
        self.rows.lock().extend_from_slice(rows);
    }
    fn push_login_step(&self, _: LoginStep) {}
    fn open_window(&self, place: Option<Place>) {
        self.opened.lock().push(place);
    }
    fn notify(&self, notification: &Notification) {
        self.notifications.lock().push(notification.clone());
    }
    fn quit(&self) {
        *self.quits.lock() += 1;
    }
}

#[derive(Default)]
struct FakeDaemon {
    requests: Mutex<Vec<Request>>,
    conflicts: Mutex<Vec<Conflict>>,
    suspended: Mutex<bool>,
    gone: Mutex<bool>,
}

#[async_trait]
impl Daemon for FakeDaemon {
    async fn request(&self, request: Request) -> Result<Value, ProgramError> {
        if *self.gone.lock() {
            return Err(ProgramError::new(ProgramErrorCode::NoDaemon, "no daemon"));
        }
        let reply = if request == Request::Conflicts {
            json!({ "conflicts": *self.conflicts.lock() })
        } else {
            json!({})
        };
        self.requests.lock().push(request);
        Ok(reply)
    }
    async fn suspend(&self) -> Result<(), ProgramError> {
        *self.suspended.lock() = true;
        Ok(())
    }
    fn allow(&self) {}
}

struct Nothing;

#[async_trait]
impl Program for Nothing {
    async fn run(&self, run: Run) -> Result<Value, ProgramError> {
        panic!("the program should not run: {run:?}")
    }
    async fn run_steps(
        &self,
        run: Run,
        _: mpsc::Receiver<String>,
        _: mpsc::Sender<Value>,
    ) -> Result<Value, ProgramError> {
        self.run(run).await
    }
}

#[async_trait]
impl Desktop for Nothing {
    async fn pick_folder(&self) -> Option<PathBuf> {
        None
    }
    async fn pick_file(&self, _: &Path) -> Option<PathBuf> {
        None
    }
    async fn pick_save(&self, _: &str) -> Option<PathBuf> {
        None
    }
    fn reveal(&self, _: PathBuf) -> Result<(), ProgramError> {
        Ok(())
    }
    fn open(&self, _: PathBuf) -> Result<(), ProgramError> {
        Ok(())
    }
    fn autostarts(&self) -> bool {
        false
    }
    fn set_autostart(&self, _: bool) -> Result<(), ProgramError> {
        Ok(())
    }
}

struct World {
    _dir: tempfile::TempDir,
    gui: Arc<FakeGui>,
    daemon: Arc<FakeDaemon>,
    inputs: mpsc::Sender<Input>,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (inputs, receiver) = mpsc::channel(64);
        let daemon = Arc::new(FakeDaemon::default());
        let settings = Settings {
            language: Some(Language::En),
            ..Settings::default()
        };
        let commands = Arc::new(Commands {
            daemon: daemon.clone(),
            program: Arc::new(Nothing),
            desktop: Arc::new(Nothing),
            settings: Mutex::new(settings),
            file: SettingsFile::in_dir(dir.path()),
            inputs: inputs.clone(),
            cancel: tokio::sync::Notify::new(),
            login_input: Mutex::default(),
        });
        let gui = Arc::new(FakeGui::default());
        tokio::spawn(Controller::new(gui.clone(), commands, true).run(receiver));
        Self {
            _dir: dir,
            gui,
            daemon,
            inputs,
        }
    }

    async fn send(&self, input: Input) {
        self.inputs.send(input).await.unwrap();
    }

    async fn status(&self, status: Status) {
        self.send(Input::Connection(ConnectionEvent::Event(Event::Status {
            status,
        })))
        .await;
    }

    /// Lets time pass; in paused time everything that is due happens.
    async fn pass(&self, time: Duration) {
        run_for(time + Duration::from_millis(20)).await;
    }

    fn last_view(&self) -> View {
        self.gui.views.lock().last().unwrap().clone()
    }
}

/// The clock is the test's: it stands still until nothing is left to do.
async fn run_for(time: Duration) {
    let nothing = std::future::pending::<()>();
    assert!(tokio::time::timeout(time, nothing).await.is_err());
}

fn syncing_status(pending: u64, uploads: u64) -> Status {
    Status {
        state: SyncState::Syncing,
        pending,
        folders: vec![FolderStatus {
            local: "/f".into(),
            ..Default::default()
        }],
        progress: Some(OverallProgress {
            files_done: uploads,
            files_total: uploads + pending,
            ..Default::default()
        }),
        ..Default::default()
    }
}

#[tokio::test(start_paused = true)]
async fn at_most_four_updates_a_second_cross_the_bridge_and_the_last_always_does() {
    let world = World::new();
    world.send(Input::Connection(ConnectionEvent::Up)).await;
    world.pass(RENDER_INTERVAL).await;
    let before = world.gui.views.lock().len();
    for n in 0..1000 {
        world.status(syncing_status(1000 - n, n)).await;
        run_for(Duration::from_millis(2)).await;
    }
    world.pass(RENDER_INTERVAL).await;
    let updates = world.gui.views.lock().len() - before;
    assert!((8..=10).contains(&updates), "{updates} updates in 2 s");
    assert_eq!(world.last_view().progress.unwrap().done, 999);
    let trays = world.gui.trays.lock();
    assert!(
        trays.last().unwrap().entries[0]
            .label
            .contains("999 of 1,000")
    );
}

#[tokio::test(start_paused = true)]
async fn what_has_not_changed_is_not_pushed_again_unless_the_window_is_new() {
    let world = World::new();
    world.send(Input::Connection(ConnectionEvent::Up)).await;
    world.status(syncing_status(5, 0)).await;
    world.pass(RENDER_INTERVAL * 4).await;
    let pushed = world.gui.views.lock().len();
    world.status(syncing_status(5, 0)).await;
    world.pass(RENDER_INTERVAL * 4).await;
    assert_eq!(world.gui.views.lock().len(), pushed);
    world.send(Input::WindowReady).await;
    world.pass(RENDER_INTERVAL).await;
    assert_eq!(world.gui.views.lock().len(), pushed + 1);
}

#[tokio::test(start_paused = true)]
async fn a_conflict_is_fetched_shown_and_notified() {
    let world = World::new();
    world.send(Input::Connection(ConnectionEvent::Up)).await;
    world.status(Status::default()).await;
    world.pass(RENDER_INTERVAL * 8).await;
    *world.daemon.conflicts.lock() = vec![Conflict {
        path: "a.txt".into(),
        original_gone: false,
        copy: "a (2).txt".into(),
        folder: "/f".into(),
        kind: ConflictKind::Edit,
        device: "commands".into(),
        copy_device: "laptop".into(),
        copy_made_here: Some(true),
        at: "2026-01-02T03:04:05Z".into(),
    }];
    let mut status = Status::default();
    status.counters.conflicts = 1;
    world.status(status.clone()).await;
    world.pass(CONFLICTS_INTERVAL * 2).await;
    let view = world.last_view();
    assert_eq!((view.state, view.attention), (SyncState::Attention, 1));
    assert_eq!(world.gui.notifications.lock().len(), 1);
    // Resolved: the next status makes a new request.
    world.daemon.conflicts.lock().clear();
    status.counters.renames = 1;
    world.status(status).await;
    world.pass(CONFLICTS_INTERVAL * 2).await;
    assert_eq!(world.last_view().attention, 0);
}

#[tokio::test(start_paused = true)]
async fn recent_files_are_the_last_five_and_a_click_is_carried_out() {
    let world = World::new();
    world.send(Input::Connection(ConnectionEvent::Up)).await;
    for n in [0, 1, 2, 3, 4, 5, 3] {
        let activity = Activity {
            at: String::new(),
            kind: ActivityKind::Uploaded,
            path: format!("d/{n}.txt"),
            folder: Some("/f".into()),
            device: None,
            bytes: 1,
        };
        world
            .send(Input::Connection(ConnectionEvent::Event(Event::Activity {
                activity,
            })))
            .await;
    }
    world.pass(RENDER_INTERVAL).await;
    let trays = world.gui.trays.lock().clone();
    let recent = trays
        .last()
        .unwrap()
        .entries
        .iter()
        .find(|e| e.action == Action::Submenu("recent"))
        .unwrap();
    let names: Vec<&str> = recent.below.iter().map(|e| e.label.as_str()).collect();
    assert_eq!(names, ["3.txt", "5.txt", "4.txt", "2.txt", "1.txt"]);
    assert_eq!(world.gui.rows.lock().len(), 7);

    world
        .send(Input::Click(Action::Pause(PauseFor::Resumed)))
        .await;
    world.send(Input::Click(Action::Resume)).await;
    world.send(Input::Click(Action::Attention)).await;
    world.send(Input::SecondStart(None)).await;
    let file = FileRequest {
        dialog: FileDialog::Why,
        path: "/f/a".into(),
    };
    world.send(Input::SecondStart(Some(file.clone()))).await;
    world.pass(RENDER_INTERVAL).await;
    let requests = world.daemon.requests.lock().clone();
    assert!(requests.contains(&Request::Pause {
        folder: None,
        until: None
    }));
    assert!(requests.contains(&Request::Resume { folder: None }));
    assert_eq!(
        *world.gui.opened.lock(),
        [
            Some(Place::Page(Page::Attention)),
            None,
            Some(Place::File(file))
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn quitting_leaves_the_daemon_alone_and_stopping_does_not() {
    let world = World::new();
    world.send(Input::Click(Action::Quit)).await;
    world.pass(RENDER_INTERVAL).await;
    assert!(!*world.daemon.suspended.lock());
    world.send(Input::Click(Action::StopAndQuit)).await;
    world.pass(RENDER_INTERVAL).await;
    assert!(*world.daemon.suspended.lock());
    assert_eq!(*world.gui.quits.lock(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_daemon_that_went_away_is_shown_and_a_failed_click_too() {
    let world = World::new();
    world.send(Input::Connection(ConnectionEvent::Up)).await;
    world.status(syncing_status(5, 0)).await;
    world.pass(RENDER_INTERVAL).await;
    world
        .send(Input::Connection(ConnectionEvent::Starting))
        .await;
    world.pass(RENDER_INTERVAL).await;
    assert_eq!(world.last_view().connection, ConnectionState::Starting);
    let fault = ProgramError::failed("the keyring is locked");
    world
        .send(Input::Connection(ConnectionEvent::Down(fault)))
        .await;
    world
        .send(Input::Connection(ConnectionEvent::Starting))
        .await;
    world.pass(RENDER_INTERVAL).await;
    assert_eq!(
        world.last_view().last_error.as_deref(),
        Some("the keyring is locked")
    );
    *world.daemon.gone.lock() = true;
    world.send(Input::Click(Action::Resume)).await;
    world.pass(RENDER_INTERVAL).await;
    assert_eq!(world.gui.notifications.lock()[0].body, "no daemon");
    let out = ProgramError::new(ProgramErrorCode::NotLoggedIn, "not logged in");
    world
        .send(Input::Connection(ConnectionEvent::Down(out)))
        .await;
    world.pass(RENDER_INTERVAL).await;
    world.send(Input::Settings(Settings::default())).await;
    world.pass(RENDER_INTERVAL).await;
    assert_eq!(
        *world.gui.opened.lock(),
        [Some(Place::Page(Page::Setup))],
        "offered once"
    );
}
