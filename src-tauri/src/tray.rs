//! The tray's icon and menu as data: a pure function of the view.
//!
//! On Linux there is no tooltip, so the first entry is the status. The shell changes entries in place.

#[cfg(test)]
mod tests;

use crate::strings::Language;
use crate::view::{ConnectionState, View};
use cairn_model::SyncState;

/// The number of steps in which the syncing icon shows progress.
pub const QUARTERS: u8 = 4;
/// The number of files in the submenu of recent ones.
pub const RECENT: usize = 5;
/// Longer names are cut in the middle: a menu is as wide as its widest entry.
const LABEL: usize = 48;

/// The picture of the tray.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Icon {
    pub state: SyncState,
    /// The quarters done, 0 to 3, in [`SyncState::Syncing`].
    pub quarter: u8,
}

impl Icon {
    /// Returns the name of the picture, without size and colour scheme.
    #[must_use]
    pub fn name(self) -> &'static str {
        match (self.state, self.quarter) {
            (SyncState::Idle, _) => "idle",
            (SyncState::Syncing, 0) => "syncing-0",
            (SyncState::Syncing, 1) => "syncing-1",
            (SyncState::Syncing, 2) => "syncing-2",
            (SyncState::Syncing, _) => "syncing-3",
            (SyncState::Paused, _) => "paused",
            (SyncState::Offline, _) => "offline",
            (SyncState::Attention, _) => "attention",
            (SyncState::Error, _) => "error",
        }
    }
}

/// The duration of a pause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize, ts_rs::TS)]
#[serde(rename_all = "snake_case")]
pub enum PauseFor {
    Hour,
    Tomorrow,
    Resumed,
}

/// The effect of a click on an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// The status, which can't be chosen.
    Status,
    Open,
    OpenFolder(String),
    /// A file, absolute.
    Reveal(String),
    Pause(PauseFor),
    Resume,
    Attention,
    Settings,
    LogIn,
    Quit,
    StopAndQuit,
    /// Opens its submenu.
    Submenu(&'static str),
    Separator,
}

impl Action {
    /// Returns the entry's id in the menu.
    #[must_use]
    pub fn id(&self) -> String {
        match self {
            Self::Status => "status".to_owned(),
            Self::Open => "open".to_owned(),
            Self::OpenFolder(path) => format!("folder:{path}"),
            Self::Reveal(path) => format!("reveal:{path}"),
            Self::Pause(PauseFor::Hour) => "pause:hour".to_owned(),
            Self::Pause(PauseFor::Tomorrow) => "pause:tomorrow".to_owned(),
            Self::Pause(PauseFor::Resumed) => "pause:resumed".to_owned(),
            Self::Resume => "resume".to_owned(),
            Self::Attention => "attention".to_owned(),
            Self::Settings => "settings".to_owned(),
            Self::LogIn => "log-in".to_owned(),
            Self::Quit => "quit".to_owned(),
            Self::StopAndQuit => "stop-and-quit".to_owned(),
            Self::Submenu(name) => format!("submenu:{name}"),
            Self::Separator => "separator".to_owned(),
        }
    }

    /// Returns the action of an entry that was clicked.
    #[must_use]
    pub fn of_id(id: &str) -> Option<Self> {
        if let Some(path) = id.strip_prefix("folder:") {
            return Some(Self::OpenFolder(path.to_owned()));
        }
        if let Some(path) = id.strip_prefix("reveal:") {
            return Some(Self::Reveal(path.to_owned()));
        }
        let plain = [
            Self::Status,
            Self::Open,
            Self::Pause(PauseFor::Hour),
            Self::Pause(PauseFor::Tomorrow),
            Self::Pause(PauseFor::Resumed),
            Self::Resume,
            Self::Attention,
            Self::Settings,
            Self::LogIn,
            Self::Quit,
            Self::StopAndQuit,
        ];
        plain.into_iter().find(|action| action.id() == id)
    }
}

