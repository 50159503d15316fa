//! A rule, its rationale, and the report of its violations.

use crate::Workspace;
use std::fmt::{self, Write as _};

/// One place where a rule is broken.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Violation {
    /// A path from the workspace's root, with a line number where there is one, or a package.
    pub location: String,
    pub detail: String,
}

impl Violation {
    pub fn new(location: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            location: location.into(),
            detail: detail.into(),
        }
    }

    pub fn in_line(path: &str, line: usize, detail: impl Into<String>) -> Self {
        Self::new(format!("{path}:{line}"), detail)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.detail)
    }
}

/// A rule that the whole workspace keeps.
#[derive(Clone, Copy)]
pub struct Rule {
    /// The name that an exception refers to.
    pub name: &'static str,
    /// The demand, as a sentence.
    pub rule: &'static str,
    /// The damage that the rule prevents.
    pub rationale: &'static str,
    pub find: fn(&Workspace) -> Vec<Violation>,
}

impl Rule {
    /// Checks the rule; the error lists every violation with the rule and its rationale.
    ///
    /// # Errors
    /// The text to print.
    pub fn check(&self, workspace: &Workspace) -> Result<(), String> {
        let mut violations = (self.find)(workspace);
        violations.retain(|violation| !workspace.exceptions.cover(self.name, &violation.location));
        if violations.is_empty() {
            return Ok(());
        }
        violations.sort();
        let mut text = format!("\nrule: {}\nwhy:  {}\n", self.rule, self.rationale);
        for violation in violations {
            // Writing to a `String` can't fail.
            let _ = writeln!(text, "  {violation}");
        }
        Err(text)
    }
}
