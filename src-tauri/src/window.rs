//! The interface between the program and the page in the window: one command, one event.
//!
//! Calls go through the command [`COMMAND`] as [`crate::commands::Call`]; everything that the program
//! sends by itself goes through the event [`EVENT`] as [`WindowEvent`].

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
}
