//! The controller: decides what the tray and the window show, and carries out clicks.
//!
//! It processes inputs in one order and reaches the desktop through [`Gui`], so it runs in tests as it
//! is. At most four updates a second reach the window, however many events the daemon sends.

use crate::commands::Commands;
use crate::connection::ConnectionEvent;
use crate::input::{Input, LoginStep};
use crate::notifications::{Notification, Notifier};
use crate::program::ProgramErrorCode;
use crate::settings::{IconScheme, Settings};
use crate::tray::{Action, RECENT, Recent, Tray, tray};
use crate::view::{self, ActivityView, ConnectionState, Model, View};
use crate::window::{Page, Place};
use cairn_control::{Event, Request, typed};
use cairn_model::ActivityKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// The shortest interval between two updates: four a second.
pub const RENDER_INTERVAL: Duration = Duration::from_millis(250);
/// The shortest interval between two requests for the conflicts.
const CONFLICTS_INTERVAL: Duration = Duration::from_secs(1);
/// The most rows in one update; the window fetches the rest when the list is opened.
const MAX_ROWS: usize = 500;

/// The controller's view of the desktop. No method waits.
pub trait Gui: Send + Sync + 'static {
    /// Updates the icon and the menu of the tray.
    fn show_tray(&self, tray: &Tray, scheme: IconScheme);
    /// Sends a new view to the window, if it is open.
    fn push_view(&self, view: &View);
    /// Sends activity to the window, if it is open, the newest first.
    fn push_activity(&self, rows: &[ActivityView]);
    /// Sends a step of the login to the window, if it is open.
    fn push_login_step(&self, step: LoginStep);
    /// Opens the window, or brings it to the front.
    fn open_window(&self, place: Option<Place>);
    /// Shows a notification.
    fn notify(&self, notification: &Notification);
    /// Ends the program.
    fn quit(&self);
}

/// The state of the tray program.
pub struct Controller<G: Gui> {
    gui: Arc<G>,
    commands: Arc<Commands>,
    model: Model,
    notifier: Notifier,
    recent: Vec<Recent>,
    rows: Vec<ActivityView>,
    shown: Option<(Tray, IconScheme)>,
    pushed: Option<View>,
    /// The time of the next render.
    due: Option<Instant>,
    last_render: Instant,
    conflicts_requested: Option<Instant>,
    conflicts_due: Option<Instant>,
    /// A person has started the program: the setup is offered once if it is needed.
    offer_setup: bool,
}

impl<G: Gui> Controller<G> {
    /// Returns a controller that has received no input yet.
    #[must_use]
    pub fn new(gui: Arc<G>, commands: Arc<Commands>, offer_setup: bool) -> Self {
        let now = Instant::now();
        Self {
            gui,
            commands,
            model: Model::default(),
            notifier: Notifier::default(),
            recent: Vec::new(),
            rows: Vec::new(),
            shown: None,
            pushed: None,
            due: Some(now),
            last_render: now,
            conflicts_requested: None,
            conflicts_due: None,
            offer_setup,
        }
    }

    /// Runs until all senders of inputs are dropped.
    pub async fn run(mut self, mut inputs: mpsc::Receiver<Input>) {
        loop {
            let due = self.due.unwrap_or_else(Instant::now);
            tokio::select! {
                biased;
                () = sleep_until(due), if self.due.is_some() => self.render(),
                input = inputs.recv() => match input {
                    Some(input) => self.process(input).await,
                    None => return,
                },
            }
        }
    }

    async fn process(&mut self, input: Input) {
        match input {
            Input::Connection(event) => self.connection(event),
            Input::Click(action) => self.click(action).await,
            Input::SecondStart(file) => self.gui.open_window(file.map(Place::File)),
            Input::WindowReady => {
                self.pushed = None;
                self.due = Some(Instant::now());
            }
            Input::LoginStep(step) => self.gui.push_login_step(step),
            Input::Settings(_) => self.due = Some(Instant::now()),
            Input::Conflicts(conflicts) => {
                self.model.conflicts = conflicts;
                self.schedule_render();
            }
        }
    }

    fn connection(&mut self, event: ConnectionEvent) {
        match event {
            ConnectionEvent::Starting => self.show_disconnected(ConnectionState::Starting, None),
            ConnectionEvent::Down(fault) if fault.code == ProgramErrorCode::NotLoggedIn => {
                self.show_disconnected(ConnectionState::LoggedOut, None);
            }
            ConnectionEvent::Down(fault) => {
                self.show_disconnected(ConnectionState::Down, Some(fault.message))
            }
            ConnectionEvent::Up => {
                self.model.connection = ConnectionState::Up;
                self.model.last_error = None;
                self.schedule_conflicts();
            }
            ConnectionEvent::Event(Event::Status { status }) => {
                // A new one, or one that may have been resolved: the status itself lists none.
                let has_new = status.counters.conflicts != self.model.status.counters.conflicts;
                if has_new || !self.model.conflicts.is_empty() {
                    self.schedule_conflicts();
                }
                self.model.status = status;
            }
            ConnectionEvent::Event(Event::Activity { activity }) => {
                self.activity(&view::activity(&activity));
            }
        }
        self.schedule_render();
    }