/// One entry, with the entries of its submenu.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    pub action: Action,
    pub label: String,
    pub enabled: bool,
    pub below: Vec<Entry>,
}

impl Entry {
    fn new(action: Action, label: String) -> Self {
        Self {
            action,
            label,
            enabled: true,
            below: Vec::new(),
        }
    }

    fn separator() -> Self {
        Self::new(Action::Separator, String::new())
    }

    fn submenu(name: &'static str, label: String, below: Vec<Self>) -> Self {
        Self {
            enabled: !below.is_empty(),
            below,
            ..Self::new(Action::Submenu(name), label)
        }
    }
}

/// The icon and the menu.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tray {
    pub icon: Icon,
    pub entries: Vec<Entry>,
}

/// The name and the absolute path of a file that changed lately.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recent {
    pub name: String,
    pub path: String,
}

/// Returns the icon and the menu for a view.
#[must_use]
pub fn tray(view: &View, recent: &[Recent], language: Language) -> Tray {
    let text = |key: &str| language.text(key, &[]);
    let status = Entry {
        enabled: false,
        ..Entry::new(Action::Status, view.headline.clone())
    };
    let mut entries = vec![
        status,
        Entry::separator(),
        Entry::new(Action::Open, text("tray.open")),
    ];
    match view.connection {
        ConnectionState::Up => entries.extend(sync_entries(view, recent, language)),
        ConnectionState::LoggedOut => {
            entries.push(Entry::new(Action::LogIn, text("tray.log_in")));
        }
        ConnectionState::Starting | ConnectionState::Down => {}
    }
    entries.extend([
        Entry::new(Action::Settings, text("tray.settings")),
        Entry::separator(),
        Entry::new(Action::Quit, text("tray.quit")),
        Entry::new(Action::StopAndQuit, text("tray.stop_and_quit")),
    ]);
    Tray {
        icon: icon(view),
        entries,
    }
}

/// Returns the entries that need a running daemon.
fn sync_entries(view: &View, recent: &[Recent], language: Language) -> Vec<Entry> {
    let text = |key: &str| language.text(key, &[]);
    let folders = view
        .folders
        .iter()
        .map(|f| Entry::new(Action::OpenFolder(f.local.clone()), shorten(&f.name)))
        .collect();
    let recent = recent
        .iter()
        .take(RECENT)
        .map(|file| Entry::new(Action::Reveal(file.path.clone()), shorten(&file.name)))
        .collect();
    let pause = if view.state == SyncState::Paused {
        Entry::new(Action::Resume, text("tray.resume"))
    } else {
        let spans = [
            (PauseFor::Hour, "tray.pause_hour"),
            (PauseFor::Tomorrow, "tray.pause_tomorrow"),
            (PauseFor::Resumed, "tray.pause_resumed"),
        ];
        let spans = spans.map(|(span, key)| Entry::new(Action::Pause(span), text(key)));
        Entry::submenu("pause", text("tray.pause"), spans.into())
    };
    let mut entries = vec![
        Entry::submenu("folders", text("tray.folders"), folders),
        Entry::submenu("recent", text("tray.recent"), recent),
        pause,
    ];
    if view.attention > 0 {
        let label = language.count("tray.attention", view.attention);
        entries.push(Entry::new(Action::Attention, label));
    }
    entries
}

fn icon(view: &View) -> Icon {
    let quarter = view
        .progress
        .map_or(0, |progress| progress.percent / (100 / QUARTERS));
    Icon {
        state: view.state,
        quarter: if view.state == SyncState::Syncing {
            quarter.min(QUARTERS - 1)
        } else {
            0
        },
    }
}

/// Cuts a long name in the middle: its end tells what kind of file it is.
fn shorten(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= LABEL {
        return name.to_owned();
    }
    let keep = (LABEL - 1) / 2;
    let head: String = letters[..keep].iter().collect();
    let tail: String = letters[letters.len() - keep..].iter().collect();
    format!("{head}…{tail}")
}
