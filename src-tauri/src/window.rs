//! The interface between the program and the page in the window: one command, one event.
//!
//! Calls go through the command [`COMMAND`] as [`crate::commands::Call`]; everything that the program
//! sends by itself goes through the event [`EVENT`] as [`WindowEvent`].

use crate::file_request::FileRequest;
use crate::input::LoginStep;
use crate::view::{ActivityView, View};
use serde::Serialize;
use ts_rs::TS;

/// The name of the Tauri command for calls.
pub const COMMAND: &str = "call";
/// The name of the Tauri event for [`WindowEvent`]s.
pub const EVENT: &str = "window-event";

/// A page of the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Page {
    Overview,
    Activity,
    Attention,
    Folders,
    Links,
    Trash,
    Devices,
    Settings,
    Setup,
}

impl Page {
    /// All pages; those of the navigation in its order, then the setup.
    pub const ALL: &'static [Self] = &[
        Self::Overview,
        Self::Activity,
        Self::Attention,
        Self::Folders,
        Self::Links,
        Self::Trash,
        Self::Devices,
        Self::Settings,
        Self::Setup,
    ];

    /// Returns the name in the page's address.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Activity => "activity",
            Self::Attention => "attention",
            Self::Folders => "folders",
            Self::Links => "links",
            Self::Trash => "trash",
            Self::Devices => "devices",
            Self::Settings => "settings",
            Self::Setup => "setup",
        }
    }
}

/// A place in the window: a page, or the page that is shown with a dialog about a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    Page(Page),
    File(FileRequest),
}

impl Place {
    /// Returns the fragment of the page's address for it.
    #[must_use]
    pub fn fragment(&self) -> String {
        match self {
            Self::Page(page) => page.name().to_owned(),
            Self::File(request) => request.fragment(),
        }
    }

    /// Returns the message that brings an open window there.
    #[must_use]
    pub fn event(self) -> WindowEvent {
        match self {
            Self::Page(page) => WindowEvent::Page(page),
            Self::File(request) => WindowEvent::File(request),
        }
    }
}

/// A message of the program to the window.
#[derive(Clone, PartialEq, Debug, Serialize, TS)]
#[serde(tag = "event", content = "payload", rename_all = "snake_case")]
pub enum WindowEvent {
    View(View),
    /// The newest first.
    Activity(Vec<ActivityView>),
    LoginStep(LoginStep),
    /// The page to show.
    Page(Page),
    /// The dialog to show.
    File(FileRequest),
}
