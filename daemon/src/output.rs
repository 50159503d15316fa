//! Output of a command: lines and tables for people, one JSON document for programs.
//!
//! stdout carries the result alone; notes, prompts and progress go to stderr. Names come from other
//! devices and from the server, so nothing in them reaches the terminal as a control character.

pub(crate) mod node;
pub(crate) mod progress;
pub(crate) mod table;
pub(crate) mod text;

use crate::failure::{CommandResult, Failure};
use console::Term;
use serde::Serialize;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Emphasis of text on a terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Style {
    Good,
    Warning,
    Bad,
    Dim,
    Bold,
}

impl Style {
    /// The SGR parameters of ECMA-48.
    fn code(self) -> &'static str {
        match self {
            Self::Good => "32",
            Self::Warning => "33",
            Self::Bad => "31",
            Self::Dim => "2",
            Self::Bold => "1",
        }
    }
}

/// The two streams of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Out {
    /// Programs read it.
    pub(crate) json: bool,
    colour: bool,
    /// A person watches stderr.
    pub(crate) watched: bool,
    /// The width of the terminal that the result goes to.
    columns: Option<usize>,
}

impl Out {
    pub(crate) fn new(json: bool) -> Self {
        Self {
            json,
            colour: !json && io::stdout().is_terminal() && allows_colour(std::env::var_os),
            watched: !json && io::stderr().is_terminal(),
            columns: (Term::stdout().size_checked().filter(|_| !json))
                .map(|(_, columns)| usize::from(columns)),
        }
    }

    /// Writes a line for people; programs don't get it.
    pub(crate) fn line(&self, text: impl Display) {
        if !self.json {
            put(&format!("{text}\n"));
        }
    }

    /// Writes text as it is, such as a script or a log.
    pub(crate) fn raw(&self, text: &str) {
        put(text);
    }

    /// Writes the document for programs; people don't get it.
    pub(crate) fn json<T: Serialize + ?Sized>(&self, value: &T) {
        if self.json {
            // Values of our own types always serialise.
            let text = serde_json::to_string_pretty(value).unwrap_or_default();
            put(&format!("{text}\n"));
        }
    }

    /// Writes one line of a stream of documents.
    pub(crate) fn json_line<T: Serialize>(&self, value: &T) {
        if self.json {
            put(&format!(
                "{}\n",
                serde_json::to_string(value).unwrap_or_default()
            ));
        }
    }

    /// Writes a secret that can't be shown again: as a text for people, or as a document for programs.
    ///
    /// # Errors
    /// The failure to write it; here a reader that is gone is one, too.
    pub(crate) fn show_once(&self, text: &str, document: &serde_json::Value) -> io::Result<()> {
        if self.json {
            write(&format!("{document:#}\n"))
        } else {
            write(&format!("{text}\n"))
        }
    }

    /// Writes a secret that can't be shown again to people; programs get it in the document.
    ///
    /// # Errors
    /// As [`Self::show_once`].
    pub(crate) fn show_people_once(&self, text: &str) -> io::Result<()> {
        match self.json {
            true => Ok(()),
            false => write(&format!("{text}\n")),
        }
    }

    /// Writes a remark that is no part of the result.
    pub(crate) fn note(&self, text: impl Display) {
        // If stderr is gone, nobody misses the remark.
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// The text in a style, where that shows.
    pub(crate) fn paint(&self, style: Style, text: impl Display) -> String {
        if self.colour {
            format!("\x1b[{}m{text}\x1b[0m", style.code())
        } else {
            text.to_string()
        }
    }
}

/// Returns whether the environment allows colours on a terminal, as clap has it for the help texts.
fn allows_colour(variable: impl Fn(&'static str) -> Option<OsString>) -> bool {
    let is = |name, value: &str| variable(name).is_some_and(|found| found == value);
    let is_refused = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
    !is_refused && !is("CLICOLOR", "0") && !is("TERM", "dumb")
}

fn put(text: &str) {
    if let Err(error) = write(text) {
        note_lost(error);
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// The first failure to write the result.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Notes that a part of the result could not be written, for the exit code.
fn note_lost(error: io::Error) {
    // A reader that has seen enough, such as `head`, is no failure.
    if error.kind() == io::ErrorKind::BrokenPipe {
        READER_GONE.store(true, Ordering::Relaxed);
    } else {
        LOST.get_or_init(|| error);
    }
}

/// True once a write has found that nobody reads the result.
static READER_GONE: AtomicBool = AtomicBool::new(false);

/// Returns whether nobody will read more of the result: a command that follows something has nothing left to do.
pub(crate) fn is_over() -> bool {
    READER_GONE.load(Ordering::Relaxed) || LOST.get().is_some()
}

/// Checks that all of the result was written.
///
/// # Errors
/// The first failure to write it.
pub(crate) fn check_written() -> CommandResult {
    LOST.get().map_or(Ok(()), |error| Err(lost_failure(error)))
}

/// Checks that a text was written that others print, such as the help.
///
/// # Errors
/// The failure to write it, unless the reader has seen enough.
pub(crate) fn check_printed(printed: io::Result<()>) -> CommandResult {
    match printed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(lost_failure(&error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn lost_failure(error: &io::Error) -> Failure {
    Failure::failed(format!(
        "can't write the result to the standard output: {error}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_without_colours_gets_none() {
        let allows = |name: &str, value: &str| {
            allows_colour(|asked| (asked == name).then(|| OsString::from(value)))
        };
        for (name, value) in [("NO_COLOR", "1"), ("CLICOLOR", "0"), ("TERM", "dumb")] {
            assert!(!allows(name, value), "{name}={value}");
        }
        for (name, value) in [("NO_COLOR", ""), ("CLICOLOR", "1"), ("TERM", "xterm")] {
            assert!(allows(name, value), "{name}={value}");
        }
    }
}
