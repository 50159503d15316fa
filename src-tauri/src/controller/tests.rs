//! The controller with doubles of the desktop, the daemon and the program, in paused time.

use super::*;
use crate::calls::Desktop;
use crate::link::Daemon;
use crate::program::{Fault, Program, Run};
use crate::settings::SettingsFile;
use crate::strings::Language;
use crate::tray::PauseFor;
use crate::view::StateView;
use async_trait::async_trait;
use cairn_control::{Activity, Conflict, Counters, FolderStatus, State, Status};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Mutex;

#[derive(Default)]
struct Seen {
    trays: Mutex<Vec<Tray>>,
    views: Mutex<Vec<View>>,
    rows: Mutex<Vec<ActivityView>>,
    opened: Mutex<Vec<Option<Place>>>,
    notes: Mutex<Vec<Note>>,
    quits: Mutex<u32>,
}

impl Gui for Seen {
    fn show_tray(&self, tray: &Tray, _: IconScheme) {
        self.trays.lock().unwrap().push(tray.clone());
    }
    fn push_view(&self, view: &View) {
        self.views.lock().unwrap().push(view.clone());
    }
    fn push_activity(&self, rows: &[ActivityView]) {
        self.rows.lock().unwrap().extend_from_slice(rows);
    }
    fn open_window(&self, place: Option<Place>) {
        self.opened.lock().unwrap().push(place);
    }
    fn notify(&self, note: &Note) {
        self.notes.lock().unwrap().push(note.clone());
    }
    fn quit(&self) {
        *self.quits.lock().unwrap() += 1;
    }
}

#[derive(Default)]
struct Asked {
    requests: Mutex<Vec<Request>>,
    conflicts: Mutex<Vec<Conflict>>,
    held: Mutex<bool>,
    gone: Mutex<bool>,
}

#[async_trait]
impl Daemon for Asked {
    async fn ask(&self, request: Request) -> Result<Value, Fault> {
        if *self.gone.lock().unwrap() {
            return Err(Fault::new(FaultCode::NoDaemon, "no daemon"));
        }
        let answer = if request == Request::Conflicts {
            json!({ "conflicts": *self.conflicts.lock().unwrap() })
        } else {
            json!({})
        };
        self.requests.lock().unwrap().push(request);
        Ok(answer)
    }
    async fn hold(&self) -> Result<(), Fault> {
        *self.held.lock().unwrap() = true;
        Ok(())
    }
    fn release(&self) {}
}

struct Nothing;

#[async_trait]
impl Program for Nothing {
    async fn run(&self, run: Run) -> Result<Value, Fault> {
        panic!("nobody should run {run:?}")
    }
}

#[async_trait]
impl Desktop for Nothing {
    async fn pick_folder(&self) -> Option<PathBuf> {
        None
    }
    async fn pick_save(&self, _: &str) -> Option<PathBuf> {
        None
    }
    fn reveal(&self, _: PathBuf) -> Result<(), Fault> {
        Ok(())
    }
    fn open(&self, _: PathBuf) -> Result<(), Fault> {
        Ok(())
    }
    fn autostarts(&self) -> bool {
        false
    }
    fn set_autostart(&self, _: bool) -> Result<(), Fault> {
        Ok(())
    }
}

struct World {
    _dir: tempfile::TempDir,
    gui: Arc<Seen>,
    daemon: Arc<Asked>,
    inputs: mpsc::Sender<Input>,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (inputs, receiver) = mpsc::channel(64);
        let daemon = Arc::new(Asked::default());
        let settings = Settings {
            language: Some(Language::En),
            ..Settings::default()
        };
        let desk = Arc::new(Desk {
            daemon: daemon.clone(),
            program: Arc::new(Nothing),
            desktop: Arc::new(Nothing),
            settings: Mutex::new(settings),
            file: SettingsFile::in_dir(dir.path()),
            cairn: "cairn".into(),
            inputs: inputs.clone(),
            cancel: tokio::sync::Notify::new(),
        });
        let gui = Arc::new(Seen::default());
        tokio::spawn(Controller::new(gui.clone(), desk, true).run(receiver));
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
        self.send(Input::Link(LinkEvent::Told(Event::Status { status })))
            .await;
    }

    /// Lets time pass; in paused time everything that is due happens.
    async fn pass(&self, time: Duration) {
        run_for(time + Duration::from_millis(20)).await;
    }

    fn last_view(&self) -> View {
        self.gui.views.lock().unwrap().last().unwrap().clone()
    }
}

/// The clock is the test's: it stands still until nothing is left to do.
async fn run_for(time: Duration) {
    let nothing = std::future::pending::<()>();
    assert!(tokio::time::timeout(time, nothing).await.is_err());
}

fn syncing(pending: u64, uploads: u64) -> Status {
    Status {
        state: State::Syncing,
        pending,
        folders: vec![FolderStatus {
            local: "/f".into(),
            ..Default::default()
        }],
        counters: Counters {
            uploads,
            ..Default::default()
        },
        ..Default::default()
    }
}

#[tokio::test(start_paused = true)]
async fn at_most_four_updates_a_second_cross_the_bridge_and_the_last_always_does() {
    let world = World::new();
    world.send(Input::Link(LinkEvent::Up)).await;
    world.pass(PACE).await;
    let before = world.gui.views.lock().unwrap().len();
    for n in 0..1000 {
        world.status(syncing(1000 - n, n)).await;
        run_for(Duration::from_millis(2)).await;
    }
    world.pass(PACE).await;
    let updates = world.gui.views.lock().unwrap().len() - before;
    assert!((8..=10).contains(&updates), "{updates} updates in 2 s");
    assert_eq!(world.last_view().share.unwrap().done, 999);
    let trays = world.gui.trays.lock().unwrap();
    assert!(
        trays.last().unwrap().entries[0]
            .label
            .contains("999 of 1,000")
    );
}

