//! The inputs of the controller: from the daemon, the tray's menu, the window and the commands.

use crate::connection::ConnectionEvent;
use crate::file_request::FileRequest;
use crate::settings::Settings;
use crate::tray::Action;
use crate::view::ConflictView;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// An input of the controller.
#[derive(Clone, PartialEq, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all of them are events, and few are kept at once"
)]
pub enum Input {
    Connection(ConnectionEvent),
    /// A click in the tray's menu.
    Click(Action),
    /// A second start of the program, with the file that it is about.
    SecondStart(Option<FileRequest>),
    /// The window has opened and wants everything that is known.
    WindowReady,
    Settings(Settings),
    Conflicts(Vec<ConflictView>),
    LoginStep(LoginStep),
}

/// A step of a login at which the person has something to do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum LoginStep {
    /// Continue at this address in a browser on this device.
    Browser { url: String },
    /// Open this address on any device and enter the code.
    Code { url: String, code: String },
    /// Enter the passphrase: a new one, or that of the account, again if there was an error.
    Passphrase {
        email: String,
        is_new: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        error: Option<String>,
    },
}
