//! Code that is allowed in some places only.

use crate::{Rule, SourceFile, Violation, Workspace};

const PLATFORM: &str = "daemon/crates/platform/";
const PLAN: &str = "daemon/crates/plan/src/";

/// The places that may write to stdout: the command line, the MCP transport, and programs.
const MAY_PRINT: [&str; 7] = [
    "daemon/src/cli",
    "daemon/src/output",
    "daemon/src/main.rs",
    "daemon/crates/mcp/src/server",
    "server/src/output.rs",
    "src-tauri/src/main.rs",
    "xtask/",
];

/// The server doesn't depend on the daemon's crates. Programs for developers run on one kind of machine.
const MAY_ASK_FOR_SYSTEM: [&str; 6] = [
    PLATFORM,
    "server/store/src/private_files.rs",
    "server/service/src/serve/vanished.rs",
    "server/src/signals.rs",
    "tests/",
    "xtask/",
];

pub const NO_MACHINE_CODE_OUTSIDE: Rule = Rule {
    name: "systems",
    rule: "the platform crate alone asks for the system; of the server, one file for modes of files, one for \
           signals and one for connections",
    rationale: "what differs between systems is tested per system; scattered, it is tested nowhere",
    find: |workspace| {
        const ASKS: [&str; 5] = [
            "target_os",
            "target_family",
            "consts::OS",
            "cfg(unix)",
            "cfg(not(unix))",
        ];
        let outside = workspace
            .rust_files()
            .filter(|file| !file.is_in(&MAY_ASK_FOR_SYSTEM) && !file.is_test());
        let in_file = |file: &SourceFile| -> Vec<Violation> {
            file.code()
                .filter(|(_, code)| ASKS.iter().any(|asks| code.contains(asks)))
                .map(|(line, _)| {
                    let detail = "asks for the system: move it to platform";
                    Violation::in_line(&file.path, line, detail)
                })
                .collect()
        };
        outside.flat_map(in_file).collect()
    },
};

pub const UNSAFE_AT_HOME: Rule = Rule {
    name: "unsafe",
    rule: "unsafe code stands in the platform crate only",
    rationale: "memory errors in a program that holds keys are the worst kind; one crate can be audited",
    find: |workspace| {
        code_outside(workspace, &[PLATFORM], |line| {
            has_word(line, "unsafe").then_some("is unsafe: move it to platform, or avoid it")
        })
    },
};

pub const SQL_AT_HOME: Rule = Rule {
    name: "sql",
    rule: "SQL stands in the index and in the server's store only",
    rationale: "a query outside its schema's crate is the one that a migration breaks silently",
    find: |workspace| {
        let homes = ["daemon/crates/index/", "server/store/"];
        let mut violations = Vec::new();
        for file in workspace.files.iter().filter(|f| !f.is_in(&homes)) {
            if file.path.ends_with(".sql") {
                violations.push(Violation::new(&file.path, "is SQL"));
            }
            if file.is_test() {
                continue;
            }
            for (line, text) in file.literals() {
                if is_sql(text) {
                    violations.push(Violation::in_line(&file.path, line, format!("`{text}`")));
                }
            }
        }
        violations
    },
};

pub const QUIET: Rule = Rule {
    name: "stdout",
    rule: "only the command line, the MCP transport and programs of their own write to stdout",
    rationale: "in `cairn mcp` stdout is the protocol, and with --json it is one document: a stray line \
              breaks the other side",
    find: |workspace| {
        let mut violations = Vec::new();
        for file in workspace
            .rust_files()
            .filter(|f| !f.is_in(&MAY_PRINT) && !f.is_test())
        {
            for (line, code) in file.code() {
                let prints = ["println!", "print!", "stdout()"]
                    .iter()
                    .any(|call| has_word(code, call));
                if prints {
                    violations.push(Violation::in_line(&file.path, line, "writes to stdout"));
                }
            }
        }
        violations
    },
};

