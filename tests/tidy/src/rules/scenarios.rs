//! The scenarios of `docs/scenarios.md` and the tests that check them.

use crate::{Rule, SourceFile, Violation};
use std::collections::{BTreeMap, BTreeSet};

/// The list's path from the workspace's root.
const FILE: &str = "docs/scenarios.md";

/// OAuth's name for a challenge by SHA-256 looks like a scenario.
const NO_SCENARIO: &str = "S256";

pub const SCENARIOS: Rule = Rule {
    name: "scenarios",
    rule: "every scenario that a test names is in docs/scenarios.md, and every test that the list \
           names is there",
    rationale: "the number of a scenario says nothing without its row in the list",
    find: |workspace| {
        let list = workspace.files.iter().find(|file| file.path == FILE);
        let text = list.map_or("", |file| &file.text);
        let known: BTreeSet<&str> = rows(text).map(|(_, id, _)| id).collect();
        let tests: Vec<&SourceFile> = workspace.rust_files().filter(|f| f.is_test()).collect();
        let mut violations = Vec::new();
        for file in tests.iter().filter(|f| !f.is_in(&["tests/tidy/"])) {
            for (id, line) in named_scenarios(&file.text) {
                if !known.contains(id.as_str()) {
                    let detail = format!("{id} is not in {FILE}");
                    violations.push(Violation::in_line(&file.path, line, detail));
                }
            }
        }
        for (line, id, test) in rows(text) {
            let declared = format!("fn {test}(");
            if !test.is_empty() && !tests.iter().any(|file| file.text.contains(&declared)) {
                let detail = format!("{id}: there is no test `{test}`");
                violations.push(Violation::in_line(FILE, line, detail));
            }
        }
        violations
    },
};

/// Returns each row with its line, its scenario and the tests in backquotes in its last cell, one
/// by one; a row without a test comes once.
fn rows(list: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    list.lines()
        .map(str::trim)
        .enumerate()
        .flat_map(|(at, line)| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let id = cells[0];
            let last = cells[cells.len() - 1];
            let mut tests: Vec<&str> = last.split('`').skip(1).step_by(2).collect();
            if tests.is_empty() {
                tests.push("");
            }
            let is_row = line.starts_with('|') && is_id(id);
            tests
                .into_iter()
                .filter(move |_| is_row)
                .map(move |test| (at + 1, id, test))
        })
}

fn is_id(word: &str) -> bool {
    word.len() == 4 && word.starts_with('S') && word[1..].bytes().all(|b| b.is_ascii_digit())
}

/// Returns the scenarios that a test source names, as `S123` or in `s123_sentence`, each with its
/// first line.
fn named_scenarios(text: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for (at, line) in text.lines().enumerate() {
        for word in line.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            let start = word.split('_').next().unwrap_or(word);
            let id = start.to_uppercase();
            let is_test = start != word && start.starts_with('s');
            if is_id(&id) && id != NO_SCENARIO && (is_test || start == id) {
                found.entry(id).or_insert(at + 1);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workspace;

    const LIST: &str = "| id | situation | expected | test |\n|---|---|---|---|\n\
                        | S001 | a file | is there | `s001_a` |\n| S002 | no file | is not | - |\n";

    fn is_broken(test: &str) -> bool {
        is_broken_with(LIST, test)
    }

    fn is_broken_with(list: &str, test: &str) -> bool {
        let workspace = Workspace {
            files: vec![
                SourceFile::new(FILE, list),
                SourceFile::new("tests/e2e/tests/a.rs", test),
            ],
            ..Workspace::default()
        };
        SCENARIOS.check(&workspace).is_err()
    }

    #[test]
    fn a_scenario_without_a_row_is_a_violation() {
        assert!(!is_broken("// S001, S002\nfn s001_a() {}\n"));
        assert!(is_broken("fn s001_a() {}\nfn s003_b() {}\n"));
        assert!(is_broken("fn s001_a() {}\n// as in S004\n"));
        assert!(!is_broken("fn s001_a() { let s3 = S3; sha256_x() }\n"));
    }

    #[test]
    fn a_test_that_is_not_there_is_a_violation() {
        assert!(is_broken("fn s001_b() {}\n"));
    }

    #[test]
    fn spaces_around_a_row_hide_nothing() {
        for (from, to) in [(" |\n", " | \n"), (" |\n", " |\t\r\n"), ("\n|", "\n  |")] {
            let list = LIST.replace(from, to);
            assert!(
                !is_broken_with(&list, "fn s001_a() {}\n// S002\n"),
                "{list:?}"
            );
            assert!(is_broken_with(&list, "fn s001_b() {}\n"), "{list:?}");
        }
    }
}
