//! Things that no text contains: one machine's paths, things left for later, dead links.

use crate::{Rule, Violation, Workspace};

pub const NO_MACHINE_PATHS: Rule = Rule {
    name: "machine-paths",
    rule: "no file names a path of the machine it was written on",
    rationale: "what works only there fails for everybody else, and last of all in a reader's trust",
    find: |workspace| {
        // Put together here, so that this file doesn't break its own rule.
        let banned = ["work", "root", "home/user"].map(|dir| format!("/{dir}/"));
        lines(workspace, |line| {
            banned
                .iter()
                .find(|path| {
                    line.match_indices(path.as_str()).any(|(at, _)| {
                        let before = line[..at].chars().next_back();
                        !before.is_some_and(|c| c.is_alphanumeric() || ".-_}/".contains(c))
                    })
                })
                .map(|path| format!("names `{path}`"))
        })
    },
};

pub const NO_LEFTOVERS: Rule = Rule {
    name: "leftovers",
    rule: "nothing is left for later in a comment",
    rationale: "nobody comes back to it; what is missing is written down where it is planned, and what \
              is limited is told to the user",
    find: |workspace| {
        let banned = ["TO", "FIX", "XX"].map(|start| match start {
            "TO" => "TODO".to_owned(),
            "FIX" => "FIXME".to_owned(),
            other => format!("{other}X"),
        });
        let mut violations = Vec::new();
        for file in workspace.rust().filter(|f| !f.is_in(&["tests/tidy/"])) {
            for (line, text) in file.comments() {
                if let Some(word) = banned.iter().find(|word| text.contains(word.as_str())) {
                    violations.push(Violation::in_line(&file.path, line, format!("`{word}`")));
                }
            }
        }
        violations
    },
};

pub const LINKS: Rule = Rule {
    name: "links",
    rule: "a link in a document leads to a file that is there",
    rationale: "a reader who meets a dead link stops believing the rest",
    find: |workspace| {
        let mut violations = Vec::new();
        for file in workspace.files.iter().filter(|f| f.path.ends_with(".md")) {
            for (number, line) in file.text.lines().enumerate() {
                for target in links(line) {
                    let dir = file.path.rsplit_once('/').map_or("", |(dir, _)| dir);
                    if !workspace.root.join(dir).join(target).exists() {
                        let what = format!("`{target}` is not there");
                        violations.push(Violation::in_line(&file.path, number + 1, what));
                    }
                }
            }
        }
        violations
    },
};

fn lines(workspace: &Workspace, find: impl Fn(&str) -> Option<String>) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in workspace
        .files
        .iter()
        .filter(|f| !f.is_in(&["tests/tidy/"]))
    {
        for (number, line) in file.text.lines().enumerate() {
            if let Some(what) = find(line) {
                violations.push(Violation::in_line(&file.path, number + 1, what));
            }
        }
    }
    violations
}

/// The relative targets of `[text](target)`, without their fragments.
fn links(line: &str) -> Vec<&str> {
    line.match_indices("](")
        .filter_map(|(at, _)| line[at + 2..].split(')').next())
        .map(|target| target.split('#').next().unwrap_or(target))
        .filter(|target| {
            !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SourceFile;

    fn broken(rule: Rule, path: &str, text: &str) -> bool {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("there.md"), "").unwrap();
        let workspace = Workspace {
            root: dir.path().to_path_buf(),
            files: vec![SourceFile::new(path, text)],
            ..Workspace::default()
        };
        rule.check(&workspace).is_err()
    }

    #[test]
    fn paths_of_one_machine_are_violations() {
        let path = format!("see /{}/x", "work");
        assert!(broken(NO_MACHINE_PATHS, "docs/a.md", &path));
        assert!(broken(
            NO_MACHINE_PATHS,
            "daemon/src/a.rs",
            &format!("// {path}")
        ));
        assert!(!broken(
            NO_MACHINE_PATHS,
            "docs/a.md",
            "the home/work/x of a/work/tree"
        ));
    }

    #[test]
    fn things_left_for_later_are_violations() {
        let comment = format!("// {}: later", "TODO");
        assert!(broken(NO_LEFTOVERS, "daemon/src/a.rs", &comment));
        assert!(!broken(NO_LEFTOVERS, "daemon/src/a.rs", "// done"));
    }

    #[test]
    fn dead_links_are_violations() {
        assert!(!broken(
            LINKS,
            "a.md",
            "[a](there.md#part) [b](https://example.com) [c](#d)"
        ));
        assert!(broken(LINKS, "a.md", "[a](gone.md)"));
    }
}
