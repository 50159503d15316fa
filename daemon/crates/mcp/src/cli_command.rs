//! `generate_cli_command`: writes commands of this product's own command line. It makes no call; that
//! every command it writes runs is what a test against the real program checks.

mod operation;
mod shell;

pub(crate) use operation::{Flag, FlagValue, Operation};

use crate::arguments::Arguments;
use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use operation::{ALL, Slot};
use serde_json::{Map, Value, json};

/// The operations, as the service's reference lists them.
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

/// The words about a value that is no span of time.
const NO_TIME: &str = "takes a time such as 7d, 12h or 30m; a number alone is one of days";

pub(crate) fn run(call: &Call) -> ToolResult<Value> {
    build_command(&call.arguments)
}

fn build_command(arguments: &Arguments) -> ToolResult<Value> {
    let name = arguments.required_text("operation")?;
    let operation = ALL
        .iter()
        .find(|operation| operation.name == name)
        .ok_or_else(|| ToolError::argument(format!("there is no operation `{name}`")))?;
    refuse_unused(operation, arguments)?;
    let mut words: Vec<String> = vec!["cairn".to_owned()];
    words.extend(operation.words.iter().map(|word| (*word).to_owned()));
    words.extend(flags(operation, arguments)?);
    let mut slots = Vec::new();
    for place in operation.slots {
        if let Some(text) = slot_text(operation, place, arguments)? {
            match place {
                Slot::Option { flag, .. } => words.extend([format!("--{flag}"), text]),
                Slot::LocalTarget => words.extend(["--out".to_owned(), text]),
                Slot::Argument { .. } | Slot::NewFolder | Slot::Destination => slots.push(text),
            }
        }
    }
    // What looks like a flag and is none goes behind the mark that ends them.
    if slots.iter().any(|text| text.starts_with('-')) {
        words.push("--".to_owned());
    }
    words.extend(slots);
    let command: Vec<_> = words
        .iter()
        .map(|word| shell::quote_word(word))
        .collect::<ToolResult<_>>()?;
    Ok(json!({
        "command": command.join(" "),
        "description": operation.description,
        "examples": operation.examples,
        "available_flags": operation.flags.iter().map(flag_json).collect::<Vec<_>>(),
    }))
}

fn flag_json(flag: &Flag) -> Value {
    let shown = match flag.takes {
        FlagValue::Nothing => format!("--{}", flag.name),
        FlagValue::Value(what) => format!("--{} {what}", flag.name),
        FlagValue::Time => format!("--{} TIME", flag.name),
    };
    json!({ "flag": shown, "description": flag.description })
}

/// Refuses arguments that the command could not honour.
fn refuse_unused(operation: &Operation, arguments: &Arguments) -> ToolResult {
    for name in ["file_path", "file_uuid", "target_folder_uuid", "query"] {
        let is_used = operation
            .slots
            .iter()
            .any(|slot| slot.arguments().contains(&name));
        if !is_used && given_text(arguments, name).is_some() {
            let used: Vec<_> = operation.slots.iter().flat_map(Slot::arguments).collect();
            let takes = if used.is_empty() {
                "it takes none".to_owned()
            } else {
                let mut used: Vec<_> = used.into_iter().copied().collect();
                used.dedup();
                format!("it takes {}", used.join(", "))
            };
            return Err(ToolError::argument(format!(
                "{} has no use for {name}: {takes}",
                operation.name
            )));
        }
    }
    Ok(())
}

/// Returns a text that is not blank.
fn given_text<'a>(arguments: &'a Arguments, name: &str) -> Option<&'a str> {
    arguments.text(name).filter(|text| !text.trim().is_empty())
}

/// Returns the text of a slot: the first of its arguments that is given, or the path that they make.
fn slot_text(
    operation: &Operation,
    place: &Slot,
    arguments: &Arguments,
) -> ToolResult<Option<String>> {
    let (text, needed) = match place {
        Slot::Argument { from, needed } => (first_text(from, arguments), *needed),
        Slot::Option { from, .. } => (first_text(from, arguments), false),
        Slot::LocalTarget => (local_target(arguments)?, false),
        Slot::NewFolder => (new_folder(arguments), true),
        Slot::Destination => (destination(arguments)?, true),
    };
    if text.is_none() && needed {
        return Err(ToolError::argument(format!(
            "{} needs {}",
            operation.name,
            place.arguments().join(" or ")
        )));
    }
    Ok(text)
}

fn first_text(from: &[&str], arguments: &Arguments) -> Option<String> {
    let given = from.iter().find_map(|name| given_text(arguments, name));
    given.map(str::to_owned)
}

