//! The origin of a decision of the rules: which pattern, from where, on which line.

use super::{RuleMatch, Rules};
use cairn_model::{RelPath, RuleSource};
use ignore::Match;
use ignore::gitignore::Gitignore;
use std::path::Path;

/// The rule that leaves a path out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleOrigin {
    pub source: RuleSource,
    /// The text of the rule; empty for the selection.
    pub pattern: String,
    /// In the rules file, from 1.
    pub line: Option<u64>,
    /// The path that it matches: the one asked for, or a folder above it.
    pub matched: RelPath,
}

impl Rules {
    /// Returns the rule that leaves a path out; `None` if it takes part.
    #[must_use]
    pub fn origin(&self, path: &RelPath, is_dir: bool) -> Option<RuleOrigin> {
        let names = path.names();
        (1..=names.len()).find_map(|n| {
            let part: RelPath = names[..n].iter().cloned().collect();
            self.origin_of_part(&part, is_dir || n < names.len())
        })
    }

    /// Returns the rule for a path that has no ignored folder above it.
    fn origin_of_part(&self, path: &RelPath, is_dir: bool) -> Option<RuleOrigin> {
        let RuleMatch::Ignored(pattern) = self.check(path, is_dir) else {
            return None;
        };
        let ignored_by = |rules: &Gitignore| {
            let text = Path::new("").join(path.to_string());
            matches!(rules.matched(text, is_dir), Match::Ignore(_))
        };
        let source = if self.is_own(path) || ignored_by(&self.built_in) {
            RuleSource::BuiltIn
        } else if ignored_by(&self.shared) {
            RuleSource::File
        } else if ignored_by(&self.exclude) {
            RuleSource::Exclude
        } else if ignored_by(&self.file) {
            RuleSource::File
        } else {
            RuleSource::Selection
        };
        Some(RuleOrigin {
            line: match source {
                RuleSource::File => self.line_of(&pattern),
                RuleSource::BuiltIn
                | RuleSource::Exclude
                | RuleSource::Selection
                | RuleSource::Other => None,
            },
            pattern: match source {
                RuleSource::Selection | RuleSource::Other => String::new(),
                RuleSource::BuiltIn | RuleSource::Exclude | RuleSource::File => pattern,
            },
            source,
            matched: path.clone(),
        })
    }

    /// Returns the number of the last line that has a pattern: the last one that matches decides.
    fn line_of(&self, pattern: &str) -> Option<u64> {
        let line_in = |text: &str| {
            let lines: Vec<&str> = text.lines().collect();
            let at = lines
                .iter()
                .rposition(|line| *line == pattern || line.trim_end() == pattern)?;
            Some(at as u64 + 1)
        };
        line_in(&self.texts.shared).or_else(|| line_in(&self.texts.file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::rules::{IGNORE_FILE, Texts};
    use cairn_index::FolderSettings;
    use cairn_platform::RealDisk;

    fn origin(text: &str, settings: &FolderSettings, path: &str) -> Option<RuleOrigin> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(IGNORE_FILE), text).unwrap();
        let rules = Rules::load(&RealDisk::new(), dir.path(), settings);
        rules.origin(&RelPath::parse(path).unwrap(), false)
    }

    #[test]
    fn a_rule_of_the_file_is_named_with_its_line() {
        let text = "# comment\n*.log\n\nbuild/  \n*.log\n!keep.log\n";
        let found = |path| origin(text, &FolderSettings::default(), path);
        let log = found("a/x.log").unwrap();
        assert_eq!(
            (log.source, log.pattern.as_str(), log.line),
            (RuleSource::File, "*.log", Some(5))
        );
        assert_eq!(found("keep.log"), None);
        let below = found("build/deep/file").unwrap();
        assert_eq!(
            (below.line, below.matched.to_string().as_str()),
            (Some(4), "build")
        );
        assert_eq!(found("other"), None);
    }

    #[test]
    fn each_list_is_named() {
        let settings = FolderSettings {
            exclude: vec!["*.tmp".into()],
            only: vec!["docs".into()],
            ..FolderSettings::default()
        };
        let source = |path| origin("*.log\n", &settings, path).map(|found| found.source);
        assert_eq!(source(".cairn-trash/x"), Some(RuleSource::BuiltIn));
        assert_eq!(source("docs/.DS_Store"), Some(RuleSource::BuiltIn));
        assert_eq!(source("docs/x.tmp"), Some(RuleSource::Exclude));
        assert_eq!(source("docs/x.log"), Some(RuleSource::File));
        assert_eq!(source("music/x"), Some(RuleSource::Selection));
        assert_eq!(source("docs/x"), None);
    }

    #[test]
    fn a_shared_rule_comes_before_an_excluded_pattern() {
        let settings = FolderSettings {
            exclude: vec!["x.*".into()],
            ..FolderSettings::default()
        };
        let texts = Texts {
            shared: "*.tmp\n".into(),
            ..Texts::default()
        };
        let rules = Rules::new(texts, &settings);
        let found = rules.origin(&RelPath::parse("x.tmp").unwrap(), false);
        let found = found.expect("it is ignored");
        assert_eq!(
            (found.source, found.pattern.as_str(), found.line),
            (RuleSource::File, "*.tmp", Some(1))
        );
    }
}
