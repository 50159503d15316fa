//! The tray's menu, changed in place: replacing a whole menu closes it under the pointer.

use crate::tray::{Action, Entry};
use tauri::menu::{IsMenuItem, Menu, MenuItem, PredefinedMenuItem, Submenu};
use tauri::{AppHandle, Wry};

/// The widget of an entry.
enum Widget {
    Plain(MenuItem<Wry>),
    Separator(PredefinedMenuItem<Wry>),
    Submenu(Submenu<Wry>, Vec<Shown>),
}

struct Shown {
    entry: Entry,
    widget: Widget,
}

impl Shown {
    fn make(app: &AppHandle, entry: &Entry) -> tauri::Result<Self> {
        let id = entry.action.id();
        let widget = match &entry.action {
            Action::Separator => Widget::Separator(PredefinedMenuItem::separator(app)?),
            Action::Submenu(_) => {
                let submenu = Submenu::with_id(app, id, &entry.label, entry.enabled)?;
                let mut below = Vec::new();
                adjust(app, &Parent::Submenu(&submenu), &mut below, &entry.below)?;
                Widget::Submenu(submenu, below)
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
            Widget::Separator(item) => item,
            Widget::Submenu(item, _) => item,
        }
    }

    /// Changes the widget where the new entry differs.
    fn update(&mut self, app: &AppHandle, entry: &Entry) -> tauri::Result<()> {
        let (text, enabled) = (
            self.entry.label != entry.label,
            self.entry.enabled != entry.enabled,
        );
        match &mut self.widget {
            Widget::Separator(_) => {}
            Widget::Plain(item) => {
                if text {
                    item.set_text(&entry.label)?;
                }
                if enabled {
                    item.set_enabled(entry.enabled)?;
                }
            }
            Widget::Submenu(item, below) => {
                if text {
                    item.set_text(&entry.label)?;
                }
                if enabled {
                    item.set_enabled(entry.enabled)?;
                }
                adjust(app, &Parent::Submenu(item), below, &entry.below)?;
            }
        }
        self.entry = entry.clone();
        Ok(())
    }
}

enum Parent<'a> {
    Menu(&'a Menu<Wry>),
    Submenu(&'a Submenu<Wry>),
}

impl Parent<'_> {
    fn insert(&self, item: &dyn IsMenuItem<Wry>, at: usize) -> tauri::Result<()> {
        match self {
            Self::Menu(menu) => menu.insert(item, at),
            Self::Submenu(menu) => menu.insert(item, at),
        }
    }

    fn remove(&self, item: &dyn IsMenuItem<Wry>) -> tauri::Result<()> {
        match self {
            Self::Menu(menu) => menu.remove(item),
            Self::Submenu(menu) => menu.remove(item),
        }
    }
}

/// The menu with its entries.
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

    /// Changes the menu to these entries. Must run on the main thread.
    pub(super) fn show(&mut self, app: &AppHandle, entries: &[Entry]) -> tauri::Result<()> {
        adjust(app, &Parent::Menu(&self.menu), &mut self.shown, entries)
    }
}

/// Keeps the equal entries at the beginning and the end, and replaces those between.
fn adjust(
    app: &AppHandle,
    parent: &Parent<'_>,
    shown: &mut Vec<Shown>,
    entries: &[Entry],
) -> tauri::Result<()> {
    let (head, tail) = common_ends(shown, entries);
    for gone in shown.drain(head..shown.len() - tail) {
        parent.remove(gone.item())?;
    }
    for (at, entry) in entries
        .iter()
        .enumerate()
        .take(entries.len() - tail)
        .skip(head)
    {
        let new = Shown::make(app, entry)?;
        parent.insert(new.item(), at)?;
        shown.insert(at, new);
    }
    for (shown, entry) in shown.iter_mut().zip(entries) {
        if shown.entry != *entry {
            shown.update(app, entry)?;
        }
    }
    Ok(())
}

/// Returns the number of entries at the beginning and at the end that have the same actions.
fn common_ends(shown: &[Shown], entries: &[Entry]) -> (usize, usize) {
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
