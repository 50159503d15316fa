//! Decisions of generated rules files, compared with those of the real git.

use super::*;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

const CASES: usize = 400;
/// The paths of each case; those that end with a slash are directories.
const PATHS: &[&str] = &[
    "a/",
    "a/a",
    "a/ab",
    "a/x.log",
    "a/b/",
    "a/b/a",
    "a/b/keep.log",
    "a/b/build/",
    "a/b/build/a",
    "a/b/c/",
    "a/b/c/x.log",
    "a/b/c/#x",
    "b",
    "ab",
    "abc",
    "build/",
    "build/x.log",
    "build/a/",
    "build/a/keep.log",
    "c",
    "d e/",
    "d e/a b",
    "d e/!x",
    "x.log",
    "keep.log",
    "#x",
    "!x",
    "a b",
    "[a]",
    "{a,b}",
    "x1",
    "z/",
    "z/a/",
    "z/a/b/",
    "z/a/b/x.log",
    "z/build",
    "a,b",
    "-",
    "]",
    "^b",
];
/// Directories that may have a rules file.
const DIRS: &[&str] = &["", "a", "a/b", "a/b/c", "build", "z", "z/a", "d e"];
const PARTS: &[&str] = &[
    "a",
    "b",
    "ab",
    "build",
    "x.log",
    "keep.log",
    "c",
    "z",
    "*",
    "*",
    "**",
    "**",
    "***",
    "?",
    "??",
    "*.log",
    "a*",
    "*b",
    "a?",
    "*.?og",
    "k*p.log",
    "[ab]",
    "[!a]",
    "[^b]*",
    "[a-c]",
    "[c-a]",
    "[]]",
    "[]a-]",
    "[-a]",
    "[!]]",
    "[a",
    "[[:alpha:]]",
    "[[:digit:]x]*",
    "[[:nope:]]",
    "x[[:digit:]]",
    "[[:punct:]]*",
    "\\#x",
    "\\!x",
    "#x",
    "a b",
    "a\\ b",
    "d\\ e",
    "{a,b}",
    "\\{a,b}",
    "a,b",
    "\\[a]",
    "[[]a]",
    "\\a",
    "a\\",
    "x*",
    "*x*",
    "b*d",
    "[\\]]",
    "[\\^]b",
    "[!^]*",
];

/// Numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn line(&mut self) -> String {
        if self.one_in(15) {
            return ["", "# a", "   ", "/", "!", "//", "a//b", "**/"][self.below(8)].to_owned();
        }
        let mut line = String::new();
        if self.one_in(4) {
            line.push('!');
        }
        if self.one_in(4) {
            line.push('/');
        }
        let parts = [1, 1, 1, 2, 2, 3][self.below(6)];
        let parts: Vec<&str> = (0..parts).map(|_| PARTS[self.below(PARTS.len())]).collect();
        line.push_str(&parts.join("/"));
        if self.one_in(4) {
            line.push('/');
        }
        line.push_str(["", "", "", "", "", "", " ", "  ", "\\ ", "\r"][self.below(10)]);
        line
    }

    /// Returns the texts of the rules files of a case.
    fn rules(&mut self) -> BTreeMap<RelPath, String> {
        let files = 1 + self.below(4);
        let mut texts = BTreeMap::new();
        for n in 0..files {
            let dir = DIRS[if n == 0 { 0 } else { self.below(DIRS.len()) }];
            let lines: Vec<String> = (0..=self.below(5)).map(|_| self.line()).collect();
            let mark = if self.one_in(20) { "\u{feff}" } else { "" };
            let text = format!("{mark}{}\n", lines.join("\n"));
            texts.insert(RelPath::parse(dir).unwrap(), text);
        }
        texts
    }
}

fn git(repo: &Path) -> Command {
    let mut git = Command::new("git");
    git.current_dir(repo)
        .env("HOME", repo)
        .env("XDG_CONFIG_HOME", repo)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env_remove("GIT_DIR");
    git
}

/// Returns those of the paths that git ignores.
fn ignored_by_git(repo: &Path, paths: &[String]) -> BTreeSet<String> {
    let mut asked = git(repo)
        .args(["check-ignore", "--no-index", "-z", "--stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("git is there");
    let mut input = asked.stdin.take().unwrap();
    let question = paths.join("\0");
    let writer = std::thread::spawn(move || input.write_all(question.as_bytes()));
    let answer = asked.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(matches!(answer.status.code(), Some(0 | 1)), "{answer:?}");
    let answer = String::from_utf8(answer.stdout).unwrap();
    answer.split_terminator('\0').map(str::to_owned).collect()
}

#[test]
fn generated_rules_decide_as_git_does() {
    let repo = tempfile::tempdir().unwrap();
    let made = git(repo.path()).args(["init", "-q"]).status();
    assert!(made.expect("git is there").success());
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut cases = Vec::new();
    let mut asked = Vec::new();
    for case in 0..CASES {
        let dir = format!("case{case}");
        for path in PATHS {
            let place = repo.path().join(&dir).join(path);
            match path.ends_with('/') {
                true => std::fs::create_dir_all(place).unwrap(),
                false => std::fs::write(place, "x").unwrap(),
            }
            asked.push(format!("{dir}/{}", path.trim_end_matches('/')));
        }
        let texts = numbers.rules();
        for (below, text) in &texts {
            let place = below.to_path(&repo.path().join(&dir));
            std::fs::write(place.join(".gitignore"), text).unwrap();
        }
        cases.push((dir, texts));
    }
    let ignored = ignored_by_git(repo.path(), &asked);
    let mut count = 0;
    for (dir, files) in cases {
        let texts = Texts {
            files,
            ..Texts::default()
        };
        let rules = Rules::new(&texts, &FolderSettings::default());
        for path in PATHS {
            let (name, is_dir) = (path.trim_end_matches('/'), path.ends_with('/'));
            let here = rules.ignores(&RelPath::parse(name).unwrap(), is_dir);
            let there = ignored.contains(&format!("{dir}/{name}"));
            assert_eq!(here, there, "{dir}: {path} by {:#?}", texts.files);
            count += usize::from(here);
        }
    }
    let all = CASES * PATHS.len();
    assert!(
        count > all / 20 && count < all * 19 / 20,
        "{count} of {all}"
    );
}