    fn show_disconnected(&mut self, connection: ConnectionState, last_error: Option<String>) {
        // A new attempt: until it ends, the error of the last one stays visible.
        if connection == ConnectionState::Starting
            && matches!(
                self.model.connection,
                ConnectionState::Down | ConnectionState::LoggedOut
            )
        {
            return;
        }
        self.model = Model {
            connection,
            last_error,
            ..Model::default()
        };
    }

    fn activity(&mut self, row: &ActivityView) {
        if matches!(row.kind, ActivityKind::Uploaded | ActivityKind::Downloaded)
            && let Some(folder) = &row.folder
        {
            let path = Path::new(folder).join(&row.path);
            let file = Recent {
                name: row.path.rsplit('/').next().unwrap_or_default().to_owned(),
                path: path.to_string_lossy().into_owned(),
            };
            self.recent.retain(|known| known.path != file.path);
            self.recent.insert(0, file);
            self.recent.truncate(RECENT);
        }
        self.rows.insert(0, row.clone());
        self.rows.truncate(MAX_ROWS);
    }

    /// Schedules a request for the conflicts, not too soon after the last one.
    fn schedule_conflicts(&mut self) {
        let now = Instant::now();
        let next = self
            .conflicts_requested
            .map_or(now, |at| (at + CONFLICTS_INTERVAL).max(now));
        self.conflicts_due.get_or_insert(next);
    }

    /// Requests the conflicts; the reply arrives as an input.
    fn request_conflicts(&mut self, now: Instant) {
        self.conflicts_due = None;
        self.conflicts_requested = Some(now);
        let commands = self.commands.clone();
        tokio::spawn(async move {
            // The connection reports a daemon that is gone meanwhile.
            if let Ok(list) = commands.request(typed::Conflicts {}).await {
                let conflicts = list.conflicts.iter().map(view::conflict).collect();
                let _ = commands.inputs.send(Input::Conflicts(conflicts)).await;
            }
        });
    }

    /// Schedules a render, not too soon after the last one.
    fn schedule_render(&mut self) {
        let next = (self.last_render + RENDER_INTERVAL).max(Instant::now());
        self.due = Some(self.due.map_or(next, |due| due.min(next)));
    }

    fn render(&mut self) {
        let now = Instant::now();
        self.last_render = now;
        self.due = None;
        let settings = self.commands.settings();
        let language = settings.language();
        let view = view::build(&self.model, language);
        if self.offer_setup && wants_setup(&view, &settings) {
            self.offer_setup = false;
            self.gui.open_window(Some(Place::Page(Page::Setup)));
        }
        let tray = (tray(&view, &self.recent, language), settings.icon);
        if self.shown.as_ref() != Some(&tray) {
            self.gui.show_tray(&tray.0, tray.1);
            self.shown = Some(tray);
        }
        let notifications = self
            .notifier
            .observe(&view, now.into_std(), settings.notify, language);
        for notification in &notifications {
            self.gui.notify(notification);
        }
        if self.pushed.as_ref() != Some(&view) {
            self.gui.push_view(&view);
            self.pushed = Some(view);
        }
        if !self.rows.is_empty() {
            self.gui.push_activity(&std::mem::take(&mut self.rows));
        }
        if self.conflicts_due.is_some_and(|due| due <= now) {
            self.request_conflicts(now);
        }
        let later = [
            self.conflicts_due,
            self.notifier.due_at().map(Instant::from_std),
        ];
        self.due = later.into_iter().flatten().min();
    }

    async fn click(&mut self, action: Action) {
        let result = match action {
            Action::Status | Action::Submenu(_) | Action::Separator => Ok(()),
            Action::Open => {
                self.gui.open_window(None);
                Ok(())
            }
            Action::Attention => {
                self.gui.open_window(Some(Place::Page(Page::Attention)));
                Ok(())
            }
            Action::Settings => {
                self.gui.open_window(Some(Place::Page(Page::Settings)));
                Ok(())
            }
            Action::LogIn => {
                self.gui.open_window(Some(Place::Page(Page::Setup)));
                Ok(())
            }
            Action::OpenFolder(path) => self.commands.desktop.open(path.into()),
            Action::Reveal(path) => self.commands.desktop.reveal(path.into()),
            Action::Pause(span) => {
                let request = crate::commands::pause_request(None, span);
                self.commands.send(request).await
            }
            Action::Resume => {
                let request = Request::Resume { folder: None };
                self.commands.send(request).await
            }
            Action::Quit => {
                self.gui.quit();
                Ok(())
            }
            Action::StopAndQuit => {
                let stopped = self.commands.daemon.suspend().await;
                self.gui.quit();
                stopped
            }
        };
        if let Err(fault) = result {
            let language = self.commands.settings().language();
            self.gui.notify(&Notification {
                topic: crate::notifications::Topic::Error,
                title: language.text("notification.failed", &[]),
                body: fault.message,
            });
        }
    }
}

/// Returns true if the window should open by itself at a start: there is something to set up.
fn wants_setup(view: &View, settings: &Settings) -> bool {
    !settings.setup_left && view.connection == ConnectionState::LoggedOut
}

#[cfg(test)]
mod tests;
