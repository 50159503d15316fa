//! A rule, its reason, and how a breach of it is told.

use crate::Workspace;
use std::fmt::{self, Write as _};

/// One place where a rule is broken.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Breach {
    /// A path from the workspace's root, with a line number where there is one, or a package.
    pub place: String,
    pub what: String,
}

impl Breach {
    pub fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            what: what.into(),
        }
    }

    pub fn in_line(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self::new(format!("{path}:{line}"), what)
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// A rule that the whole workspace keeps.
#[derive(Clone, Copy)]
pub struct Rule {
    /// What is asked, as a sentence.
    pub says: &'static str,
    /// What goes wrong without it.
    pub because: &'static str,
    pub find: fn(&Workspace) -> Vec<Breach>,
}

impl Rule {
    /// Checks the rule; the error lists every breach with the rule and its reason.
    ///
    /// # Errors
    /// The text to print.
    pub fn check(&self, workspace: &Workspace) -> Result<(), String> {
        let mut breaches = (self.find)(workspace);
        if breaches.is_empty() {
            return Ok(());
        }
        breaches.sort();
        let mut text = format!("\nrule: {}\nwhy:  {}\n", self.says, self.because);
        for breach in breaches {
            // Writing to a text can't fail.
            let _ = writeln!(text, "  {breach}");
        }
        Err(text)
    }
}
