//! The first words of the sentences in doc comments.

use crate::{Rule, SourceFile, Violation};

/// Openings that make a question or a clause of a description.
const OPENINGS: [&str; 16] = [
    "What",
    "Whatever",
    "When",
    "Whenever",
    "Where",
    "Wherever",
    "Whether",
    "Which",
    "Whichever",
    "How",
    "Who",
    "Whoever",
    "Whom",
    "Whose",
    "Why",
    "Answers",
];
/// Openings that lean on the name of the item or on what stands before it, where they are the first words of a comment.
const LEANING_OPENINGS: [&str; 16] = [
    "It", "Its", "As", "Of", "For", "To", "By", "They", "Their", "Those", "This", "That", "Not",
    "None", "Nobody", "Nothing",
];
/// Two words, because code is also told from comments, and a noun may follow "That".
const LONG_OPENINGS: [&str; 3] = ["Tells whether", "That of", "So many"];

pub const DOC_OPENINGS: Rule = Rule {
    name: "doc-openings",
    rule: "a sentence of a doc comment begins with a verb in the third person or a noun, not with What, \
           When, Where, Whether, Which, How, Who, Why, their forms in -ever, Answers, So many, That of or Tells whether; \
           the first sentence doesn't begin with It, Its, As, Of, For, To, By, They, Their, Those, This, That, \
           Not, None, Nobody or Nothing either",
    rationale: "\"Returns the …\" and \"The path of …\" say at once which kind of thing it is; a \
                clause has to be turned round in the reader's head, and a fragment makes sense only beside the \
                name of its item",
    find: |workspace| {
        let mut violations = Vec::new();
        for file in &workspace.files {
            for comment in doc_comments(file) {
                for (at, (line, sentence)) in sentences(&comment).into_iter().enumerate() {
                    let leaning = leaning_opening(&sentence).filter(|_| at == 0);
                    if let Some(opening) = leaning.or_else(|| refused_opening(&sentence)) {
                        let detail = format!("a sentence begins with \"{opening}\"");
                        violations.push(Violation::in_line(&file.path, line, detail));
                    }
                }
            }
        }
        violations
    },
};

/// The lines of one doc comment, with their numbers.
type Comment<'a> = Vec<(usize, &'a str)>;

fn leaning_opening(sentence: &str) -> Option<&'static str> {
    let first = first_word(sentence);
    LEANING_OPENINGS.into_iter().find(|word| *word == first)
}

/// Returns the first word of a sentence; empty if it begins with code or a mark.
fn first_word(sentence: &str) -> &str {
    let end = sentence.find(|c: char| !c.is_alphanumeric());
    &sentence[..end.unwrap_or(sentence.len())]
}

fn refused_opening(sentence: &str) -> Option<&'static str> {
    let first = first_word(sentence);
    let short = OPENINGS.into_iter().find(|opening| *opening == first);
    short.or_else(|| {
        LONG_OPENINGS
            .into_iter()
            .find(|opening| sentence.starts_with(opening))
    })
}

fn doc_comments(file: &SourceFile) -> Vec<Comment<'_>> {
    if file.is_rust() {
        rust_comments(file)
    } else if file.path.ends_with(".ts") || file.path.ends_with(".svelte") {
        script_comments(&file.text)
    } else {
        Vec::new()
    }
}

fn rust_comments(file: &SourceFile) -> Vec<Comment<'_>> {
    let mut found: Vec<Comment<'_>> = Vec::new();
    let mut last = None;
    for (line, comment) in file.comments() {
        let kind = comment.chars().next().filter(|c| matches!(c, '/' | '!'));
        let Some(kind) = kind.filter(|_| !comment.starts_with("//")) else {
            continue;
        };
        if last != Some((line - 1, kind)) {
            found.push(Vec::new());
        }
        let text = comment[1..].trim();
        found.last_mut().expect("one was begun").push((line, text));
        last = Some((line, kind));
    }
    found
}

/// Returns the comments between `/**` and `*/`.
fn script_comments(text: &str) -> Vec<Comment<'_>> {
    let mut found: Vec<Comment<'_>> = Vec::new();
    let mut open = false;
    for (at, line) in text.lines().enumerate() {
        let mut rest = line.trim();
        if let Some(begun) = rest.strip_prefix("/**") {
            found.push(Vec::new());
            open = true;
            rest = begun;
        }
        if !open {
            continue;
        }
        if let Some((inside, _)) = rest.split_once("*/") {
            open = false;
            rest = inside;
        }
        let text = rest.trim_start_matches('*').trim();
        found
            .last_mut()
            .expect("one was begun")
            .push((at + 1, text));
    }
    found
}

