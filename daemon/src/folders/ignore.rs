//! The ignore rules of a pair: showing them, adding to them, asking them.

use crate::failure::{CommandResult, Context as _, Failure};
use cairn_control::{IgnoreDecision, IgnoreRules};
use cairn_engine::{OWN_FILES, RuleMatch, Rules};
use cairn_index::FolderRow;
use cairn_model::RelPath;
use cairn_platform::{FileMode, Home, RealDisk, dirs, write_atomic};
use std::io;
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
    super::check_patterns([&pattern.to_owned()])?;
    let bytes = read(row)?;
    let before = String::from_utf8_lossy(&bytes);
    if before.lines().any(|line| line == pattern) {
        return Ok(());
    }
    let newline = if before.is_empty() || before.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    let path = file(row);
    let after = format!("{newline}{pattern}\n");
    let whole = [bytes.as_slice(), after.as_bytes()].concat();
    write_atomic(&path, &whole, FileMode::Inherit).context("add a rule")
}

/// Replaces the folder's rules file; without lines there is none.
pub(crate) fn replace(row: &FolderRow, lines: &[String]) -> CommandResult {
    if let Some(line) = lines.iter().find(|line| line.contains(['\n', '\r'])) {
        return Err(Failure::usage(format!(
            "`{line}` is not a valid rule (use one line in gitignore syntax)"
        )));
    }
    let path = file(row);
    if lines.is_empty() {
        return match std::fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                Err(e).context(format_args!("delete {}", path.display()))
            }
            Ok(()) | Err(_) => Ok(()),
        };
    }
    // On a full disk the rules stay as they are: without them, what they keep back would be sent.
    let text = lines.join("\n") + "\n";
    write_atomic(&path, text.as_bytes(), FileMode::Inherit).context("change the rules")
}

/// Returns whether a path would be ignored if the rules file had these lines. Nothing is written to
/// the folder.
pub(crate) fn try_out(
    home: &Home,
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
    let rules = Rules::load(&RealDisk::new(), place.path(), &row.settings)
        .with_own_places(Path::new(&row.root), &home.own_places());
    decide(row, rules, path)
}

/// Returns whether a path in the folder is ignored, and by which rule.
pub(crate) fn check(home: &Home, row: &FolderRow, path: &Path) -> CommandResult<IgnoreDecision> {
    let root = Path::new(&row.root);
    let rules = Rules::load(&RealDisk::new(), root, &row.settings)
        .with_own_places(root, &home.own_places());
    decide(row, rules, path)
}

