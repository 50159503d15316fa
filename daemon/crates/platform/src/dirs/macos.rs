//! Default paths on macOS: the user's library.

use super::{Home, user_home};
use std::path::PathBuf;

pub(super) fn default_home() -> Option<Home> {
    let library = user_home()?.join("Library");
    let data = library.join("Application Support/Cairn");
    Some(Home {
        config: data.clone(),
        data,
        state: library.join("Logs/Cairn"),
        runtime: None,
    })
}

pub(super) fn user_config() -> Option<PathBuf> {
    Some(user_home()?.join("Library/Application Support"))
}
