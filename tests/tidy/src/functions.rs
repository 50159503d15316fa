//! The functions of a Rust source: how long each is, and which are flat.
//!
//! A flat function may be long, because reading it takes no memory: it is one table, one `match`
//! whose arms are short, or one chain of calls, with a few lines before and after.

/// One function with a body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    pub name: String,
    /// The line of `fn`, from 1.
    pub line: usize,
    /// From `fn` to the closing brace.
    pub lines: usize,
    pub is_flat: bool,
}

/// The longest arm of a flat match.
const ARM_LINES: usize = 12;
/// Lines of a flat function outside its one big statement.
const OTHER_LINES: usize = 15;

/// Finds the functions in code without comments and literals; nested ones are part of the outer one.
#[must_use]
pub fn find(code: &str) -> Vec<Function> {
    let mut functions = Vec::new();
    let mut at = 0;
    while let Some(start) = next_fn(code, at) {
        let name: String = code[start + 3..]
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        let Some((open, close)) = body(code, start) else {
            at = start + 3;
            continue;
        };
        functions.push(Function {
            name,
            line: line_of(code, start),
            lines: lines_in(&code[start..=close]),
            is_flat: is_flat(&code[open + 1..close]),
        });
        at = close;
    }
    functions
}

fn next_fn(code: &str, from: usize) -> Option<usize> {
    code[from..]
        .match_indices("fn ")
        .map(|(at, _)| from + at)
        .find(|at| {
            let before = code[..*at].chars().next_back();
            let after = code[at + 3..].chars().next();
            !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
                && after.is_some_and(|c| c.is_alphabetic() || c == '_')
        })
}

/// Returns the indices of the braces of the body that follows a signature; `None` for a mere
/// declaration.
fn body(code: &str, start: usize) -> Option<(usize, usize)> {
    let mut depth = 0_i32;
    for (at, c) in code[start..].char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ';' if depth == 0 => return None,
            '{' if depth == 0 => {
                let open = start + at;
                return Some((open, closing_brace(code, open)?));
            }
            _ => {}
        }
    }
    None
}

fn closing_brace(code: &str, open: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, c) in code[open..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(open + at);
                }
            }
            _ => {}
        }
    }
    None
}

fn is_flat(body: &str) -> bool {
    let all = lines_in(body);
    let Some(longest) = statements(body).into_iter().max_by_key(|s| lines_in(s)) else {
        return true;
    };
    if all - lines_in(longest).min(all) > OTHER_LINES {
        return false;
    }
    match one_match(longest) {
        Some(arms) => longest_block(arms) <= ARM_LINES,
        None => !branches(longest),
    }
}

/// Returns the inside of the `match` that the statement consists of.
fn one_match(statement: &str) -> Option<&str> {
    let open = statement.find('{')?;
    has_word(&statement[..open], "match").then_some(())?;
    Some(&statement[open + 1..closing_brace(statement, open)?])
}

/// Returns the number of lines of the longest part in braces.
fn longest_block(code: &str) -> usize {
    let mut longest = 0;
    let mut rest = code;
    while let Some(open) = rest.find('{') {
        let Some(close) = closing_brace(rest, open) else {
            break;
        };
        longest = longest.max(lines_in(&rest[open..=close]));
        rest = &rest[close + 1..];
    }
    longest
}

fn branches(code: &str) -> bool {
    ["if", "for", "while", "loop", "match"]
        .iter()
        .any(|word| has_word(code, word))
}

/// Splits a body at its semicolons and after its blocks.
fn statements(body: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut depth, mut start) = (0_i32, 0);
    for (at, c) in body.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' => depth -= 1,
            '}' => {
                depth -= 1;
                if depth == 0 && ends_statement(&body[at + 1..]) {
                    found.push(&body[start..=at]);
                    start = at + 1;
                }
            }
            ';' if depth == 0 => {
                found.push(&body[start..=at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&body[start..]);
    found.retain(|statement| !statement.trim().is_empty());
    found
}

/// Returns `true` if what follows a block begins anew: no method, operator or `else`.
fn ends_statement(rest: &str) -> bool {
    let next = rest.trim_start();
    next.starts_with(|c: char| c.is_alphabetic() || c == '#' || c == '}')
        && !next.starts_with("else")
        || next.is_empty()
}

fn has_word(code: &str, word: &str) -> bool {
    crate::glossary::identifiers(code).any(|found| found == word)
}

fn line_of(code: &str, at: usize) -> usize {
    1 + code[..at].matches('\n').count()
}

fn lines_in(code: &str) -> usize {
    1 + code.trim().matches('\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only_function(code: &str) -> Function {
        let found = find(code);
        assert_eq!(found.len(), 1, "{found:?}");
        found.into_iter().next().unwrap()
    }

    #[test]
    fn functions_are_found_with_their_length() {
        let code = "trait T { fn a(&self); }\nimpl T for X {\n    fn a(&self) {\n        b();\n    }\n\
                    }\nconst F: fn (u8) = c;\nfn d<const N: usize>(x: [u8; 3]) { fn e() {} }\n";
        let found = find(code);
        let names: Vec<_> = found.iter().map(|f| (&*f.name, f.line, f.lines)).collect();
        assert_eq!(names, [("a", 3, 3), ("d", 8, 1)]);
    }

    #[test]
    fn a_table_and_a_chain_are_flat() {
        let rows = "    row(1),\n".repeat(80);
        assert!(
            only_function(&format!(
                "fn a() -> X {{\n    let x = 1;\n    [\n{rows}    ]\n}}\n"
            ))
            .is_flat
        );
        let calls = "        .with(x)\n".repeat(80);
        assert!(only_function(&format!("fn a() -> X {{\n    new()\n{calls}}}\n")).is_flat);
    }

    #[test]
    fn a_match_with_short_arms_is_flat() {
        let arms = "        A => { b() }\n".repeat(80);
        let code = format!("fn a(x: X) -> Y {{\n    match x {{\n{arms}    }}\n}}\n");
        assert!(only_function(&code).is_flat);
        let long = "            b();\n".repeat(20);
        let code = code.replacen("{ b() }", &format!("{{\n{long}        }}"), 1);
        assert!(!only_function(&code).is_flat);
    }

    #[test]
    fn many_statements_or_branches_are_not_flat() {
        let calls = "    b();\n".repeat(61);
        assert!(!only_function(&format!("fn a() {{\n{calls}}}\n")).is_flat);
        let body = "        if x { y() }\n".repeat(61);
        assert!(
            !only_function(&format!("fn a() {{\n    for x in y {{\n{body}    }}\n}}\n")).is_flat
        );
    }
}
