//! The length of functions.

use crate::functions::find;
use crate::{Rule, Violation};

/// A screen.
const MAX_LINES: usize = 60;

pub const FUNCTIONS: Rule = Rule {
    name: "functions",
    rule: "a function has at most 60 lines, unless it is one flat table, match or chain",
    rationale: "what doesn't fit on a screen has to be remembered while it is read",
    find: |workspace| {
        let mut violations = Vec::new();
        for file in workspace.rust_files().filter(|file| !file.is_test()) {
            for function in find(&file.code_without_tests()) {
                if function.lines > MAX_LINES && !function.is_flat {
                    violations.push(Violation::in_line(
                        &file.path,
                        function.line,
                        format!("`{}` has {} lines", function.name, function.lines),
                    ));
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

    fn check(path: &str, statements: usize) -> Result<(), String> {
        let text = format!("fn f() {{\n{}}}\n", "    g();\n".repeat(statements));
        FUNCTIONS.check(&Workspace {
            files: vec![SourceFile::new(path, &text)],
            ..Workspace::default()
        })
    }

    #[test]
    fn a_long_function_is_a_violation_unless_it_is_a_test() {
        assert!(check("daemon/src/a.rs", 58).is_ok());
        let error = check("daemon/src/a.rs", 59).unwrap_err();
        assert!(
            error.contains("daemon/src/a.rs:1: `f` has 61 lines"),
            "{error}"
        );
        assert!(check("daemon/src/a/tests.rs", 59).is_ok());
    }
}