#[tokio::test(start_paused = true)]
async fn what_has_not_changed_is_not_pushed_again_unless_the_window_is_new() {
    let world = World::new();
    world.send(Input::Link(LinkEvent::Up)).await;
    world.status(syncing(5, 0)).await;
    world.pass(PACE * 4).await;
    let pushed = world.gui.views.lock().unwrap().len();
    world.status(syncing(5, 0)).await;
    world.pass(PACE * 4).await;
    assert_eq!(world.gui.views.lock().unwrap().len(), pushed);
    world.send(Input::WindowReady).await;
    world.pass(PACE).await;
    assert_eq!(world.gui.views.lock().unwrap().len(), pushed + 1);
}

#[tokio::test(start_paused = true)]
async fn a_conflict_is_fetched_shown_and_told() {
    let world = World::new();
    world.send(Input::Link(LinkEvent::Up)).await;
    world.status(Status::default()).await;
    world.pass(PACE * 8).await;
    *world.daemon.conflicts.lock().unwrap() = vec![Conflict {
        path: "a.txt".into(),
        copy: "a (2).txt".into(),
        folder: "/f".into(),
        kind: "edit".into(),
        device: "desk".into(),
        at: "2026-01-02T03:04:05Z".into(),
    }];
    let mut status = Status::default();
    status.counters.conflicts = 1;
    world.status(status.clone()).await;
    world.pass(CONFLICTS_PACE * 2).await;
    let view = world.last_view();
    assert_eq!((view.state, view.attention), (StateView::Attention, 1));
    assert_eq!(world.gui.notes.lock().unwrap().len(), 1);
    // Settled: the next status asks again.
    world.daemon.conflicts.lock().unwrap().clear();
    status.counters.renames = 1;
    world.status(status).await;
    world.pass(CONFLICTS_PACE * 2).await;
    assert_eq!(world.last_view().attention, 0);
}

#[tokio::test(start_paused = true)]
async fn recent_files_are_the_last_five_and_a_click_orders() {
    let world = World::new();
    world.send(Input::Link(LinkEvent::Up)).await;
    for n in [0, 1, 2, 3, 4, 5, 3] {
        let activity = Activity {
            at: String::new(),
            kind: "uploaded".into(),
            path: format!("d/{n}.txt"),
            folder: Some("/f".into()),
            device: None,
            bytes: 1,
        };
        world
            .send(Input::Link(LinkEvent::Told(Event::Activity { activity })))
            .await;
    }
    world.pass(PACE).await;
    let trays = world.gui.trays.lock().unwrap().clone();
    let recent = trays
        .last()
        .unwrap()
        .entries
        .iter()
        .find(|e| e.action == Action::Submenu("recent"))
        .unwrap();
    let names: Vec<&str> = recent.below.iter().map(|e| e.label.as_str()).collect();
    assert_eq!(names, ["3.txt", "5.txt", "4.txt", "2.txt", "1.txt"]);
    assert_eq!(world.gui.rows.lock().unwrap().len(), 7);

    world
        .send(Input::Click(Action::Pause(PauseFor::Resumed)))
        .await;
    world.send(Input::Click(Action::Resume)).await;
    world.send(Input::Click(Action::Attention)).await;
    world.send(Input::SecondStart).await;
    world.pass(PACE).await;
    let requests = world.daemon.requests.lock().unwrap().clone();
    assert!(requests.contains(&Request::Pause {
        folder: None,
        until: None
    }));
    assert!(requests.contains(&Request::Resume { folder: None }));
    assert_eq!(
        *world.gui.opened.lock().unwrap(),
        [Some(Place::Attention), None]
    );
}

#[tokio::test(start_paused = true)]
async fn quitting_leaves_the_daemon_alone_and_stopping_does_not() {
    let world = World::new();
    world.send(Input::Click(Action::Quit)).await;
    world.pass(PACE).await;
    assert!(!*world.daemon.held.lock().unwrap());
    world.send(Input::Click(Action::StopAndQuit)).await;
    world.pass(PACE).await;
    assert!(*world.daemon.held.lock().unwrap());
    assert_eq!(*world.gui.quits.lock().unwrap(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_daemon_that_went_away_is_said_and_a_failed_click_too() {
    let world = World::new();
    world.send(Input::Link(LinkEvent::Up)).await;
    world.status(syncing(5, 0)).await;
    world.pass(PACE).await;
    world.send(Input::Link(LinkEvent::Starting)).await;
    world.pass(PACE).await;
    assert_eq!(world.last_view().link, Link::Starting);
    let fault = Fault::failed("the keyring is locked");
    world.send(Input::Link(LinkEvent::Down(fault))).await;
    world.send(Input::Link(LinkEvent::Starting)).await;
    world.pass(PACE).await;
    assert_eq!(
        world.last_view().trouble.as_deref(),
        Some("the keyring is locked")
    );
    *world.daemon.gone.lock().unwrap() = true;
    world.send(Input::Click(Action::Resume)).await;
    world.pass(PACE).await;
    assert_eq!(world.gui.notes.lock().unwrap()[0].body, "no daemon");
    let out = Fault::new(FaultCode::NotLoggedIn, "not logged in");
    world.send(Input::Link(LinkEvent::Down(out))).await;
    world.pass(PACE).await;
    world.send(Input::Settings(Settings::default())).await;
    world.pass(PACE).await;
    assert_eq!(
        *world.gui.opened.lock().unwrap(),
        [Some(Place::Setup)],
        "offered once"
    );
}