/// Returns the place on this machine that a node named by its id is downloaded to.
fn local_target(arguments: &Arguments) -> ToolResult<Option<String>> {
    let id = first_text(&["target_folder_uuid", "file_uuid"], arguments);
    let Some(path) = given_text(arguments, "file_path").filter(|_| id.is_some()) else {
        return Ok(None);
    };
    let options = arguments.get("options").and_then(Value::as_object);
    let has_out = |fields: &Map<String, Value>| fields.keys().any(|key| flag_name(key) == "out");
    if options.is_some_and(has_out) {
        return Err(ToolError::argument(
            "give file_path, or the option out, not both: each is the local target",
        ));
    }
    // A path that looks like a flag is still a path.
    let mark = if path.starts_with('-') { "./" } else { "" };
    Ok(Some(format!("{mark}{path}")))
}

/// Returns the path of a new folder. A name alone is one at the top of the service.
fn new_folder(arguments: &Arguments) -> Option<String> {
    let name = given_text(arguments, "query");
    match (given_text(arguments, "file_path"), name) {
        (Some(folder), Some(name)) => Some(below(folder, name)),
        (Some(path), None) => Some(path.to_owned()),
        (None, Some(name)) => Some(below("", name)),
        (None, None) => None,
    }
}

/// Returns where a node goes. A name alone is a new one in the same folder.
fn destination(arguments: &Arguments) -> ToolResult<Option<String>> {
    let folder = given_text(arguments, "target_folder_uuid");
    let path = given_text(arguments, "query");
    match (folder, path) {
        (Some(_), Some(_)) => Err(ToolError::argument(
            "give target_folder_uuid, or query with the whole path such as /docs/new.txt, not both",
        )),
        (None, Some(name)) if !name.starts_with('/') => {
            let node = given_text(arguments, "file_path");
            let folder = node
                .filter(|_| given_text(arguments, "file_uuid").is_none())
                .and_then(|path| path.trim_end_matches('/').rsplit_once('/'));
            match folder.filter(|_| node.is_some_and(|path| path.starts_with('/'))) {
                Some((folder, _)) => Ok(Some(below(folder, name))),
                None => Err(ToolError::argument(
                    "query must be a path on the service, which begins with /, such as /docs/new.txt",
                )),
            }
        }
        (folder, path) => Ok(folder.or(path).map(str::to_owned)),
    }
}

fn below(folder: &str, name: &str) -> String {
    format!(
        "{}/{}",
        folder.trim_end_matches('/'),
        name.trim_start_matches('/')
    )
}

/// Converts the options to flags, checked against those of the command.
fn flags(operation: &Operation, arguments: &Arguments) -> ToolResult<Vec<String>> {
    let none = Map::new();
    let options = arguments
        .get("options")
        .and_then(Value::as_object)
        .unwrap_or(&none);
    let mut words = Vec::new();
    for (key, value) in options {
        let name = flag_name(key);
        let flag = operation
            .flags
            .iter()
            .find(|flag| flag.name == name)
            .ok_or_else(|| unknown_flag(operation, key))?;
        let wrong = |what: &str| ToolError::argument(format!("options: `{key}` {what}"));
        match (flag.takes, value) {
            (_, Value::Null) | (FlagValue::Nothing, Value::Bool(false)) => {}
            (FlagValue::Nothing, Value::Bool(true)) => words.push(format!("--{name}")),
            (FlagValue::Nothing, _) => return Err(wrong("takes no value: use true or false")),
            (FlagValue::Time, Value::String(text)) => match time_span(text) {
                Some(span) => words.push(format!("--{name}={span}")),
                None => return Err(wrong(NO_TIME)),
            },
            (FlagValue::Time, Value::Number(days)) => match time_span(&days.to_string()) {
                Some(span) => words.push(format!("--{name}={span}")),
                None => return Err(wrong(NO_TIME)),
            },
            (FlagValue::Time, _) => return Err(wrong(NO_TIME)),
            (FlagValue::Value(_), Value::String(text)) => {
                words.push(format!("--{name}={text}"));
            }
            (FlagValue::Value(_), Value::Number(number)) => {
                words.push(format!("--{name}={number}"));
            }
            (FlagValue::Value(what), _) => {
                return Err(wrong(&format!("takes {what}, a string or a number")));
            }
        }
    }
    Ok(words)
}

/// Returns the name of a flag as options may name it.
fn flag_name(key: &str) -> String {
    key.trim_start_matches('-').replace('_', "-")
}

/// Returns a span of time as the command takes it, days for a number alone, as the tools count; `None` for what it
/// would refuse.
fn time_span(text: &str) -> Option<String> {
    let (number, unit) = match text.strip_suffix(['d', 'h', 'm']) {
        Some(number) => (number, &text[number.len()..]),
        None => (text, "d"),
    };
    let number: u32 = number.parse().ok()?;
    (number > 0).then(|| format!("{number}{unit}"))
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
