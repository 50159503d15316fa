//! `use` declarations and paths, as they stand in code without comments and literals.

use std::collections::BTreeSet;

/// One name that a `use` declaration brings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Use {
    /// The whole path; `*` ends a path that brings all names.
    pub(super) path: Vec<String>,
    /// The name by which this file knows it.
    pub(super) name: String,
    /// Passed on to others.
    pub(super) is_public: bool,
}

/// Returns the names that declarations bring, and the code without the declarations.
pub(super) fn uses(code: &str) -> (Vec<Use>, String) {
    let mut found = Vec::new();
    let mut rest = String::new();
    let mut at = 0;
    while let Some((start, tree)) = next_use(code, at) {
        let end = code[tree..].find(';').map_or(code.len(), |len| tree + len);
        let line_start = code[..start].rfind('\n').map_or(0, |before| before + 1);
        let is_public = code[line_start..start].trim_start().starts_with("pub");
        expand(&code[tree..end], &[], &mut |path, name| {
            found.push(Use {
                path,
                name,
                is_public,
            });
        });
        rest.push_str(&code[at..start]);
        at = end;
    }
    rest.push_str(&code[at..]);
    (found, rest)
}

/// Returns the index of the next `use` and that of its tree.
fn next_use(code: &str, from: usize) -> Option<(usize, usize)> {
    code[from..]
        .match_indices("use ")
        .map(|(at, _)| from + at)
        .find(|at| {
            let before = code[..*at].chars().next_back();
            !before.is_some_and(is_word)
        })
        .map(|at| (at, at + 4))
}

/// Calls `add` with each path and name of a tree such as `a::{b, c::{self, d as e}}`.
fn expand(tree: &str, prefix: &[String], add: &mut impl FnMut(Vec<String>, String)) {
    let tree = tree.trim();
    if let Some(open) = tree.find('{') {
        let mut path = prefix.to_vec();
        path.extend(parts(&tree[..open]));
        let close = tree.rfind('}').unwrap_or(tree.len());
        for branch in branches(&tree[open + 1..close]) {
            expand(branch, &path, add);
        }
        return;
    }
    let (path, alias) = match tree.split_once(" as ") {
        Some((path, alias)) => (path, Some(alias.trim().to_owned())),
        None => (tree, None),
    };
    let mut whole = prefix.to_vec();
    whole.extend(parts(path));
    if whole.len() > 1 && whole.last().is_some_and(|last| last == "self") {
        whole.pop();
    }
    let name = alias.or_else(|| whole.last().cloned());
    if let Some(name) = name {
        add(whole, name);
    }
}

fn parts(path: &str) -> impl Iterator<Item = String> {
    path.split("::")
        .map(|part| part.trim().to_owned())
        .filter(|part| !part.is_empty())
}

/// Splits the inside of braces at its own commas.
fn branches(inside: &str) -> Vec<&str> {
    let (mut depth, mut start) = (0_i32, 0);
    let mut found = Vec::new();
    for (at, c) in inside.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&inside[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&inside[start..]);
    found.retain(|branch| !branch.trim().is_empty());
    found
}

/// Returns the paths of two parts and more, such as `super::a::f`.
pub(super) fn inline_paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let path_chars = |c: char| is_word(c) || c == ':';
    for text in code.split(|c: char| !path_chars(c)) {
        // `x: super::A` is split at the blank, `x:super::A` is not written by rustfmt.
        let path: Vec<String> = parts(text.trim_matches(':')).collect();
        if path.len() > 1 && path.iter().all(|part| part.chars().all(is_word)) {
            found.push(path);
        }
    }
    found
}

/// Returns the words that are not parts of paths; names of module declarations are left out.
pub(super) fn single_words(code: &str) -> BTreeSet<String> {
    let path_chars = |c: char| is_word(c) || c == ':';
    let mut words = BTreeSet::new();
    let mut before = "";
    for text in code.split(|c: char| !path_chars(c)) {
        let word = text.trim_matches(':');
        if !word.is_empty() && word.chars().all(is_word) && before != "mod" {
            words.insert(word.to_owned());
        }
        if !word.is_empty() {
            before = word;
        }
    }
    words
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_expanded() {
        let code =
            "use crate::{a::A, b::{self, C as D}};\npub(crate) use super::e::*;\nfn f() {}\n";
        let (found, rest) = uses(code);
        let flat: Vec<_> = found
            .iter()
            .map(|u| format!("{} {} {}", u.path.join("::"), u.name, u.is_public))
            .collect();
        assert_eq!(
            flat,
            [
                "crate::a::A A false",
                "crate::b b false",
                "crate::b::C D false",
                "super::e::* * true",
            ]
        );
        assert!(
            rest.contains("fn f()") && !rest.contains("crate::"),
            "{rest}"
        );
    }

    #[test]
    fn paths_in_code_are_found() {
        let found = inline_paths("fn f(x: super::A) -> B { c::d(x).e::<u8>(); X::Y }");
        let flat: Vec<_> = found.iter().map(|path| path.join("::")).collect();
        assert_eq!(flat, ["super::A", "c::d", "X::Y"]);
    }
}
