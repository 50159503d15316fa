//! The tray program: shows what the daemon does and passes on what a person wants.
//!
//! It holds no sync logic and no keys. What it knows comes over the control protocol, what it does goes
//! there or to the `cairn` program. Everything but [`shell`] works without a desktop.

pub mod calls;
pub mod conflict;
pub mod controller;
pub mod link;
pub mod notes;
pub mod options;
pub mod program;
pub mod progress;
pub mod settings;
pub mod shell;
pub mod strings;
pub mod tray;
pub mod view;
