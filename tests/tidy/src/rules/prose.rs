//! Things that no text contains: one machine's paths, things left for later, dead links.

use crate::{Rule, SourceFile, Violation, Workspace};

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
        for file in workspace
            .rust_files()
            .filter(|f| !f.is_in(&["tests/tidy/"]))
        {
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
    rule: "a link in a document leads to a file, and to a heading, that is there",
    rationale: "a reader who meets a dead link stops believing the rest",
    find: |workspace| {
        let mut violations = Vec::new();
        for file in workspace.files.iter().filter(|f| f.path.ends_with(".md")) {
            for (number, line) in file.text.lines().enumerate() {
                for link in links(line) {
                    if !leads_somewhere(workspace, file, link) {
                        let what = format!("`{link}` is not there");
                        violations.push(Violation::in_line(&file.path, number + 1, what));
                    }
                }
            }
        }
        violations
    },
};

pub const CONTENTS: Rule = Rule {
    name: "contents",
    rule: "every page of docs/ is in docs/SUMMARY.md",
    rationale: "a page that the table of contents lacks is not on the site, and nobody finds it",
    find: |workspace| {
        let is_page = |path: &str| path.starts_with("docs/") && path.ends_with(".md");
        let contents = workspace.files.iter().find(|file| file.path == SUMMARY);
        let listed: Vec<String> = contents
            .iter()
            .flat_map(|file| file.text.lines().flat_map(links))
            .map(|link| format!("docs/{link}"))
            .collect();
        let pages = workspace.files.iter().map(|file| &file.path);
        pages
            .filter(|path| is_page(path) && *path != SUMMARY && !listed.contains(path))
            .map(|path| Violation::new(path.as_str(), format!("is not in {SUMMARY}")))
            .collect()
    },
};

/// The table of contents of the site that is made of docs/.
const SUMMARY: &str = "docs/SUMMARY.md";

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

/// The relative targets of `[text](target)`, with their fragments.
fn links(line: &str) -> Vec<&str> {
    line.match_indices("](")
        .filter_map(|(at, _)| line[at + 2..].split(')').next())
        .filter(|target| {
            !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:")
        })
        .collect()
}

/// Returns whether a link in a document names a file, and a heading of it, that is there.
fn leads_somewhere(workspace: &Workspace, from: &SourceFile, link: &str) -> bool {
    let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
    let dir = from.path.rsplit_once('/').map_or("", |(dir, _)| dir);
    let target = workspace.root.join(dir).join(path);
    let text = match path {
        "" => Some(from.text.clone()),
        _ if path.ends_with(".md") => std::fs::read_to_string(&target).ok(),
        _ => None,
    };
    match text {
        Some(text) if !fragment.is_empty() => text.lines().any(|line| is_heading(line, fragment)),
        Some(_) => true,
        None => target.exists(),
    }
}

/// Returns whether a line is the heading that a fragment names.
fn is_heading(line: &str, fragment: &str) -> bool {
    let Some(title) = line.starts_with('#').then(|| line.trim_start_matches('#')) else {
        return false;
    };
    let kept = title.trim().chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        c if c.is_alphanumeric() => Some(c),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).eq(fragment.chars())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_broken(rule: Rule, path: &str, text: &str) -> bool {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("there.md"), "## The *one* heading, here\n").unwrap();
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
        assert!(is_broken(NO_MACHINE_PATHS, "docs/a.md", &path));
        assert!(is_broken(
            NO_MACHINE_PATHS,
            "daemon/src/a.rs",
            &format!("// {path}")
        ));
        assert!(!is_broken(
            NO_MACHINE_PATHS,
            "docs/a.md",
            "the home/work/x of a/work/tree"
        ));
    }

    #[test]
    fn things_left_for_later_are_violations() {
        let comment = format!("// {}: later", "TODO");
        assert!(is_broken(NO_LEFTOVERS, "daemon/src/a.rs", &comment));
        assert!(!is_broken(NO_LEFTOVERS, "daemon/src/a.rs", "// done"));
    }

    #[test]
    fn dead_links_are_violations() {
        assert!(!is_broken(
            LINKS,
            "a.md",
            "# D\n[a](there.md#the-one-heading-here) [b](https://example.com) [c](#d)"
        ));
        for dead in ["[a](gone.md)", "[a](there.md#gone)", "[a](#gone)"] {
            assert!(is_broken(LINKS, "a.md", dead), "{dead}");
        }
    }

    #[test]
    fn pages_outside_the_contents_are_violations() {
        assert!(is_broken(CONTENTS, "docs/lost.md", "# Lost"));
        assert!(!is_broken(CONTENTS, "README.md", "# Not one of the site"));
    }
}
