//! The words of identifiers.

use crate::glossary::{self, Refused, identifiers, parts, refused_words};
use crate::script;
use crate::{Rule, SourceFile, Violation};

pub const WORDS: Rule = Rule {
    name: "words",
    rule: "an identifier uses the glossary's words, and none that the glossary refuses",
    rationale: "one word for one thing can be searched for; two words for it are two things to the \
                reader, and a metaphor is a dialect that has to be learnt",
    find: |workspace| {
        let Some(file) = workspace.files.iter().find(|f| f.path == glossary::FILE) else {
            return Vec::new();
        };
        let words = refused_words(&file.text);
        let mut violations = Vec::new();
        for file in &workspace.files {
            for (number, line) in code(file).lines().enumerate() {
                for (identifier, word) in refused_identifiers(line, &words) {
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

fn refused_identifiers<'a>(line: &'a str, words: &'a [Refused]) -> Vec<(&'a str, &'a Refused)> {
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

    fn is_broken(path: &str, text: &str) -> bool {
        let table = "| **last_error** | the latest failure | `trouble` |\n";
        let workspace = Workspace {
            files: vec![
                SourceFile::new(path, text),
                SourceFile::new(glossary::FILE, table),
            ],
            ..Workspace::default()
        };
        WORDS.check(&workspace).is_err()
    }

    #[test]
    fn an_identifier_with_a_refused_word_is_a_violation() {
        assert!(is_broken("a/src/a.rs", "fn in_trouble() {}\n"));
        assert!(is_broken("ui/src/a.ts", "const inTrouble = 1;\n"));
        let svelte = "<script>\n  let trouble = 1;\n</script>\n";
        assert!(is_broken("ui/src/a.svelte", svelte));
        assert!(!is_broken("a/src/a.rs", "fn f() {} // trouble\n"));
        assert!(!is_broken("a/src/a.rs", "fn troubled() {}\n"));
    }
}
