//! Names, lengths and headers of files.

use crate::{Rule, Violation};

/// A longer file has long been several.
const MAX_LINES: usize = 600;
/// A header says what a module is for; longer than this it is a chapter for `docs/`.
const MAX_HEADER_LINES: usize = 12;

const BANNED_NAMES: [&str; 10] = [
    "utils",
    "util",
    "helpers",
    "helper",
    "common",
    "misc",
    "manager",
    "managers",
    "shared_utils",
    "stuff",
];

pub const SIZE: Rule = Rule {
    name: "size",
    rule: "a source file that is no test has at most 600 lines",
    rationale: "nearly every project like this has let one file grow to thousands of lines, and that \
              file is the one that nobody dares to change",
    find: |workspace| {
        workspace
            .rust_files()
            .filter(|file| !file.is_test())
            .filter_map(|file| {
                let lines = file.text.lines().count();
                (lines > MAX_LINES).then(|| Violation::new(&file.path, format!("{lines} lines")))
            })
            .collect()
    },
};

pub const NO_MOD_RS: Rule = Rule {
    name: "mod-rs",
    rule: "a module is `foo.rs` with `foo/` beside it, never `foo/mod.rs`",
    rationale: "ten open files called mod.rs can't be told apart, and one way is enough",
    find: |workspace| {
        workspace
            .rust_files()
            .filter(|file| file.name() == "mod.rs")
            .map(|file| Violation::new(&file.path, "rename it after its directory"))
            .collect()
    },
};

pub const NAMES: Rule = Rule {
    name: "names",
    rule: "no module is called utils, helpers, common, misc or manager",
    rationale: "such a name says nothing about what belongs there, so everything ends up there",
    find: |workspace| {
        let mut violations = Vec::new();
        for file in workspace.rust_files() {
            let path = file.path.trim_end_matches(".rs");
            if let Some(banned) = path.split('/').find(|part| BANNED_NAMES.contains(part)) {
                violations.push(Violation::new(
                    &file.path,
                    format!("`{banned}` says nothing: name it after what it does"),
                ));
            }
        }
        violations
    },
};

pub const HEADERS: Rule = Rule {
    name: "headers",
    rule: "every source file begins with a `//!` header of a few lines",
    rationale: "whoever opens a file wants to know in two lines whether it is the right one, and what \
              it leaves to others",
    find: |workspace| {
        let mut violations = Vec::new();
        for file in workspace.rust_files() {
            let header = file
                .text
                .lines()
                .take_while(|line| line.starts_with("//!"))
                .collect::<Vec<_>>();
            let has_text = header.iter().any(|line| line.len() > "//! ".len());
            if !has_text {
                violations.push(Violation::new(&file.path, "has no header"));
            } else if header.len() > MAX_HEADER_LINES && !file.is_test() {
                violations.push(Violation::new(
                    &file.path,
                    format!("has a header of {} lines: move it to docs/", header.len()),
                ));
            }
        }
        violations
    },
};

pub const LINTS: Rule = Rule {
    name: "lints",
    rule: "every package takes the lints of the workspace",
    rationale: "a package without them is the one where the first unwrap takes down the daemon",
    find: |workspace| {
        workspace
            .packages
            .iter()
            .filter(|package| {
                let manifest = format!("{}/Cargo.toml", package.dir);
                let text = workspace.files.iter().find(|file| file.path == manifest);
                !text.is_some_and(|file| file.text.contains("[lints]\nworkspace = true"))
            })
            .map(|package| Violation::new(&package.name, "has no `[lints] workspace = true`"))
            .collect()
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Package;
    use crate::{SourceFile, Workspace};

    fn file(path: &str, text: &str) -> Workspace {
        Workspace {
            files: vec![SourceFile::new(path, text)],
            ..Workspace::default()
        }
    }

    #[test]
    fn a_long_file_is_a_violation_unless_it_is_a_test() {
        let text = "x\n".repeat(601);
        assert!(SIZE.check(&file("daemon/src/a.rs", &text)).is_err());
        assert!(SIZE.check(&file("server/src/a.rs", &text)).is_err());
        assert!(SIZE.check(&file("daemon/src/a/tests.rs", &text)).is_ok());
        assert!(SIZE.check(&file("daemon/src/a.rs", &text[2..])).is_ok());
    }

    #[test]
    fn names_that_say_nothing_are_violations() {
        for bad in ["daemon/src/utils.rs", "daemon/src/common/a.rs"] {
            assert!(NAMES.check(&file(bad, "")).is_err(), "{bad}");
        }
        assert!(NAMES.check(&file("daemon/src/commons.rs", "")).is_ok());
        assert!(NO_MOD_RS.check(&file("daemon/src/a/mod.rs", "")).is_err());
    }

    #[test]
    fn a_file_without_a_header_is_a_violation() {
        assert!(HEADERS.check(&file("a/src/a.rs", "//! Says it.\n")).is_ok());
        for bad in ["use a;\n", "//!\n", "/// Not for the module.\n", ""] {
            assert!(HEADERS.check(&file("a/src/a.rs", bad)).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_package_without_lints_is_a_violation() {
        let mut workspace = file("a/Cargo.toml", "[package]\nname = \"a\"\n");
        workspace.packages.push(Package {
            name: "a".to_owned(),
            dir: "a".to_owned(),
            dependencies: Vec::new(),
        });
        assert!(LINTS.check(&workspace).is_err());
        workspace.files = vec![SourceFile::new(
            "a/Cargo.toml",
            "[lints]\nworkspace = true\n",
        )];
        assert!(LINTS.check(&workspace).is_ok());
    }
}
