//! The one that decides what the tray and the window show, and what a click does.
//!
//! It takes inputs in one order and speaks to the desktop through [`Gui`], so it runs in tests as it is.
//! At most four updates a second reach the window, however much the daemon tells.

use crate::calls::Desk;
use crate::link::LinkEvent;
use crate::notes::{Note, Notes};
use crate::program::FaultCode;
use crate::progress::Progress;
use crate::settings::{IconScheme, Settings};
use crate::tray::{Action, RECENT, Recent, Tray, tray};
use crate::view::{self, ActivityView, ConflictView, Known, Link, View};
use cairn_control::{ConflictList, Event, Request};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// Four times a second.
pub const PACE: Duration = Duration::from_millis(250);
/// Conflicts are asked for again while something goes on.
const CONFLICTS_PACE: Duration = Duration::from_secs(1);
/// More rows of one update than anybody sees pass by; the rest is there when the list is opened.
const ROWS: usize = 500;

/// A place of the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, ts_rs::TS)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    Overview,
    Activity,
    Attention,
    Folders,
    Settings,
    Setup,
}

impl Place {
    /// The word in the page's address.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Activity => "activity",
            Self::Attention => "attention",
            Self::Folders => "folders",
            Self::Settings => "settings",
            Self::Setup => "setup",
        }
    }
}

/// What the controller does to the desktop. None of it waits.
pub trait Gui: Send + Sync + 'static {
    /// Makes the tray look so.
    fn show_tray(&self, tray: &Tray, scheme: IconScheme);
    /// Hands the open window, if there is one, a new view.
    fn push_view(&self, view: &View);
    /// Hands the open window what happened, the newest first.
    fn push_activity(&self, rows: &[ActivityView]);
    /// Opens the window, or brings it to the front.
    fn open_window(&self, place: Option<Place>);
    /// Shows a notification.
    fn notify(&self, note: &Note);
    /// Ends the program.
    fn quit(&self);
}

/// Something that the controller takes in.
#[derive(Clone, PartialEq, Debug)]
pub enum Input {
    Link(LinkEvent),
    /// A click in the tray's menu.
    Click(Action),
    /// A second start of the program.
    SecondStart,
    /// The window wants to know all that is known.
    WindowReady,
    Settings(Settings),
    Conflicts(Vec<ConflictView>),
}

/// The state of the tray program.
pub struct Controller<G: Gui> {
    gui: Arc<G>,
    desk: Arc<Desk>,
    known: Known,
    progress: Progress,
    notes: Notes,
    recent: Vec<Recent>,
    rows: Vec<ActivityView>,
    shown: Option<(Tray, IconScheme)>,
    pushed: Option<View>,
    /// When something is to be shown again.
    due: Option<Instant>,
    last: Instant,
    conflicts_asked: Option<Instant>,
    conflicts_due: Option<Instant>,
    /// A person has started the program: what is to be set up is offered, once.
    greet: bool,
}

impl<G: Gui> Controller<G> {
    /// A controller that has seen nothing yet.
    #[must_use]
    pub fn new(gui: Arc<G>, desk: Arc<Desk>, greet: bool) -> Self {
        let now = Instant::now();
        Self {
            gui,
            desk,
            known: Known::default(),
            progress: Progress::default(),
            notes: Notes::default(),
            recent: Vec::new(),
            rows: Vec::new(),
            shown: None,
            pushed: None,
            due: Some(now),
            last: now,
            conflicts_asked: None,
            conflicts_due: None,
            greet,
        }
    }

    /// Works until nobody sends inputs any more.
    pub async fn run(mut self, mut inputs: mpsc::Receiver<Input>) {
        loop {
            let due = self.due;
            let waiting = async {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = waiting => self.show(),
                input = inputs.recv() => match input {
                    Some(input) => self.take(input).await,
                    None => return,
                },
            }
        }
    }

    async fn take(&mut self, input: Input) {
        match input {
            Input::Link(event) => self.link(event),
            Input::Click(action) => self.click(action).await,
            Input::SecondStart => self.gui.open_window(None),
            Input::WindowReady => {
                self.pushed = None;
                self.due = Some(Instant::now());
            }
            Input::Settings(_) => self.due = Some(Instant::now()),
            Input::Conflicts(conflicts) => {
                self.known.conflicts = conflicts;
                self.soon();
            }
        }
    }

    fn link(&mut self, event: LinkEvent) {
        match event {
            LinkEvent::Starting => self.lost(Link::Starting, None),
            LinkEvent::Down(fault) if fault.code == FaultCode::NotLoggedIn => {
                self.lost(Link::LoggedOut, None);
            }
            LinkEvent::Down(fault) => self.lost(Link::Down, Some(fault.message)),
            LinkEvent::Up => {
                self.known.link = Link::Up;
                self.known.trouble = None;
                self.conflicts_soon();
            }
            LinkEvent::Told(Event::Status { status }) => {
                self.known.share = self.progress.observe(&status);
                // A new one, or one that may have been settled: the status itself lists none.
                let made = status.counters.conflicts != self.known.status.counters.conflicts;
                if made || !self.known.conflicts.is_empty() {
                    self.conflicts_soon();
                }
                self.known.status = status;
            }
            LinkEvent::Told(Event::Activity { activity }) => {
                self.activity(&view::activity(&activity));
            }
        }
        self.soon();
    }

