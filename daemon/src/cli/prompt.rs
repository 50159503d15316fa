//! Prompts for a secret, or reads it from a file that a script has prepared.

use crate::failure::{CommandResult, Context as _, Failure};
use cairn_space::account_keys::passphrase;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::Path;
use zeroize::Zeroizing;

/// A passphrase from the file, or typed.
pub(super) fn passphrase(file: Option<&Path>, question: &str) -> CommandResult<Zeroizing<String>> {
    match file {
        Some(path) => from_file(path),
        None => read_line(question, "--passphrase-file FILE"),
    }
}

/// The password of a link from the file, or typed.
pub(super) fn link_password(file: Option<&Path>) -> CommandResult<Zeroizing<String>> {
    match file {
        Some(path) => from_file(path),
        None => read_line("Password of the link: ", "--password-file FILE"),
    }
}

/// The way in which a new passphrase is entered.
#[derive(clap::Args, Debug)]
pub(super) struct NewPassphrase {
    /// Accept a new passphrase that is easily guessed
    #[arg(long)]
    allow_weak_passphrase: bool,
}

impl NewPassphrase {
    /// Reads a new passphrase from the file, or from the terminal, twice. `known` are words that a guesser
    /// would try first, such as the account's address.
    ///
    /// # Errors
    /// [`Failure`] if it is easily guessed and that isn't allowed.
    pub(super) fn read(
        &self,
        file: Option<&Path>,
        flag: &str,
        known: &[&str],
    ) -> CommandResult<Zeroizing<String>> {
        let passphrase = match file {
            Some(path) => from_file(path)?,
            None => read_twice(flag)?,
        };
        match weakness(&passphrase, known) {
            Some(weakness) if !self.allow_weak_passphrase => Err(Failure::usage(format!(
                "{weakness} `cairn passphrase generate` makes a good one; --allow-weak-passphrase takes this one"
            ))),
            Some(_) | None => Ok(passphrase),
        }
    }
}

/// Returns why a new passphrase is too weak, or `None` if it is strong enough. The server has what is
/// needed to test guesses, so nothing but the passphrase keeps it from the files.
pub(super) fn weakness(chosen: &str, known: &[&str]) -> Option<String> {
    let strength = passphrase::estimate_strength(chosen, known);
    if strength.is_sufficient() {
        return None;
    }
    let mut text = "This passphrase is too easy to guess.".to_owned();
    for advice in strength.advice() {
        text.push(' ');
        text.push_str(advice);
    }
    Some(text)
}

fn read_twice(flag: &str) -> CommandResult<Zeroizing<String>> {
    let first = read_line(
        "New passphrase (if it is forgotten, nobody can read your files): ",
        flag,
    )?;
    let second = read_line("Again: ", flag)?;
    if *first != *second {
        return Err(Failure::usage(
            "the two passphrases differ: nothing was changed, try again",
        ));
    }
    Ok(first)
}

/// A line that is typed without being shown; `flag` is the way for scripts.
pub(super) fn read_line(question: &str, flag: &str) -> CommandResult<Zeroizing<String>> {
    if !io::stdin().is_terminal() {
        return Err(Failure::usage(format!(
            "there is no terminal to ask at: use {flag}"
        )));
    }
    let typed = rpassword::prompt_password(question)
        .map(Zeroizing::new)
        .context("read from the terminal")?;
    not_empty(typed, "nothing was typed")
}

/// The first line of a file; for `-` the next line of the standard input.
pub(super) fn from_file(path: &Path) -> CommandResult<Zeroizing<String>> {
    let mut text = Zeroizing::new(String::new());
    let read = if path == Path::new("-") {
        io::stdin().read_line(&mut text)
    } else {
        std::fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text))
    };
    read.context(format_args!("read {}", path.display()))?;
    let line = Zeroizing::new(text.lines().next().unwrap_or_default().to_owned());
    not_empty(line, &format!("{} is empty", path.display()))
}

/// Returns whether there is a terminal to ask at.
pub(super) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a question and returns true if the reply is yes; false without a terminal to ask at.
pub(super) fn confirm(question: &str) -> CommandResult<bool> {
    if !is_possible() {
        return Ok(false);
    }
    let mut line = String::new();
    io::stderr()
        .write_all(question.as_bytes())
        .and_then(|()| io::stdin().read_line(&mut line))
        .context("read from the terminal")?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn not_empty(text: Zeroizing<String>, otherwise: &str) -> CommandResult<Zeroizing<String>> {
    if text.is_empty() {
        Err(Failure::usage(otherwise))
    } else {
        Ok(text)
    }
}
