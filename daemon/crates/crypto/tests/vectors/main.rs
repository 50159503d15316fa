//! Reads every vector in `tests/vectors/crypto` and `tests/vectors/format2` and checks its expected result:
//! which open, what they open to, and the class of error of the others.
//!
//! `CAIRN_WRITE_VECTORS=1` writes them anew from a seeded run; a change in them is a change of format.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod format2;
mod make;
mod operation;
#[path = "../support/seeded.rs"]
mod seeded;

use cairn_crypto::CryptoError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

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

type Run = fn(&str, &Value) -> Result<Value, CryptoError>;
type Made = Vec<(&'static str, File)>;

fn folder(name: &str) -> PathBuf {
    let vectors = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/vectors");
    vectors.join(name)
}

fn run(operations: Run, file: &File, case: &Case) -> (String, Option<Value>) {
    let mut input = file.base.clone();
    input.extend(case.set.clone());
    match operations(&case.operation, &Value::Object(input)) {
        Ok(output) => ("ok".to_owned(), Some(output)),
        Err(error) => (error.class().as_str().to_owned(), None),
    }
}

fn write(folder: &Path, operations: Run, made: Made) {
    for (name, mut file) in made {
        for i in 0..file.cases.len() {
            let (outcome, output) = run(operations, &file, &file.cases[i]);
            assert_eq!(
                outcome, file.cases[i].expect,
                "{name}: {}",
                file.cases[i].name
            );
            file.cases[i].output = output;
        }
        let text = serde_json::to_string_pretty(&file).unwrap();
        std::fs::write(folder.join(format!("{name}.json")), text + "\n").unwrap();
    }
}

/// Reads all files of a folder.
fn read(folder: &Path) -> Vec<(PathBuf, File)> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect();
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            (path, serde_json::from_str(&text).unwrap())
        })
        .collect()
}

/// Checks all files of a folder and returns how many vectors are positive and negative.
fn check(folder: &Path, operations: Run) -> (usize, usize) {
    let (mut positive, mut negative) = (0, 0);
    for (path, file) in read(folder) {
        for case in &file.cases {
            let (outcome, output) = run(operations, &file, case);
            assert_eq!(outcome, case.expect, "{}: {}", path.display(), case.name);
            assert_eq!(output, case.output, "{}: {}", path.display(), case.name);
            *if case.expect == "ok" {
                &mut positive
            } else {
                &mut negative
            } += 1;
        }
    }
    (positive, negative)
}

fn are_to_be_written() -> bool {
    std::env::var_os("CAIRN_WRITE_VECTORS").is_some()
}

#[test]
fn every_vector_does_what_it_says() {
    let folder = folder("crypto");
    if are_to_be_written() {
        write(&folder, operation::run, make::all());
    }
    let (positive, negative) = check(&folder, operation::run);
    assert!(
        positive >= 20,
        "only {positive} positive vectors were found"
    );
    assert!(
        negative >= 120,
        "only {negative} negative vectors were found"
    );
}

#[test]
fn every_vector_of_format_2_does_what_it_says() {
    let folder = folder("format2");
    if are_to_be_written() {
        write(&folder, format2::run, format2::make::all());
    }
    let (positive, negative) = check(&folder, format2::run);
    assert!(
        positive >= 120,
        "only {positive} positive vectors were found"
    );
    assert!(
        negative >= 250,
        "only {negative} negative vectors were found"
    );
}

#[test]
fn every_mutation_of_a_vector_of_format_2_is_refused_or_another_value() {
    let mut count = 0;
    for (_, file) in read(&folder("format2")) {
        for case in &file.cases {
            count += format2::mutations::check(&file, case);
        }
    }
    assert!(count >= 10_000, "only {count} mutations were made");
}
