//! `generate_cli_command`: writes commands of this product's own command line. It makes no call; that
//! every command it writes runs is what a test against the real program checks.

mod operation;
mod shell;

pub(crate) use operation::{Flag, Operation, Takes};

use crate::arguments::Arguments;
use crate::call::Call;
use crate::failure::{Outcome, ToolError};
use operation::{ALL, Place};
use serde_json::{Map, Value, json};

/// As the service's reference lists them.
pub(crate) const OPERATIONS: &[&str] = &[
    "upload",
    "download",
    "download_folder",
    "list",
    "tree",
    "search",
    "share",
    "mkdir",
    "move",
    "delete",
    "verify",
    "info",
    "versions",
    "recovery_key",
    "tokens",
    "teams",
    "config",
];

pub(crate) fn run(call: &Call) -> Outcome<Value> {
    written(&call.arguments)
}

fn written(arguments: &Arguments) -> Outcome<Value> {
    let name = arguments.required("operation")?;
    let operation = ALL
        .iter()
        .find(|operation| operation.name == name)
        .ok_or_else(|| ToolError::argument(format!("there is no operation `{name}`")))?;
    let mut words: Vec<String> = vec!["cairn".to_owned()];
    words.extend(operation.words.iter().map(|word| (*word).to_owned()));
    words.extend(flags(operation, arguments)?);
    let mut places = Vec::new();
    for place in operation.places {
        if let Some(text) = filled(operation, place, arguments)? {
            match place {
                Place::Option { flag, .. } => words.extend([format!("--{flag}"), text]),
                Place::Argument { .. } => places.push(text),
            }
        }
    }
    // What looks like a flag and is none goes behind the mark that ends them.
    if places.iter().any(|text| text.starts_with('-')) {
        words.push("--".to_owned());
    }
    words.extend(places);
    let command: Vec<_> = words
        .iter()
        .map(|word| shell::quoted(word))
        .collect::<Outcome<_>>()?;
    Ok(json!({
        "command": command.join(" "),
        "description": operation.about,
        "examples": operation.examples,
        "available_flags": operation.flags.iter().map(described).collect::<Vec<_>>(),
    }))
}

fn described(flag: &Flag) -> Value {
    let shown = match flag.takes {
        Takes::Nothing => format!("--{}", flag.name),
        Takes::Value(what) => format!("--{} {what}", flag.name),
    };
    json!({ "flag": shown, "description": flag.about })
}

/// The text of a place: of the first argument that it takes and that is given.
fn filled(operation: &Operation, place: &Place, arguments: &Arguments) -> Outcome<Option<String>> {
    let (from, needed) = match place {
        Place::Argument { from, needed } => (from, *needed),
        Place::Option { from, .. } => (from, false),
    };
    let given = from
        .iter()
        .find_map(|name| arguments.text(name).filter(|text| !text.trim().is_empty()));
    match given {
        Some(text) => Ok(Some(text.to_owned())),
        None if needed => Err(ToolError::argument(format!(
            "{} needs {}",
            operation.name,
            from.join(" or ")
        ))),
        None => Ok(None),
    }
}

/// The options as flags, checked against those that the command has.
fn flags(operation: &Operation, arguments: &Arguments) -> Outcome<Vec<String>> {
    let none = Map::new();
    let options = arguments
        .get("options")
        .and_then(Value::as_object)
        .unwrap_or(&none);
    let mut words = Vec::new();
    for (key, value) in options {
        let name = key.trim_start_matches('-').replace('_', "-");
        let flag = operation
            .flags
            .iter()
            .find(|flag| flag.name == name)
            .ok_or_else(|| unknown_flag(operation, key))?;
        let wrong = |what: &str| ToolError::argument(format!("options: `{key}` {what}"));
        match (flag.takes, value) {
            (_, Value::Null) | (Takes::Nothing, Value::Bool(false)) => {}
            (Takes::Nothing, Value::Bool(true)) => words.push(format!("--{name}")),
            (Takes::Nothing, _) => return Err(wrong("takes no value: say true or false")),
            (Takes::Value(_), Value::String(text)) => {
                words.push(format!("--{name}={text}"));
            }
            (Takes::Value(_), Value::Number(number)) => {
                words.push(format!("--{name}={number}"));
            }
            (Takes::Value(what), _) => {
                return Err(wrong(&format!("takes {what}, a string or a number")));
            }
        }
    }
    Ok(words)
}

fn unknown_flag(operation: &Operation, key: &str) -> ToolError {
    let known: Vec<_> = operation.flags.iter().map(|flag| flag.name).collect();
    ToolError::argument(if known.is_empty() {
        format!("options: {} has no flags, so no `{key}`", operation.name)
    } else {
        format!(
            "options: {} has no flag `{key}`, but {}",
            operation.name,
            known.join(", ")
        )
    })
}

#[cfg(test)]
mod tests;
