//! The tray's menu, changed in place: replacing a whole menu makes it vanish under the pointer.

use crate::tray::{Action, Entry};
use tauri::menu::{IsMenuItem, Menu, MenuItem, PredefinedMenuItem, Submenu};
use tauri::{AppHandle, Wry};

/// One entry that is in the menu now.
enum Widget {
    Plain(MenuItem<Wry>),
    Line(PredefinedMenuItem<Wry>),
    Below(Submenu<Wry>, Vec<Shown>),
}

struct Shown {
    entry: Entry,
    widget: Widget,
}

impl Shown {
    fn make(app: &AppHandle, entry: &Entry) -> tauri::Result<Self> {
        let id = entry.action.id();
        let widget = match &entry.action {
            Action::Separator => Widget::Line(PredefinedMenuItem::separator(app)?),
            Action::Submenu(_) => {
                let submenu = Submenu::with_id(app, id, &entry.label, entry.enabled)?;
                let mut below = Vec::new();
                adjust(app, &Place::Below(&submenu), &mut below, &entry.below)?;
                Widget::Below(submenu, below)
            }
            Action::Status
            | Action::Open
            | Action::OpenFolder(_)
            | Action::Reveal(_)
            | Action::Pause(_)
            | Action::Resume
            | Action::Attention
            | Action::Settings
            | Action::LogIn
            | Action::Quit
            | Action::StopAndQuit => Widget::Plain(MenuItem::with_id(
                app,
                id,
                &entry.label,
                entry.enabled,
                None::<&str>,
            )?),
        };
        Ok(Self {
            entry: entry.clone(),
            widget,
        })
    }

    fn item(&self) -> &dyn IsMenuItem<Wry> {
        match &self.widget {
            Widget::Plain(item) => item,
            Widget::Line(item) => item,
            Widget::Below(item, _) => item,
        }
    }

    /// Changes what differs.
    fn update(&mut self, app: &AppHandle, entry: &Entry) -> tauri::Result<()> {
        let (text, enabled) = (
            self.entry.label != entry.label,
            self.entry.enabled != entry.enabled,
        );
        match &mut self.widget {
            Widget::Line(_) => {}
            Widget::Plain(item) => {
                if text {
                    item.set_text(&entry.label)?;
                }
                if enabled {
                    item.set_enabled(entry.enabled)?;
                }
            }
            Widget::Below(item, below) => {
                if text {
                    item.set_text(&entry.label)?;
                }
                if enabled {
                    item.set_enabled(entry.enabled)?;
                }
                adjust(app, &Place::Below(item), below, &entry.below)?;
            }
        }
        self.entry = entry.clone();
        Ok(())
    }
}

enum Place<'a> {
    Top(&'a Menu<Wry>),
    Below(&'a Submenu<Wry>),
}

impl Place<'_> {
    fn insert(&self, item: &dyn IsMenuItem<Wry>, at: usize) -> tauri::Result<()> {
        match self {
            Self::Top(menu) => menu.insert(item, at),
            Self::Below(menu) => menu.insert(item, at),
        }
    }

    fn remove(&self, item: &dyn IsMenuItem<Wry>) -> tauri::Result<()> {
        match self {
            Self::Top(menu) => menu.remove(item),
            Self::Below(menu) => menu.remove(item),
        }
    }
}

/// The menu with what is in it.
pub(super) struct TrayMenu {
    menu: Menu<Wry>,
    shown: Vec<Shown>,
}

impl TrayMenu {
    pub(super) fn new(app: &AppHandle) -> tauri::Result<Self> {
        Ok(Self {
            menu: Menu::new(app)?,
            shown: Vec::new(),
        })
    }

    pub(super) fn menu(&self) -> &Menu<Wry> {
        &self.menu
    }

    /// Makes the menu have these entries. Runs on the main thread.
    pub(super) fn show(&mut self, app: &AppHandle, entries: &[Entry]) -> tauri::Result<()> {
        adjust(app, &Place::Top(&self.menu), &mut self.shown, entries)
    }
}

/// Keeps the entries at the beginning and the end that stay, and exchanges those between.
fn adjust(
    app: &AppHandle,
    place: &Place<'_>,
    shown: &mut Vec<Shown>,
    entries: &[Entry],
) -> tauri::Result<()> {
    let (head, tail) = common(shown, entries);
    for gone in shown.drain(head..shown.len() - tail) {
        place.remove(gone.item())?;
    }
    for (at, entry) in entries
        .iter()
        .enumerate()
        .take(entries.len() - tail)
        .skip(head)
    {
        let new = Shown::make(app, entry)?;
        place.insert(new.item(), at)?;
        shown.insert(at, new);
    }
    for (shown, entry) in shown.iter_mut().zip(entries) {
        if shown.entry != *entry {
            shown.update(app, entry)?;
        }
    }
    Ok(())
}

/// How many entries at the beginning and at the end have the same actions.
fn common(shown: &[Shown], entries: &[Entry]) -> (usize, usize) {
    let same = |(shown, entry): &(&Shown, &Entry)| shown.entry.action == entry.action;
    let head = shown.iter().zip(entries).take_while(same).count();
    let most = shown.len().min(entries.len()) - head;
    let tail = shown
        .iter()
        .rev()
        .zip(entries.iter().rev())
        .take(most)
        .take_while(same)
        .count();
    (head, tail)
}
