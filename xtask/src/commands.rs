//! The commands and their options: one table, from which the help is printed and arguments are read.

mod table;
#[cfg(test)]
mod tests;

use anyhow::{Context as _, Result, bail};
use table::{COMMANDS, Command, Given};

/// The request that arguments make.
pub(crate) enum Asked {
    Help(String),
    Run(&'static Command, Given),
}

/// Reads the arguments of this program. A question for help is answered wherever it stands, and what is not known
/// runs nothing.
///
/// # Errors
/// The argument that makes no sense, with the usage.
pub(crate) fn read(arguments: &[String]) -> Result<Asked> {
    let Some((name, rest)) = arguments.split_first() else {
        bail!("say what to do\n\n{}", overview());
    };
    let wants_help = |argument: &String| matches!(argument.as_str(), "--help" | "-h");
    if name == "help" || wants_help(name) {
        return Ok(Asked::Help(match rest.first() {
            Some(name) => usage(find(name)?),
            None => overview(),
        }));
    }
    let command = find(name)?;
    if rest.iter().any(wants_help) {
        return Ok(Asked::Help(usage(command)));
    }
    match given(command, rest) {
        Ok(given) => Ok(Asked::Run(command, given)),
        Err(error) => bail!("{error}\n\n{}", usage(command)),
    }
}

fn find(name: &str) -> Result<&'static Command> {
    let found = COMMANDS.iter().find(|command| command.name == name);
    found.with_context(|| format!("there is no command `{name}`\n\n{}", overview()))
}

fn given(command: &Command, arguments: &[String]) -> Result<Given> {
    let mut given = Given::default();
    if command.passes_options_on {
        given.words = arguments.to_vec();
        return Ok(given);
    }
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let (name, attached) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (argument.as_str(), None),
        };
        let option = command.options.iter().find(|option| option.name == name);
        if given.has(name) {
            bail!("{name} stands there twice");
        }
        match (option, attached) {
            (Some(option), attached) if option.value.is_some() => {
                let value = attached.or_else(|| arguments.next().cloned());
                let value = value.filter(|value| !value.starts_with("--"));
                let value = value.with_context(|| format!("{name} needs a value"))?;
                given.options.push((option.name, value));
            }
            (Some(option), None) => given.options.push((option.name, String::new())),
            (Some(_), Some(_)) => bail!("{name} takes no value"),
            (None, _) => {
                let is_word = command.word.is_some() && given.words.is_empty();
                if argument.starts_with('-') || !is_word {
                    bail!("can't make sense of `{argument}`");
                }
                given.words.push(argument.clone());
            }
        }
    }
    Ok(given)
}

/// Returns a command as it is typed.
fn synopsis(command: &Command) -> String {
    let mut line = command.name.to_owned();
    if let Some(word) = command.word {
        line += &format!(" [{word}]");
    }
    for option in command.options {
        line += &match option.value {
            Some(value) => format!(" [{} {value}]", option.name),
            None => format!(" [{}]", option.name),
        };
    }
    if command.passes_options_on {
        line += " [OPTIONS…]";
    }
    line
}

fn usage(command: &Command) -> String {
    let mut text = format!(
        "Usage: cargo xtask {}\n\n{}\n",
        synopsis(command),
        command.about
    );
    for option in command.options {
        let name = match option.value {
            Some(value) => format!("{} {value}", option.name),
            None => option.name.to_owned(),
        };
        text += &format!("\n  {name:<14}  {}", option.about);
    }
    text
}

fn overview() -> String {
    let mut text = "Usage: cargo xtask COMMAND [OPTIONS]\n".to_owned();
    for command in COMMANDS {
        text += &format!("\n  {}\n      {}", synopsis(command), command.about);
    }
    text + "\n\n`cargo xtask COMMAND --help` explains one. CONTRIBUTING.md says how to begin;\ndocs/ARCHITECTURE.md explains the rules that `test` checks."
}
