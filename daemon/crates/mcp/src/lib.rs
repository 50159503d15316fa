//! The MCP server: the service's tools, resources and prompts for AI assistants, over one client's lines
//! of JSON.
//!
//! A tool is one declaration in `toolset/`; schema, validation, hints and `docs/tools.md` are made of it.
//! What tools do is the service's (through `api`) or the shared crates' (`transfer`, `crypto`); here is
//! only what an assistant needs in between.

mod answer;
mod arguments;
mod call;
mod clean;
mod cli_command;
mod compute;
mod content;
mod documentation;
mod failure;
mod health;
mod instructions;
mod mask;
mod node_tools;
mod param;
mod progress;
mod prompt;
mod resource;
mod schema;
mod selection;
mod server;
mod services;
mod share_tools;
mod sync_tools;
mod tool;
mod toolset;

pub use documentation::reference;
pub use selection::{Choice, ChoiceError};
pub use server::{Confirm, ServeError, Server, Settings};
pub use services::{Account, KeySource, LocalFiles};
