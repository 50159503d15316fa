//! A new password, as it is typed or piped in.

use anyhow::{Context as _, Result, bail};
use cairn_server::check_password;
use std::io::{BufRead as _, IsTerminal as _};

/// Reads a new password for an account: from stdin, or twice from the terminal.
///
/// # Errors
/// A password that is too short or too easy to guess, and two that differ.
pub(crate) fn read(from_stdin: bool, email: &str) -> Result<String> {
    let password = if from_stdin || !std::io::stdin().is_terminal() {
        let mut line = String::new();
        std::io::stdin()
            .lock()
            .read_line(&mut line)
            .context("can't read the password from stdin")?;
        line.trim_end_matches(['\r', '\n']).to_owned()
    } else {
        let password =
            rpassword::prompt_password("Password: ").context("can't read the password")?;
        let again =
            rpassword::prompt_password("Password again: ").context("can't read the password")?;
        if password != again {
            bail!("the two passwords differ; try again");
        }
        password
    };
    match check_password(&password, email) {
        Ok(()) => Ok(password),
        Err(text) => bail!("{text}"),
    }
}
