//! The MCP server: the service's tools, resources and prompts for AI assistants, over one client's lines
//! of JSON.
//!
//! A tool is one declaration in `toolset/`; schema, validation, hints and `docs/tools.md` are generated from it.
//! Tools call the service (through `api`) or the shared crates (`transfer`, `crypto`); this crate adds
//! only what an assistant needs.

mod arguments;
mod call;
mod classify;
mod clean;
mod cli_command;
mod compute;
mod content;
mod counted_transport;
mod device_trust;
mod documentation;
mod empty_trash;
mod error;
mod file_versions;
mod foreign_text;
mod health;
mod instructions;
mod keys;
mod local_paths;
mod mask;
mod move_files;
mod no_files;
mod node_argument;
mod node_paths;
mod node_summaries;
mod node_tools;
mod node_turns;
mod not_found_hint;
mod outcome;
mod param;
mod progress;
mod prompt;
mod question;
mod quote;
mod recovery;
mod resource;
mod response;
mod rewind;
mod rewinder;
mod schema;
mod search;
mod selection;
mod server;
mod services;
mod session_before;
mod session_call_time;
mod session_changes;
mod session_edit;
mod session_file;
mod session_intents;
mod session_journal;
mod session_labels;
mod session_link_tools;
mod session_links;
mod session_lookup;
mod session_own_change;
mod session_settle;
mod session_state;
mod session_undo;
mod share_address;
mod share_many;
mod share_tools;
mod shorten;
mod skills;
mod space_nodes;
mod spaces;
mod strip_fields;
mod sync_tools;
mod task_files;
mod tasks;
mod team_space;
#[cfg(test)]
mod test_services;
mod text_policy;
mod time_limit;
mod token_weight;
mod tool;
mod toolset;
mod trash_list;
mod usage;

pub use device_trust::DeviceTrust;
pub use documentation::reference;
pub use no_files::NoFiles;
pub use rewinder::{RewindMode, RewindRequest, Rewinder};
pub use selection::{ToolFilter, ToolFilterError};
pub use server::{Confirm, ServeError, Server, Settings, UndoError};
pub use services::{Account, KeySource, LocalFiles};
pub use session_file::{EndedSession, SessionFiles};
pub use session_undo::{AssistantSession, Counts as UndoCounts, Undone};
pub use skills::{SKILLS, Skill};
pub use task_files::{StoredTask, TASK_KEPT_FOR, TaskFiles, TaskProcess};
pub use text_policy::ForeignTexts;
