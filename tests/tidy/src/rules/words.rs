//! The words of identifiers and of the first line of a doc comment.

use crate::glossary::{self, Refused, identifiers, parts, refused};
use crate::script;
use crate::{Rule, SourceFile, Violation};

/// Openings that make a question or a clause of a description.
const OPENINGS: [&str; 9] = [
    "What", "Where", "Whether", "How", "Who", "Whom", "Whose", "Why", "Answers",
];
/// Two words, because code is also told from comments.
const LONG_OPENING: &str = "Tells whether";

pub const DOC_OPENINGS: Rule = Rule {
    name: "doc-openings",
    rule: "a doc comment begins with a verb in the third person or a noun, not with What, Where, \
           Whether, How, Who, Why, Answers or Tells whether",
    rationale: "\"Returns the …\" and \"The path of …\" say at once which kind of thing it is; a \
                clause has to be turned round in the reader's head",
    find: |workspace| {
        let mut violations = Vec::new();
        for file in workspace.rust() {
            for (line, text) in doc_openings(file) {
                let first = text.split(|c: char| !c.is_alphanumeric()).next();
                let short = first.filter(|word| OPENINGS.contains(word));
                let long = Some(LONG_OPENING).filter(|opening| text.starts_with(opening));
                if let Some(opening) = short.or(long) {
                    let detail = format!("begins with \"{opening}\"");
                    violations.push(Violation::in_line(&file.path, line, detail));
                }
            }
        }
        violations
    },
};

pub const WORDS: Rule = Rule {
    name: "words",
    rule: "an identifier uses the glossary's words, and none that the glossary refuses",
    rationale: "one word for one thing can be searched for; two words for it are two things to the \
                reader, and a metaphor is a dialect that has to be learnt",
    find: |workspace| {
        let Some(file) = workspace.files.iter().find(|f| f.path == glossary::FILE) else {
            return Vec::new();
        };
        let words = refused(&file.text);
        let mut violations = Vec::new();
        for file in &workspace.files {
            for (number, line) in code(file).lines().enumerate() {
                for (identifier, word) in broken(line, &words) {
                    violations.push(Violation::in_line(
                        &file.path,
                        number + 1,
                        format!(
                            "`{identifier}` contains `{}`: the glossary's word is {}",
                            word.word, word.instead
                        ),
                    ));
                }
            }
        }
        violations
    },
};

/// Returns the first line of each doc comment, with its number.
fn doc_openings(file: &SourceFile) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut last = None;
    for (line, comment) in file.comments() {
        let kind = comment.chars().next().filter(|c| matches!(c, '/' | '!'));
        let Some(kind) = kind.filter(|_| !comment.starts_with("//")) else {
            continue;
        };
        if last != Some((line - 1, kind)) {
            found.push((line, comment[1..].trim_start()));
        }
        last = Some((line, kind));
    }
    found
}

fn code(file: &SourceFile) -> String {
    if file.is_rust() {
        return file
            .code_with_tests()
            .flat_map(|(_, line)| [line, "\n"])
            .collect();
    }
    let of_ui = file.is_in(&["ui/src/"]);
    if of_ui
        && [".ts", ".svelte"]
            .iter()
            .any(|end| file.path.ends_with(end))
    {
        return script::code(&file.path, &file.text);
    }
    String::new()
}

fn broken<'a>(line: &'a str, words: &'a [Refused]) -> Vec<(&'a str, &'a Refused)> {
    identifiers(line)
        .filter_map(|identifier| {
            let parts = parts(identifier);
            let word = words.iter().find(|word| word.is_in(&parts))?;
            Some((identifier, word))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workspace;

    fn is_broken(rule: Rule, path: &str, text: &str) -> bool {
        let table = "| **last_error** | the latest failure | `trouble` |\n";
        let workspace = Workspace {
            files: vec![
                SourceFile::new(path, text),
                SourceFile::new(glossary::FILE, table),
            ],
            ..Workspace::default()
        };
        rule.check(&workspace).is_err()
    }

    #[test]
    fn a_doc_comment_that_opens_as_a_clause_is_a_violation() {
        for bad in [
            "//! What it does.\n",
            "/// Where it is.\nconst A: u8 = 1;\n",
            "struct A {\n    /// Whether it is.\n    a: bool,\n}\n",
            "/// Tells whether it is.\nfn a() {}\n",
        ] {
            assert!(is_broken(DOC_OPENINGS, "a/src/a.rs", bad), "{bad}");
        }
        for good in [
            "//! Tells code from comments.\n",
            "//! The rules.\n//! What they leave to others.\n",
            "// What follows is a table.\nfn a() {}\n",
            "/// Whatever is left.\nfn a() {}\n",
            "//// What is no doc comment.\nfn a() {}\n",
        ] {
            assert!(!is_broken(DOC_OPENINGS, "a/src/a.rs", good), "{good}");
        }
    }

    #[test]
    fn an_identifier_with_a_refused_word_is_a_violation() {
        assert!(is_broken(WORDS, "a/src/a.rs", "fn in_trouble() {}\n"));
        assert!(is_broken(WORDS, "ui/src/a.ts", "const inTrouble = 1;\n"));
        let svelte = "<script>\n  let trouble = 1;\n</script>\n";
        assert!(is_broken(WORDS, "ui/src/a.svelte", svelte));
        assert!(!is_broken(WORDS, "a/src/a.rs", "fn f() {} // trouble\n"));
        assert!(!is_broken(WORDS, "a/src/a.rs", "fn troubled() {}\n"));
    }
}