    fn lost(&mut self, link: Link, trouble: Option<String>) {
        // Tried again by itself: until that ends, the reason of the last failure stays readable.
        if link == Link::Starting && matches!(self.known.link, Link::Down | Link::LoggedOut) {
            return;
        }
        self.known = Known {
            link,
            trouble,
            ..Known::default()
        };
    }

    fn activity(&mut self, row: &ActivityView) {
        if matches!(row.kind.as_str(), "uploaded" | "downloaded")
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
        self.rows.truncate(ROWS);
    }

    /// Asks for the conflicts, at the next beat that is not too close to the last time.
    fn conflicts_soon(&mut self) {
        let now = Instant::now();
        let next = self
            .conflicts_asked
            .map_or(now, |at| (at + CONFLICTS_PACE).max(now));
        self.conflicts_due.get_or_insert(next);
    }

    /// The answer comes as an input.
    fn ask_conflicts(&mut self, now: Instant) {
        self.conflicts_due = None;
        self.conflicts_asked = Some(now);
        let desk = self.desk.clone();
        tokio::spawn(async move {
            // A daemon that is gone meanwhile is told by the link.
            if let Ok(list) = desk.ask::<ConflictList>(Request::Conflicts).await {
                let conflicts = list.conflicts.iter().map(view::conflict).collect();
                let _ = desk.inputs.send(Input::Conflicts(conflicts)).await;
            }
        });
    }

    /// Shows what is known at the next beat.
    fn soon(&mut self) {
        let next = (self.last + PACE).max(Instant::now());
        self.due = Some(self.due.map_or(next, |due| due.min(next)));
    }

    fn show(&mut self) {
        let now = Instant::now();
        self.last = now;
        self.due = None;
        let settings = self.desk.settings();
        let language = settings.language();
        let view = view::build(&self.known, language);
        if self.greet && wants_setup(&view, &settings) {
            self.greet = false;
            self.gui.open_window(Some(Place::Setup));
        }
        let tray = (tray(&view, &self.recent, language), settings.icon);
        if self.shown.as_ref() != Some(&tray) {
            self.gui.show_tray(&tray.0, tray.1);
            self.shown = Some(tray);
        }
        let notes = self
            .notes
            .observe(&view, now.into_std(), settings.notify, language);
        for note in &notes {
            self.gui.notify(note);
        }
        if self.pushed.as_ref() != Some(&view) {
            self.gui.push_view(&view);
            self.pushed = Some(view);
        }
        if !self.rows.is_empty() {
            self.gui.push_activity(&std::mem::take(&mut self.rows));
        }
        if self.conflicts_due.is_some_and(|due| due <= now) {
            self.ask_conflicts(now);
        }
        let later = [self.conflicts_due, self.notes.due().map(Instant::from_std)];
        self.due = later.into_iter().flatten().min();
    }

    async fn click(&mut self, action: Action) {
        let ordered = match action {
            Action::Status | Action::Submenu(_) | Action::Separator => Ok(()),
            Action::Open => {
                self.gui.open_window(None);
                Ok(())
            }
            Action::Attention => {
                self.gui.open_window(Some(Place::Attention));
                Ok(())
            }
            Action::Settings => {
                self.gui.open_window(Some(Place::Settings));
                Ok(())
            }
            Action::LogIn => {
                self.gui.open_window(Some(Place::Setup));
                Ok(())
            }
            Action::OpenFolder(path) => self.desk.desktop.open(path.into()),
            Action::Reveal(path) => self.desk.desktop.reveal(path.into()),
            Action::Pause(span) => {
                let request = crate::calls::pause_request(span);
                self.desk.daemon.ask(request).await.map(drop)
            }
            Action::Resume => {
                let request = Request::Resume { folder: None };
                self.desk.daemon.ask(request).await.map(drop)
            }
            Action::Quit => {
                self.gui.quit();
                Ok(())
            }
            Action::StopAndQuit => {
                let stopped = self.desk.daemon.hold().await;
                self.gui.quit();
                stopped
            }
        };
        if let Err(fault) = ordered {
            let language = self.desk.settings().language();
            self.gui.notify(&Note {
                topic: crate::notes::Topic::Error,
                title: language.text("note.not_done", &[]),
                body: fault.message,
            });
        }
    }
}

/// Whether the window should open by itself at a start: there is something to set up.
fn wants_setup(view: &View, settings: &Settings) -> bool {
    !settings.setup_left && view.link == Link::LoggedOut
}

#[cfg(test)]
mod tests;
