//! The steps of a login for a program that shows them to a person: lines of JSON on stderr, and
//! passphrases as lines on stdin.

use crate::app::App;
use crate::cli::prompt;
use crate::failure::CommandResult;
use serde::Serialize;
use std::path::Path;
use zeroize::Zeroizing;

/// A step at which a person has something to do.
#[derive(Serialize, Debug)]
#[serde(tag = "step", rename_all = "snake_case")]
pub(super) enum Step<'a> {
    /// Continue at this address in a browser on this machine.
    Browser { url: &'a str },
    /// Open this address on any device and enter the code.
    Code { url: &'a str, code: &'a str },
    /// Enter the passphrase: a new one, or that of the account, again if there was an error.
    Passphrase {
        email: &'a str,
        is_new: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
    },
}

impl Step<'_> {
    /// Writes the step as one line on stderr.
    pub(super) fn report(&self, app: &App) {
        // Text always serialises.
        app.out
            .note(serde_json::to_string(self).unwrap_or_default());
    }
}

/// Reports that a passphrase is needed and reads it from stdin.
pub(super) fn passphrase(
    app: &App,
    email: &str,
    is_new: bool,
    error: Option<&str>,
) -> CommandResult<Zeroizing<String>> {
    Step::Passphrase {
        email,
        is_new,
        error,
    }
    .report(app);
    prompt::from_file(Path::new("-"))
}

/// Reads a new passphrase from stdin, again as long as it is easily guessed.
pub(super) fn new_passphrase(app: &App, email: &str) -> CommandResult<Zeroizing<String>> {
    let mut last_error: Option<String> = None;
    loop {
        let typed = passphrase(app, email, true, last_error.as_deref())?;
        match prompt::weakness(&typed, &[email]) {
            None => return Ok(typed),
            weakness => last_error = weakness,
        }
    }
}
