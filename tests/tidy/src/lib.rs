//! The rules of the house, checked: who may import whom, who owns which dependency, how files look.
//!
//! Each rule is a function from the workspace to its breaches, and says why it exists when it is
//! broken. `docs/ARCHITECTURE.md` explains the rules; style that the compiler or clippy checks is not
//! repeated here.

pub mod lexer;
pub mod rule;
pub mod rules;
pub mod source;
pub mod workspace;

pub use rule::{Breach, Rule};
pub use source::SourceFile;
pub use workspace::Workspace;
