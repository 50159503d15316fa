//! Replaces commands in the daemon's advice by tools: where it names a command that is a tool here, the tool is
//! named.

use serde_json::Value;

/// Commands, as they begin, and the tools that do the same.
const TOOLS: [(&str, &str); 9] = [
    ("cairn status", "sync_status"),
    ("cairn activity", "sync_activity"),
    ("cairn conflicts", "sync_conflicts"),
    ("cairn resolve", "sync_resolve_conflict"),
    ("cairn sync", "sync_now"),
    ("cairn confirm", "sync_confirm"),
    ("cairn why", "sync_why"),
    ("cairn resume", "sync_resume"),
    ("cairn trash list", "list_trash"),
];

/// Fields with sentences of the daemon; other fields have paths and names, which stay as they are.
const SENTENCES: [&str; 3] = ["hint", "message", "reason"];

/// Names the tools in the sentences of a result.
pub(super) fn name_tools(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(name_tools),
        Value::Object(fields) => {
            for (name, field) in fields {
                let sentence = field
                    .as_str()
                    .filter(|_| SENTENCES.contains(&name.as_str()));
                match sentence.map(with_tools) {
                    Some(named) => *field = Value::String(named),
                    None => name_tools(field),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns a sentence with the tools in place of the quoted commands that they stand for.
pub(super) fn with_tools(sentence: &str) -> String {
    let mut named = String::with_capacity(sentence.len());
    // Every other part stands between the marks of a quotation.
    let parts: Vec<&str> = sentence.split('`').collect();
    let last = parts.len() - 1;
    for (number, part) in parts.into_iter().enumerate() {
        let is_quoted = number % 2 == 1 && number < last;
        match tool_for(part).filter(|_| is_quoted) {
            Some(tool) => named.push_str(tool),
            None if is_quoted => named.push_str(&format!("`{part}`")),
            None if number % 2 == 1 => named.push_str(&format!("`{part}")),
            None => named.push_str(part),
        }
    }
    // Commands with other arguments may stand for the same tool.
    for (_, tool) in TOOLS {
        named = named.replace(&format!("{tool} or {tool}"), tool);
    }
    named
}

fn tool_for(command: &str) -> Option<&'static str> {
    let is_it = |begin: &str| {
        let rest = command.strip_prefix(begin);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let found = TOOLS.iter().find(|(begin, _)| is_it(begin));
    found.map(|(_, tool)| *tool)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn commands_that_are_tools_are_named_by_them() {
        for (hint, named) in [
            ("run `cairn resume`", "run sync_resume"),
            (
                "see `cairn status` for the deletions, and decide with `cairn confirm`",
                "see sync_status for the deletions, and decide with sync_confirm",
            ),
            (
                "run `cairn confirm /a delete` or `cairn confirm /a keep`",
                "run sync_confirm",
            ),
            (
                "resolve it with `cairn resolve PATH --keep both`",
                "resolve it with sync_resolve_conflict",
            ),
            ("run `cairn login` again", "run `cairn login` again"),
            ("`cairn statusbar` and `", "`cairn statusbar` and `"),
            ("plain", "plain"),
        ] {
            assert_eq!(with_tools(hint), named);
        }
    }

    #[test]
    fn paths_stay_as_they_are() {
        let mut value = json!({
            "path": "`cairn sync`", "folders": [{ "hint": "run `cairn sync`", "examples": ["`cairn sync`"] }],
        });
        name_tools(&mut value);
        let named = json!({
            "path": "`cairn sync`", "folders": [{ "hint": "run sync_now", "examples": ["`cairn sync`"] }],
        });
        assert_eq!(value, named);
    }
}
