//! The tray program: shows the state of the daemon and forwards what a person wants.
//!
//! It has no sync logic and no keys. Its state comes over the control protocol; its actions go there or to
//! the `cairn` program. Everything but [`shell`] works without a desktop.

pub mod commands;
pub mod conflict;
pub mod connection;
pub mod controller;
pub mod file_request;
pub mod input;
pub mod line_diff;
pub mod notifications;
pub mod options;
mod picture;
mod problem_text;
pub mod program;
pub mod settings;
pub mod shell;
pub mod strings;
pub mod tray;
pub mod view;
pub mod window;
