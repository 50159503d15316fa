//! Code in doc comments.

use crate::{Rule, SourceFile, Violation};

/// Marks of a block that rustdoc does not take for Rust.
const OTHER: [&str; 5] = ["text", "toml", "json", "sh", "sql"];

pub const NO_EXAMPLES: Rule = Rule {
    name: "examples",
    rule: "a doc comment has no block of Rust code",
    rationale: "no stage runs examples: rustdoc takes minutes to find that there is none; a unit test shows the \
              same, and is run",
    find: |workspace| {
        let rust = workspace.rust_files().filter(|file| !file.is_test());
        rust.flat_map(|file| {
            let found = opened_blocks(file).filter(|(_, mark)| !OTHER.contains(mark));
            found.map(|(line, _)| Violation::in_line(&file.path, line, "has an example"))
        })
        .collect()
    },
};

/// Returns the line and the mark of each block that doc comments open.
fn opened_blocks(file: &SourceFile) -> impl Iterator<Item = (usize, &str)> {
    let fences = file.text.lines().enumerate().filter_map(|(at, line)| {
        let line = line.trim_start();
        let comment = line.strip_prefix("///").or(line.strip_prefix("//!"))?;
        Some((at + 1, comment.trim_start().strip_prefix("```")?.trim()))
    });
    fences.step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workspace;

    #[test]
    fn rust_in_a_doc_comment_is_a_violation_and_other_text_is_not() {
        for (text, is_violation) in [
            ("/// A.\n///\n/// ```\n/// a();\n/// ```\nfn a() {}", true),
            ("/// ```no_run\n/// a();\n/// ```\nfn a() {}", true),
            ("//! ```text\n//! a\n//! ```\nfn a() {}", false),
            ("// ```\nfn a() {}", false),
        ] {
            let workspace = Workspace {
                files: vec![SourceFile::new("daemon/src/a.rs", text)],
                ..Workspace::default()
            };
            assert_eq!(
                NO_EXAMPLES.check(&workspace).is_err(),
                is_violation,
                "{text}"
            );
        }
    }
}
