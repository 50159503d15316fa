//! The names of functions.

use crate::functions::find;
use crate::{Rule, Violation};

/// States of a thing. Alone they don't say what is done to it, or which value is returned.
const STATES: [&str; 17] = [
    "counted",
    "described",
    "fresh",
    "given",
    "held",
    "kept",
    "known",
    "listed",
    "made",
    "measured",
    "missing",
    "named",
    "opened",
    "shown",
    "taken",
    "typed",
    "whole",
];

pub const FUNCTION_NAMES: Rule = Rule {
    name: "function-names",
    rule: "a function is not named by a state alone: a verb says what it does, a noun what it returns",
    rationale: "`status_json(&status)` is understood where it is called; for `shown(&status)` the function \
                has to be looked up",
    find: |workspace| {
        let mut violations = Vec::new();
        for file in workspace.rust().filter(|file| !file.is_test()) {
            for function in find(&file.code_without_tests()) {
                if STATES.contains(&function.name.as_str()) {
                    let detail = format!("`{}` is a state", function.name);
                    violations.push(Violation::in_line(&file.path, function.line, detail));
                }
            }
        }
        violations
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SourceFile, Workspace};

    #[test]
    fn a_state_alone_names_no_function() {
        let check = |path: &str, text: &str| {
            FUNCTION_NAMES.check(&Workspace {
                files: vec![SourceFile::new(path, text)],
                ..Workspace::default()
            })
        };
        assert!(check("daemon/src/a.rs", "fn shown() {}\n").is_err());
        assert!(check("daemon/src/a.rs", "fn shown_lines() {}\n").is_ok());
        assert!(check("daemon/src/a/tests.rs", "fn shown() {}\n").is_ok());
    }
}
