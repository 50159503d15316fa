//! The text files of the workspace, and which of their lines are tests.

use crate::lexer::{Lexed, lex};
use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::path::Path;

/// Directories without sources of ours.
const SKIPPED: [&str; 6] = ["target", ".git", "node_modules", "dist", "gen", "snapshots"];

/// One text file.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// From the workspace's root, with `/`.
    pub path: String,
    pub text: String,
    lexed: Lexed,
    /// Inline modules under `#[cfg(test)]`, as lines from 1.
    test_lines: Vec<RangeInclusive<usize>>,
}

impl SourceFile {
    /// A file with that text, as if it stood at `path`.
    #[must_use]
    pub fn new(path: &str, text: &str) -> Self {
        let lexed = if Path::new(path).extension().is_some_and(|e| e == "rs") {
            lex(text)
        } else {
            Lexed::default()
        };
        let test_lines = test_modules(&lexed.code);
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            lexed,
            test_lines,
        }
    }

    #[must_use]
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Returns `true` if the whole file is tests: of a crate's own (`tests.rs`, `tests/…`), or of the
    /// packages that consist of tests.
    #[must_use]
    pub fn is_test(&self) -> bool {
        let of_test_package = [
            "tests/contract/",
            "tests/e2e/",
            "tests/sim/",
            "tests/tidy/",
            "tests/bench/",
        ]
        .iter()
        .any(|dir| self.path.starts_with(dir));
        of_test_package
            || self.path.ends_with("/tests.rs")
            || self.path.contains("/tests/")
            || self.path.contains("benches/")
            || self.path.contains("examples/")
    }

    #[must_use]
    pub fn is_in(&self, dirs: &[&str]) -> bool {
        dirs.iter().any(|dir| self.path.starts_with(dir))
    }

    /// The file's name without directories.
    #[must_use]
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The lines of code, numbered from 1, without comments, insides of literals and test modules.
    pub fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lexed
            .code
            .lines()
            .enumerate()
            .map(|(at, line)| (at + 1, line))
            .filter(|(line, _)| !self.is_test_line(*line))
    }

    /// The code without comments, insides of literals and test modules, with as many lines.
    #[must_use]
    pub fn code_without_tests(&self) -> String {
        let mut text = String::with_capacity(self.text.len());
        for (line, code) in self.code_with_tests() {
            if !self.is_test_line(line) {
                text.push_str(code);
            }
            text.push('\n');
        }
        text
    }

    /// The lines of code of the tests too.
    pub fn code_with_tests(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lexed
            .code
            .lines()
            .enumerate()
            .map(|(at, line)| (at + 1, line))
    }

    /// The text literals outside of test modules.
    pub fn literals(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lexed
            .literals
            .iter()
            .map(|(line, text)| (*line, text.as_str()))
            .filter(|(line, _)| !self.is_test_line(*line))
    }

    pub fn comments(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lexed
            .comments
            .iter()
            .map(|(line, text)| (*line, text.as_str()))
    }

    fn is_test_line(&self, line: usize) -> bool {
        self.test_lines.iter().any(|lines| lines.contains(&line))
    }
}

/// Reads the text files below `root`, sorted by path.
///
/// # Errors
/// The file system's.
pub fn read_all(root: &Path) -> io::Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(dir) = open.pop() {
        for found in fs::read_dir(&dir)? {
            let found = found?;
            let name = found.file_name().to_string_lossy().into_owned();
            let kind = found.file_type()?;
            if kind.is_dir() {
                if !SKIPPED.contains(&name.as_str()) {
                    open.push(found.path());
                }
            } else if kind.is_file() && is_text(&name) {
                let path = found.path();
                let below = path.strip_prefix(root).unwrap_or(&path);
                let below = below.to_string_lossy().replace('\\', "/");
                // What is no UTF-8 is no text of ours.
                if let Ok(text) = String::from_utf8(fs::read(&path)?) {
                    files.push(SourceFile::new(&below, &text));
                }
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn is_text(name: &str) -> bool {
    let extensions = [
        "rs", "toml", "md", "sql", "sh", "ts", "svelte", "html", "css", "yml", "yaml",
    ];
    match name.rsplit_once('.') {
        Some((_, extension)) => extensions.contains(&extension),
        None => name == "run" || name == "LICENSE",
    }
}

/// The lines of `mod x { … }` under `#[cfg(test)]`, found by counting braces.
fn test_modules(code: &str) -> Vec<RangeInclusive<usize>> {
    let lines: Vec<&str> = code.lines().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if !(lines[at].contains("#[cfg(") && lines[at].contains("test")) {
            at += 1;
            continue;
        }
        let (mut depth, mut opened, mut end) = (0_i32, false, at);
        'module: for (line, text) in lines.iter().enumerate().skip(at) {
            for c in text.chars() {
                match c {
                    '{' => {
                        depth += 1;
                        opened = true;
                    }
                    '}' => depth -= 1,
                    // `mod tests;` or a single statement: nothing inline.
                    ';' if !opened => {
                        end = line;
                        break 'module;
                    }
                    _ => {}
                }
            }
            end = line;
            if opened && depth <= 0 {
                break;
            }
        }
        found.push(at + 1..=end + 1);
        at = end + 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_modules_are_left_out_of_the_code() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() { x() }\n}\nfn c() {}\n\
                    #[cfg(test)]\nmod more;\nfn d() {}\n";
        let file = SourceFile::new("daemon/src/x.rs", text);
        let code: String = file.code().map(|(_, line)| line).collect();
        assert_eq!(code, "fn a() {}fn c() {}fn d() {}");
    }

    #[test]
    fn packages_of_tests_and_tests_of_packages_are_tests() {
        let is_test = |path| SourceFile::new(path, "").is_test();
        assert!(!is_test("server/src/routes/nodes.rs"));
        assert!(is_test("server/tests/nodes.rs"));
        assert!(is_test("tests/e2e/src/lib.rs"));
        assert!(is_test("daemon/crates/plan/tests/properties.rs"));
        assert!(is_test("daemon/crates/platform/src/disk/tests.rs"));
        assert!(!is_test("daemon/crates/platform/src/disk.rs"));
    }
}
