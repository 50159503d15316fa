//! The ignore rules of a pair: showing them, adding to them, asking them.

use crate::failure::{CommandResult, Context as _, Failure};
use cairn_control::{IgnoreDecision, IgnoreRules};
use cairn_engine::{RuleMatch, Rules};
use cairn_index::FolderRow;
use cairn_model::RelPath;
use cairn_platform::RealDisk;
use std::io::{self, Write as _};
use std::path::Path;

/// The rules file at the root of a folder.
const IGNORE_FILE: &str = ".cairnignore";

/// The rules that people have set for a folder.
pub(crate) fn rules(row: &FolderRow) -> CommandResult<IgnoreRules> {
    let own = row.settings.exclude.iter().cloned();
    let only = row.settings.only.iter().map(|path| format!("only {path}"));
    Ok(IgnoreRules {
        shared: text(row)?.lines().map(str::to_owned).collect(),
        own: own.chain(only).collect(),
    })
}

/// Adds a line to the folder's rules file, which syncs like any other.
pub(crate) fn add(row: &FolderRow, pattern: &str) -> CommandResult {
    let pattern = pattern.trim_end_matches(['\n', '\r']);
    if pattern.trim().is_empty() || pattern.contains(['\n', '\r']) {
        return Err(Failure::usage(format!(
            "`{pattern}` is not a valid pattern (use one line in gitignore syntax)"
        )));
    }
    let before = text(row)?;
    if before.lines().any(|line| line == pattern) {
        return Ok(());
    }
    let newline = if before.is_empty() || before.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    let path = file(row);
    let append = || -> io::Result<()> {
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)?;
        file.write_all(format!("{newline}{pattern}\n").as_bytes())
    };
    append().context(format_args!("add to {}", path.display()))
}

/// Replaces the folder's rules file; without lines there is none.
pub(crate) fn replace(row: &FolderRow, lines: &[String]) -> CommandResult {
    if let Some(line) = lines.iter().find(|line| line.contains(['\n', '\r'])) {
        return Err(Failure::usage(format!(
            "`{line}` is not a valid rule (use one line in gitignore syntax)"
        )));
    }
    let path = file(row);
    let write = || -> io::Result<()> {
        if lines.is_empty() {
            return match std::fs::remove_file(&path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
                Ok(()) | Err(_) => Ok(()),
            };
        }
        std::fs::write(&path, lines.join("\n") + "\n")
    };
    write().context(format_args!("write {}", path.display()))
}

/// Returns whether a path would be ignored if the rules file had these lines. Nothing is written to
/// the folder.
pub(crate) fn try_out(
    row: &FolderRow,
    lines: &[String],
    path: &Path,
) -> CommandResult<IgnoreDecision> {
    let place = tempfile::tempdir().context("try the rules out")?;
    let draft = FolderRow {
        root: place.path().to_string_lossy().into_owned(),
        ..row.clone()
    };
    replace(&draft, lines)?;
    let rules = Rules::load(&RealDisk::new(), place.path(), &row.settings);
    decide(row, &rules, path)
}

/// Returns whether a path in the folder is ignored, and by which rule.
pub(crate) fn check(row: &FolderRow, path: &Path) -> CommandResult<IgnoreDecision> {
    let rules = Rules::load(&RealDisk::new(), Path::new(&row.root), &row.settings);
    decide(row, &rules, path)
}

fn decide(row: &FolderRow, rules: &Rules, path: &Path) -> CommandResult<IgnoreDecision> {
    let outside = || Failure::usage(format!("{} is not in {}", path.display(), row.root));
    let below = path.strip_prefix(&row.root).map_err(|_| outside())?;
    let below = RelPath::parse(below.to_str().ok_or_else(outside)?).map_err(|_| outside())?;
    let is_dir = path.is_dir();
    let names = below.names();
    // A rule for a folder decides for everything below it.
    for n in 1..=names.len() {
        let part: RelPath = names[..n].iter().cloned().collect();
        match rules.check(&part, is_dir || n < names.len()) {
            RuleMatch::Ignored(rule) => {
                return Ok(IgnoreDecision {
                    path: below.to_string(),
                    ignored: true,
                    rule: Some(rule),
                });
            }
            RuleMatch::Included(rule) if n == names.len() => {
                return Ok(IgnoreDecision {
                    path: below.to_string(),
                    ignored: false,
                    rule: Some(rule),
                });
            }
            RuleMatch::Included(_) | RuleMatch::None => {}
        }
    }
    Ok(IgnoreDecision {
        path: below.to_string(),
        ignored: false,
        rule: None,
    })
}

/// The rules file of a folder.
pub(crate) fn file(row: &FolderRow) -> std::path::PathBuf {
    Path::new(&row.root).join(IGNORE_FILE)
}

fn text(row: &FolderRow) -> CommandResult<String> {
    let path = file(row);
    match std::fs::read(&path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(e) => Err(e).context(format_args!("read {}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_index::{FolderSettings, Index};

    #[test]
    fn a_rule_is_added_once_and_decides() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap();
        let index = Index::memory().unwrap();
        let id = index
            .write(|db| db.add_folder(root, "/", &FolderSettings::default()))
            .unwrap();
        let row = index.read(|db| db.folder(id)).unwrap().unwrap();
        let ignored = |path: &str| check(&row, &dir.path().join(path)).unwrap();
        assert!(!ignored("a/x.log").ignored);
        std::fs::write(file(&row), "build/").unwrap();
        add(&row, "*.log").unwrap();
        add(&row, "*.log").unwrap();
        assert_eq!(rules(&row).unwrap().shared, ["build/", "*.log"]);
        let decision = ignored("a/x.log");
        assert_eq!(
            (decision.ignored, decision.rule.as_deref()),
            (true, Some("*.log"))
        );
        assert!(ignored("build/deep/x").ignored);
        let draft = ["*.tmp".to_owned()];
        let tried = |path: &str| try_out(&row, &draft, &dir.path().join(path)).unwrap();
        assert!(tried("a/x.tmp").ignored && !tried("a/x.log").ignored);
        assert!(ignored("a/x.log").ignored, "trying changes nothing");
        replace(&row, &draft).unwrap();
        assert_eq!(rules(&row).unwrap().shared, draft);
        assert!(!ignored("a/x.log").ignored);
        replace(&row, &[]).unwrap();
        assert!(!file(&row).exists());
        assert!(replace(&row, &["a\nb".into()]).is_err());
        assert!(check(&row, Path::new("/elsewhere")).is_err());
        assert!(add(&row, "two\nlines").is_err());
    }
}
