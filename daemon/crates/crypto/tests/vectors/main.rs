//! Reads every vector in `tests/vectors/crypto` and checks that it does what it says: what opens,
//! what it opens to, and the class under which the rest is refused.
//!
//! `CAIRN_WRITE_VECTORS=1` writes them anew from a seeded run; a change in them is a change of format.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod make;
mod operation;
#[path = "../support/seeded.rs"]
mod seeded;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// One file of vectors.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct File {
    about: String,
    /// The fields that all cases have in common.
    base: Map<String, Value>,
    cases: Vec<Case>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Case {
    name: String,
    operation: String,
    /// The fields that differ from the base.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    set: Map<String, Value>,
    /// `ok`, or the class of the error.
    expect: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<Value>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/vectors/crypto")
}

fn run(file: &File, case: &Case) -> (String, Option<Value>) {
    let mut input = file.base.clone();
    input.extend(case.set.clone());
    match operation::run(&case.operation, &Value::Object(input)) {
        Ok(output) => ("ok".to_owned(), Some(output)),
        Err(error) => (error.class().as_str().to_owned(), None),
    }
}

#[test]
fn every_vector_does_what_it_says() {
    if std::env::var_os("CAIRN_WRITE_VECTORS").is_some() {
        for (name, mut file) in make::all() {
            for i in 0..file.cases.len() {
                let (outcome, output) = run(&file, &file.cases[i]);
                assert_eq!(
                    outcome, file.cases[i].expect,
                    "{name}: {}",
                    file.cases[i].name
                );
                file.cases[i].output = output;
            }
            let text = serde_json::to_string_pretty(&file).unwrap();
            std::fs::write(folder().join(format!("{name}.json")), text + "\n").unwrap();
        }
    }
    let (mut positive, mut negative) = (0, 0);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    for path in files {
        let file: File = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for case in &file.cases {
            let (outcome, output) = run(&file, case);
            assert_eq!(outcome, case.expect, "{}: {}", path.display(), case.name);
            assert_eq!(output, case.output, "{}: {}", path.display(), case.name);
            *if case.expect == "ok" {
                &mut positive
            } else {
                &mut negative
            } += 1;
        }
    }
    assert!(
        positive >= 20,
        "only {positive} positive vectors were found"
    );
    assert!(
        negative >= 120,
        "only {negative} negative vectors were found"
    );
}
