//! Default paths on Linux and other Unix systems: the XDG Base Directory Specification, version 0.8.

use super::{Home, directory, user_home};
use std::path::PathBuf;

pub(super) fn default_home() -> Option<Home> {
    let user = user_home()?;
    let path = |variable, default: &str| {
        directory(variable)
            .unwrap_or_else(|| user.join(default))
            .join("cairn")
    };
    Some(Home {
        config: path("XDG_CONFIG_HOME", ".config"),
        data: path("XDG_DATA_HOME", ".local/share"),
        state: path("XDG_STATE_HOME", ".local/state"),
        runtime: directory("XDG_RUNTIME_DIR").map(|dir| dir.join("cairn")),
    })
}

pub(super) fn user_config() -> Option<PathBuf> {
    Some(directory("XDG_CONFIG_HOME").unwrap_or(user_home()?.join(".config")))
}
