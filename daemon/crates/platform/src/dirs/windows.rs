//! Default paths on Windows: the user's application data.

use super::{Home, directory};
use std::path::PathBuf;

pub(super) fn default_home() -> Option<Home> {
    let local = directory("LOCALAPPDATA")?.join("Cairn");
    Some(Home {
        config: directory("APPDATA")?.join("Cairn"),
        data: local.clone(),
        state: local,
        runtime: None,
    })
}

pub(super) fn user_config() -> Option<PathBuf> {
    directory("APPDATA")
}
