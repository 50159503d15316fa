//! Checks the project's own rules: who may import whom, who owns which dependency, how files look.
//!
//! Each rule is a function from the workspace to its violations; a report names the rule and its
//! rationale. `docs/ARCHITECTURE.md` explains the rules; style that the compiler or clippy checks is not
//! repeated here.

pub mod exceptions;
pub mod functions;
pub mod glossary;
pub mod lexer;
pub mod modules;
pub mod rule;
pub mod rules;
pub mod script;
pub mod source;
pub mod workspace;

pub use rule::{Rule, Violation};
pub use source::SourceFile;
pub use workspace::Workspace;
