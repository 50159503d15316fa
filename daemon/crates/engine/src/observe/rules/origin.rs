//! The origin of a decision of the rules: which pattern, from where, on which line.

use super::Rules;
use super::read::IGNORE_FILE;
use cairn_model::{Name, RelPath, RuleSource};

/// The rule that leaves a path out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleOrigin {
    pub source: RuleSource,
    /// The text of the rule; empty if the path is not among the selected subfolders.
    pub pattern: String,
    /// The rules file, below the root of the folder.
    pub file: Option<RelPath>,
    /// In the rules file, from 1.
    pub line: Option<u64>,
    /// The path that it matches: the one asked for, or a folder above it.
    pub matched: RelPath,
}

impl Rules {
    /// Returns the rule that leaves a path out; `None` if the path is synced.
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
        let Some(found) = self.find(path, is_dir) else {
            return (!self.is_chosen(path)).then(|| RuleOrigin {
                source: RuleSource::Selection,
                pattern: String::new(),
                file: None,
                line: None,
                matched: path.clone(),
            });
        };
        if !found.decision.is_ignored {
            return None;
        }
        let is_of_file = found.source == RuleSource::File;
        let name = Name::new(IGNORE_FILE.to_owned()).ok();
        let file = name.filter(|_| is_of_file).map(|name| {
            let dir: RelPath = path.names()[..found.depth].iter().cloned().collect();
            dir.join(name)
        });
        Some(RuleOrigin {
            source: found.source,
            pattern: found.decision.pattern.to_owned(),
            file,
            line: found.decision.line.filter(|_| is_of_file),
            matched: path.clone(),
        })
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
            shared: [(RelPath::root(), "*.tmp\n".to_owned())].into(),
            ..Texts::default()
        };
        let rules = Rules::new(&texts, &settings);
        let found = rules.origin(&RelPath::parse("x.tmp").unwrap(), false);
        let found = found.expect("it is ignored");
        assert_eq!(
            (found.source, found.pattern.as_str(), found.line),
            (RuleSource::File, "*.tmp", Some(1))
        );
    }

    #[test]
    fn a_rule_of_a_nested_file_is_named_with_that_file() {
        let text = |dir: &str, text: &str| (RelPath::parse(dir).unwrap(), text.to_owned());
        let texts = Texts {
            files: [text("", "*.log\n"), text("a/b", "\n!keep.log\nbuild/\n")].into(),
            ..Texts::default()
        };
        let rules = Rules::new(&texts, &FolderSettings::default());
        let found = |path: &str| rules.origin(&RelPath::parse(path).unwrap(), false);
        let file = |path: &str| {
            let origin = found(path).unwrap();
            (origin.file.unwrap().to_string(), origin.line.unwrap())
        };
        assert_eq!(file("a/b/c/build/x"), ("a/b/.cairnignore".into(), 3));
        assert_eq!(file("a/b/x.log"), (".cairnignore".into(), 1));
        assert_eq!(found("a/b/keep.log"), None);
        assert_eq!(found("build/x"), None);
    }
}
