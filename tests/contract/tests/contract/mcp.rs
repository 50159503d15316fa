//! The MCP server (`cairn mcp`) over its lines of JSON, against the bundled Cairn server.

mod answers;
pub(crate) mod bundle_rules;
mod catalogue;
mod confirming;
mod content;
mod earlier_sessions;
mod every_tool;
mod failures;
mod fuzz;
mod keys;
mod links;
mod local_files;
mod lockdown;
mod nodes;
mod packaging;
mod progress;
mod protocol;
mod questions;
mod resources;
mod session;
mod sync;
mod tasks;
mod teams;
mod tool_search;
mod undo;
mod unknown_outcomes;
mod world;
