//! Asking a person for a secret, or reading it from a file that a script has prepared.

use crate::failure::{Doing as _, Failure, Outcome};
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::Path;
use zeroize::Zeroizing;

/// A passphrase from the file, or typed.
pub(super) fn passphrase(file: Option<&Path>, question: &str) -> Outcome<Zeroizing<String>> {
    match file {
        Some(path) => from_file(path),
        None => typed(question, "--passphrase-file FILE"),
    }
}

/// A new passphrase from the file, or typed twice.
pub(super) fn new_passphrase(file: Option<&Path>, flag: &str) -> Outcome<Zeroizing<String>> {
    if let Some(path) = file {
        return from_file(path);
    }
    let first = typed(
        "New passphrase (if it is forgotten, nobody can read your files): ",
        flag,
    )?;
    let second = typed("Again: ", flag)?;
    if *first != *second {
        return Err(Failure::usage(
            "the two passphrases differ: nothing was changed, try again",
        ));
    }
    Ok(first)
}

/// A line that is typed without being shown; `flag` is the way for scripts.
pub(super) fn typed(question: &str, flag: &str) -> Outcome<Zeroizing<String>> {
    if !io::stdin().is_terminal() {
        return Err(Failure::usage(format!(
            "there is no terminal to ask at: use {flag}"
        )));
    }
    let answer = rpassword::prompt_password(question)
        .map(Zeroizing::new)
        .doing("read from the terminal")?;
    not_empty(answer, "nothing was typed")
}

/// The first line of a file; for `-` the next line of the standard input.
pub(super) fn from_file(path: &Path) -> Outcome<Zeroizing<String>> {
    let mut text = Zeroizing::new(String::new());
    let read = if path == Path::new("-") {
        io::stdin().read_line(&mut text)
    } else {
        std::fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text))
    };
    read.doing(format_args!("read {}", path.display()))?;
    let line = Zeroizing::new(text.lines().next().unwrap_or_default().to_owned());
    not_empty(line, &format!("{} is empty", path.display()))
}

/// Asks a question and returns true if the answer is yes; false without a terminal to ask at.
pub(super) fn confirmed(question: &str) -> Outcome<bool> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(false);
    }
    let mut line = String::new();
    io::stderr()
        .write_all(question.as_bytes())
        .and_then(|()| io::stdin().read_line(&mut line))
        .doing("read from the terminal")?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn not_empty(text: Zeroizing<String>, otherwise: &str) -> Outcome<Zeroizing<String>> {
    if text.is_empty() {
        Err(Failure::usage(otherwise))
    } else {
        Ok(text)
    }
}