pub const PURE_PLAN: Rule = Rule {
    name: "pure-plan",
    rule: "the planner does no IO, reads no clock, draws no randomness, is not async, can't fail",
    rationale: "its properties (nothing is lost, everything converges) are tested on ten thousand random trees \
              a run; that only counts if nothing else decides",
    find: |workspace| {
        const BANNED: [&str; 10] = [
            "async",
            "await",
            "std::fs",
            "std::io",
            "std::net",
            "std::time",
            "std::thread",
            "panic!",
            "unreachable!",
            "expect",
        ];
        let mut violations = Vec::new();
        for file in workspace
            .rust_files()
            .filter(|f| f.is_in(&[PLAN]) && !f.is_test())
        {
            for (line, code) in file.code() {
                for banned in BANNED.iter().filter(|word| has_word(code, word)) {
                    violations.push(Violation::in_line(&file.path, line, format!("`{banned}`")));
                }
                if code.contains("fn reconcile(") && !code.contains("-> Plan") {
                    violations.push(Violation::in_line(
                        &file.path,
                        line,
                        "doesn't return a Plan",
                    ));
                }
            }
        }
        violations
    },
};

pub const CLOCKLESS_TESTS: Rule = Rule {
    name: "sleep",
    rule: "tests wait for events, never for the clock",
    rationale: "a test that sleeps is slow on a fast machine and wrong on a slow one",
    find: |workspace| {
        // One place in the harness may poll what has no event, with a deadline; the programs for
        // measuring watch processes that are not ours; the simulator has a clock of its own.
        let harness = ["tests/e2e/src/", "tests/bench/", "tests/sim/src/"];
        let mut violations = Vec::new();
        for file in workspace.rust_files().filter(|f| !f.is_in(&harness)) {
            let tests_from = file.code().map(|(line, _)| line).collect::<Vec<_>>();
            for (line, code) in file.code_with_tests() {
                let in_test = file.is_test() || tests_from.binary_search(&line).is_err();
                if in_test
                    && ["sleep(", "sleep_until("]
                        .iter()
                        .any(|call| has_word(code, call))
                {
                    violations.push(Violation::in_line(&file.path, line, "sleeps"));
                }
            }
        }
        violations
    },
};

fn code_outside(
    workspace: &Workspace,
    homes: &[&str],
    find: impl Fn(&str) -> Option<&'static str>,
) -> Vec<Violation> {
    let outside = workspace.rust_files().filter(|file| !file.is_in(homes));
    let in_file = |file: &SourceFile| -> Vec<Violation> {
        file.code_with_tests()
            .filter_map(|(line, code)| Some(Violation::in_line(&file.path, line, find(code)?)))
            .collect()
    };
    outside.flat_map(in_file).collect()
}

/// Returns `true` if `word` is in `line` and isn't the end of a longer word.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let closed = word.ends_with(|c: char| !is_part(c)) || !after.is_some_and(is_part);
        !before.is_some_and(is_part) && closed
    })
}