/// Decides by the rules of the root, and those of the directories above the path.
fn decide(row: &FolderRow, mut rules: Rules, path: &Path) -> CommandResult<IgnoreDecision> {
    let outside = || Failure::usage(format!("{} is not in {}", path.display(), row.root));
    let below = path.strip_prefix(&row.root).map_err(|_| outside())?;
    let below = RelPath::parse(below.to_str().ok_or_else(outside)?).map_err(|_| outside())?;
    rules.read_above(&RealDisk::new(), Path::new(&row.root), &below);
    let is_dir = path.is_dir();
    let names = below.names();
    // A rule for a folder decides for everything below it.
    for n in 1..=names.len() {
        let part: RelPath = names[..n].iter().cloned().collect();
        let found = match dirs::is_marked(&part.to_path(Path::new(&row.root))) {
            true => RuleMatch::Ignored(OWN_FILES.to_owned()),
            false => rules.check(&part, is_dir || n < names.len()),
        };
        match found {
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
fn file(row: &FolderRow) -> std::path::PathBuf {
    Path::new(&row.root).join(IGNORE_FILE)
}

fn text(row: &FolderRow) -> CommandResult<String> {
    Ok(String::from_utf8_lossy(&read(row)?).into_owned())
}

fn read(row: &FolderRow) -> CommandResult<Vec<u8>> {
    let path = file(row);
    match std::fs::read(&path) {
        Ok(bytes) => Ok(bytes),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(e).context(format_args!("read {}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_index::{FolderSettings, Index};

    fn paired(root: &Path) -> FolderRow {
        let index = Index::memory().unwrap();
        let root = root.to_str().unwrap();
        let id = index
            .write(|db| db.add_folder(root, "/", &FolderSettings::default()))
            .unwrap();
        index.read(|db| db.folder(id)).unwrap().unwrap()
    }

    #[test]
    fn the_files_of_an_installation_are_ignored_whatever_the_rules_say() {
        let dir = tempfile::tempdir().unwrap();
        let row = paired(dir.path());
        let own = Home::at(&dir.path().join("own"));
        let other = Home::at(&dir.path().join("deep/other"));
        other.create().unwrap();
        replace(&row, &["!own/".to_owned(), "!other/".to_owned()]).unwrap();
        for (path, expected) in [
            ("own", Some(OWN_FILES)),
            ("own/index.db", Some(OWN_FILES)),
            ("deep/other/index.db-wal", Some(OWN_FILES)),
            ("deep/.cairn-home", Some(".cairn-home")),
            ("deep/notes", None),
        ] {
            let decision = check(&own, &row, &dir.path().join(path)).unwrap();
            assert_eq!(decision.ignored, expected.is_some(), "{path}");
            assert_eq!(decision.rule.as_deref(), expected, "{path}");
        }
    }

    /// A directory that can't be written to stands for a full disk: in both, no new file can be made.
    #[cfg(unix)]
    #[test]
    fn rules_that_can_not_be_written_stay_as_they_were() {
        use std::fs::{Permissions, set_permissions};
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        let dir = tempfile::tempdir().unwrap();
        let row = paired(dir.path());
        replace(&row, &["secret/".to_owned()]).unwrap();
        let inode = || std::fs::metadata(file(&row)).unwrap().ino();
        let before = inode();
        set_permissions(dir.path(), Permissions::from_mode(0o500)).unwrap();
        let refused = replace(&row, &["*.log".to_owned()]);
        set_permissions(dir.path(), Permissions::from_mode(0o700)).unwrap();
        // The owner of everything (root) is not stopped by permissions; it gets a new file then.
        match refused {
            Err(_) => assert_eq!(rules(&row).unwrap().shared, ["secret/"]),
            Ok(()) => assert_ne!(inode(), before, "the old file was written over"),
        }
    }

    #[test]
    fn a_rule_is_added_once_and_decides() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap();
        let index = Index::memory().unwrap();
        let id = index
            .write(|db| db.add_folder(root, "/", &FolderSettings::default()))
            .unwrap();
        let row = index.read(|db| db.folder(id)).unwrap().unwrap();
        let home = Home::at(&dir.path().join("own"));
        let ignored = |path: &str| check(&home, &row, &dir.path().join(path)).unwrap();
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
        let tried = |path: &str| try_out(&home, &row, &draft, &dir.path().join(path)).unwrap();
        assert!(tried("a/x.tmp").ignored && !tried("a/x.log").ignored);
        assert!(ignored("a/x.log").ignored, "trying changes nothing");
        replace(&row, &draft).unwrap();
        assert_eq!(rules(&row).unwrap().shared, draft);
        assert!(!ignored("a/x.log").ignored);
        std::fs::create_dir(dir.path().join("a")).unwrap();
        std::fs::write(dir.path().join("a/.cairnignore"), "!x.tmp\n*.bin\n").unwrap();
        assert!(ignored("a/y.tmp").ignored && !ignored("a/x.tmp").ignored);
        assert!(ignored("a/deep/x.bin").ignored && !ignored("x.bin").ignored);
        replace(&row, &[]).unwrap();
        assert!(!file(&row).exists());
        assert!(replace(&row, &["a\nb".into()]).is_err());
        assert!(check(&home, &row, Path::new("/elsewhere")).is_err());
        assert!(add(&row, "two\nlines").is_err());
    }
}