/// Returns the sentences of a comment, each with the line that it begins in and the rest of that line.
/// Headings and examples are none.
fn sentences(comment: &Comment<'_>) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let (mut begins, mut example) = (true, false);
    for (line, text) in comment {
        let fence = text.starts_with("```");
        example ^= fence;
        if fence || example || text.is_empty() || text.starts_with(['#', '|']) {
            begins = true;
            continue;
        }
        let words: Vec<&str> = text
            .trim_start_matches(['-', '*', ' '])
            .split(' ')
            .collect();
        begins |= text.starts_with(['-', '*']);
        for (at, word) in words.iter().enumerate() {
            if begins {
                found.push((*line, words[at..].join(" ")));
            }
            let word = word.trim_end_matches([')', '"', '`', '*']);
            begins = word.ends_with(['.', '!', '?']);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workspace;

    fn is_broken(path: &str, text: &str) -> bool {
        let workspace = Workspace {
            files: vec![SourceFile::new(path, text)],
            ..Workspace::default()
        };
        DOC_OPENINGS.check(&workspace).is_err()
    }

    #[test]
    fn a_doc_comment_that_opens_as_a_clause_is_a_violation() {
        for bad in [
            "//! What it does.\n",
            "/// Where it is.\nconst A: u8 = 1;\n",
            "struct A {\n    /// Whether it is.\n    a: bool,\n}\n",
            "/// Tells whether it is.\nfn a() {}\n",
            "/// So many at most.\nconst A: u8 = 1;\n",
            "/// That of the copy.\nconst A: u8 = 1;\n",
            "/// Whatever is left.\nfn a() {}\n",
            "struct A {\n    /// Which of two.\n    a: bool,\n    /// When it ends.\n    b: u8,\n}\n",
            "mod a {\n    /// How it is.\n    fn a() {}\n}\n",
        ] {
            assert!(is_broken("a/src/a.rs", bad), "{bad}");
        }
        for good in [
            "//! Tells code from comments.\n",
            "//! The rules, and\n//! What they leave to others.\n",
            "// What follows is a table.\nfn a() {}\n",
            "//// What is no doc comment.\nfn a() {}\n",
        ] {
            assert!(!is_broken("a/src/a.rs", good), "{good}");
        }
    }

    #[test]
    fn a_later_sentence_is_held_to_the_same() {
        for bad in [
            "//! The rules.\n//!\n//! What they leave is for others.\n",
            "/// The rules. Where one fails, the\n/// others hold.\nfn a() {}\n",
            "/// Adds a rule (or two).\n/// Tells whether it did.\nfn a() {}\n",
            "/// The errors.\n///\n/// # Errors\n/// What the disk gives.\nfn a() {}\n",
            "/// The rules:\n/// - Who may\nfn a() {}\n",
        ] {
            assert!(is_broken("a/src/a.rs", bad), "{bad}");
        }
        let example = "/// An example.\n///\n/// ```\n/// What(1)\n/// ```\nfn a() {}\n";
        assert!(!is_broken("a/src/a.rs", example));
        assert!(!is_broken(
            "a/src/a.rs",
            "/// `What` is a word.\nfn a() {}\n"
        ));
    }

    #[test]
    fn a_first_sentence_that_leans_on_its_item_is_a_violation() {
        for word in LEANING_OPENINGS {
            let field = format!("struct A {{\n    /// {word} names.\n    a: u8,\n}}\n");
            assert!(is_broken("a/src/a.rs", &field), "{field}");
            let module = format!("//! {word} names.\n");
            assert!(is_broken("a/src/a.rs", &module), "{module}");
            let later = format!("/// The names. {word} names.\nfn a() {{}}\n");
            assert!(!is_broken("a/src/a.rs", &later), "{later}");
        }
        for good in [
            "/// `None`: the top.\nfn a() {}\n",
            "/// Notes it.\nfn a() {}\n",
            "/// Items of\n/// Its list.\nfn a() {}\n",
        ] {
            assert!(!is_broken("a/src/a.rs", good), "{good}");
        }
    }

    #[test]
    fn the_window_s_sources_are_held_to_it() {
        assert!(is_broken(
            "ui/src/a.ts",
            "/** Why it failed. */\nlet a = 1;\n"
        ));
        assert!(is_broken(
            "ui/src/a.ts",
            "/**\n * The value. What else?\n */\nlet a = 1;\n"
        ));
        assert!(!is_broken(
            "ui/src/a.ts",
            "// What follows.\n/** The value. */\nlet a = 1;\n"
        ));
    }
}