/// Statements as they are written: keywords in capitals.
fn is_sql(text: &str) -> bool {
    let pairs = [
        ("SELECT ", " FROM "),
        ("INSERT ", " INTO "),
        ("INSERT INTO ", ""),
        ("UPDATE ", " SET "),
        ("DELETE FROM ", ""),
        ("CREATE TABLE ", ""),
        ("PRAGMA ", ""),
    ];
    pairs.iter().any(|(start, then)| {
        text.find(start)
            .is_some_and(|at| text[at + start.len() - 1..].contains(then))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_broken(rule: Rule, path: &str, text: &str) -> bool {
        let workspace = Workspace {
            files: vec![SourceFile::new(path, text)],
            ..Workspace::default()
        };
        rule.check(&workspace).is_err()
    }

    #[test]
    fn what_belongs_to_the_platform_is_a_violation_elsewhere() {
        let cfg = "#[cfg(target_os = \"linux\")]\nfn f() {}";
        assert!(is_broken(
            NO_MACHINE_CODE_OUTSIDE,
            "daemon/crates/engine/src/a.rs",
            cfg
        ));
        assert!(!is_broken(
            NO_MACHINE_CODE_OUTSIDE,
            "daemon/crates/platform/src/a.rs",
            cfg
        ));
        let tray = "src-tauri/src/a.rs";
        for asks in [
            "#[cfg(unix)]\nfn f() {}",
            "fn f() -> bool { std::env::consts::OS == \"linux\" }",
        ] {
            assert!(is_broken(NO_MACHINE_CODE_OUTSIDE, tray, asks), "{asks}");
            let test = format!("#[cfg(test)]\nmod tests {{\n{asks}\n}}");
            assert!(!is_broken(NO_MACHINE_CODE_OUTSIDE, tray, &test), "{asks}");
        }
        let code = "fn f() { unsafe { g() } }";
        assert!(is_broken(
            UNSAFE_AT_HOME,
            "daemon/crates/engine/src/a.rs",
            code
        ));
        let comment = "// never unsafe\nfn not_unsafe_here() {}";
        assert!(!is_broken(
            UNSAFE_AT_HOME,
            "daemon/crates/engine/src/a.rs",
            comment
        ));
    }

    #[test]
    fn sql_is_a_violation_outside_its_homes() {
        let code = "fn f() { q(\"SELECT a\\n  FROM b\"); }".replace("\\n", " ");
        assert!(is_broken(
            SQL_AT_HOME,
            "daemon/crates/engine/src/a.rs",
            &code
        ));
        assert!(!is_broken(
            SQL_AT_HOME,
            "daemon/crates/index/src/a.rs",
            &code
        ));
        assert!(!is_broken(SQL_AT_HOME, "server/store/src/a.rs", &code));
        let prose = "fn f() { q(\"select a file from the list\"); }";
        assert!(!is_broken(SQL_AT_HOME, "daemon/src/cli/a.rs", prose));
    }

    #[test]
    fn printing_is_a_violation_in_a_library() {
        let code = "fn f() { println!(\"x\"); }";
        assert!(is_broken(QUIET, "daemon/crates/engine/src/a.rs", code));
        assert!(!is_broken(QUIET, "daemon/src/cli/status.rs", code));
        assert!(!is_broken(
            QUIET,
            "daemon/crates/engine/src/a.rs",
            "fn f() { eprintln!(); }"
        ));
        let test = format!("#[cfg(test)]\nmod tests {{\n{code}\n}}");
        assert!(!is_broken(QUIET, "daemon/crates/engine/src/a.rs", &test));
    }

    #[test]
    fn a_planner_that_waits_or_guesses_is_a_violation() {
        let path = "daemon/crates/plan/src/a.rs";
        for bad in [
            "async fn f() {}",
            "use std::time::Instant;",
            "fn f() { panic!() }",
            "pub fn reconcile(a: &Trees) -> Result<Plan, E> {",
        ] {
            assert!(is_broken(PURE_PLAN, path, bad), "{bad}");
        }
        assert!(!is_broken(
            PURE_PLAN,
            path,
            "pub fn reconcile(a: &Trees) -> Plan {"
        ));
    }

    #[test]
    fn a_sleeping_test_is_a_violation() {
        let test = "#[cfg(test)]\nmod tests {\n    fn f() { std::thread::sleep(x); }\n}";
        assert!(is_broken(CLOCKLESS_TESTS, "daemon/src/a.rs", test));
        assert!(!is_broken(
            CLOCKLESS_TESTS,
            "daemon/src/a.rs",
            "fn f() { clock.sleep(x); }"
        ));
        assert!(is_broken(
            CLOCKLESS_TESTS,
            "tests/e2e/tests/a.rs",
            "fn f() { sleep(x); }"
        ));
    }
}
