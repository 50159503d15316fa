//! The places where a rule does not hold, each with its reason: `tests/tidy/exceptions.toml`.

use crate::{Rule, Workspace};
use anyhow::{Context as _, Result, bail};
use toml::{Table, Value};

/// The file's path from the workspace's root.
pub const FILE: &str = "tests/tidy/exceptions.toml";

/// All exceptions of the workspace.
#[derive(Clone, Debug, Default)]
pub struct Exceptions {
    entries: Vec<Exception>,
}

/// One path that one rule passes over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exception {
    /// The name of the rule.
    pub rule: String,
    /// A file, or a directory with a slash at its end.
    pub path: String,
}

impl Exceptions {
    /// Reads the exceptions from the text of their file.
    ///
    /// # Errors
    /// An entry lacks its rule, path or reason.
    pub fn parse(text: &str) -> Result<Self> {
        let file: Table = text.parse().context("the exceptions are not valid TOML")?;
        let entries = match file.get("exception") {
            None => Vec::new(),
            Some(Value::Array(entries)) => entries
                .iter()
                .map(Exception::parse)
                .collect::<Result<_>>()?,
            Some(_) => bail!("exceptions are written as `[[exception]]`"),
        };
        Ok(Self { entries })
    }

    /// Returns `true` if a violation of `rule` at `location` is accepted.
    #[must_use]
    pub fn cover(&self, rule: &str, location: &str) -> bool {
        self.entries
            .iter()
            .any(|exception| exception.covers(rule, location))
    }

    /// Returns the exceptions that no violation needs, by path.
    #[must_use]
    pub fn find_unused(&self, rules: &[Rule], workspace: &Workspace) -> Vec<&Exception> {
        let found: Vec<_> = rules
            .iter()
            .map(|rule| (rule.name, (rule.find)(workspace)))
            .collect();
        let is_needed = |exception: &&Exception| {
            found.iter().any(|(name, violations)| {
                violations
                    .iter()
                    .any(|violation| exception.covers(name, &violation.location))
            })
        };
        let mut unused: Vec<_> = self.entries.iter().filter(|e| !is_needed(e)).collect();
        unused.sort_by(|a, b| a.path.cmp(&b.path));
        unused
    }
}

impl Exception {
    fn parse(entry: &Value) -> Result<Self> {
        let text = |key: &str| -> Result<String> {
            match entry.get(key).and_then(Value::as_str) {
                Some(text) if !text.is_empty() => Ok(text.to_owned()),
                _ => bail!("an exception lacks its {key}: {entry}"),
            }
        };
        // Without a reason nobody can tell when the exception may go.
        text("reason")?;
        Ok(Self {
            rule: text("rule")?,
            path: text("path")?,
        })
    }

    fn covers(&self, rule: &str, location: &str) -> bool {
        if self.rule != rule {
            return false;
        }
        if self.path.ends_with('/') {
            return location.starts_with(&self.path);
        }
        location.split(':').next() == Some(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Violation;

    const ONE: &str =
        "[[exception]]\nrule = \"size\"\npath = \"a/b.rs\"\nreason = \"it is generated\"\n";

    #[test]
    fn an_exception_covers_one_rule_at_one_path() {
        let exceptions = Exceptions::parse(ONE).unwrap();
        assert!(exceptions.cover("size", "a/b.rs:12"));
        assert!(exceptions.cover("size", "a/b.rs"));
        assert!(!exceptions.cover("size", "a/b.rs.old"));
        assert!(!exceptions.cover("headers", "a/b.rs"));
    }

    #[test]
    fn a_directory_covers_what_is_below() {
        let text = ONE.replace("a/b.rs", "a/");
        let exceptions = Exceptions::parse(&text).unwrap();
        assert!(exceptions.cover("size", "a/b/c.rs:1"));
        assert!(!exceptions.cover("size", "ab/c.rs"));
    }

    #[test]
    fn an_exception_without_a_reason_is_refused() {
        let text = ONE.replace("reason", "because");
        assert!(Exceptions::parse(&text).is_err());
        assert!(Exceptions::parse("").unwrap().entries.is_empty());
    }

    #[test]
    fn an_exception_that_nothing_needs_is_found() {
        let rule = Rule {
            name: "size",
            rule: "",
            rationale: "",
            find: |_| vec![Violation::in_line("a/b.rs", 3, "long")],
        };
        let exceptions = Exceptions::parse(ONE).unwrap();
        let workspace = Workspace::default();
        assert!(exceptions.find_unused(&[rule], &workspace).is_empty());
        let other = Exceptions::parse(&ONE.replace("b.rs", "c.rs")).unwrap();
        assert_eq!(other.find_unused(&[rule], &workspace).len(), 1);
    }
}
