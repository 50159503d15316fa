//! The texts that a lockdown withholds: those that somebody may have chosen, and nothing of the service's own.

use crate::mcp::catalogue;
use serde_json::Value;

const MARK: &str = "(withheld)";

/// The fields with texts that somebody may have chosen, or that lead somewhere.
const FREE_TEXTS: [&str; 30] = [
    "allowed_emails",
    "avatar_url",
    "bio",
    "body",
    "checkout_url",
    "description",
    "display_name",
    "email",
    "error",
    "examples",
    "file_name",
    "labels",
    "mime_type",
    "name",
    "owner_name",
    "path",
    "plan_name",
    "prefix",
    "recipient_name",
    "tags",
    "team_name",
    "text",
    "title",
    "uploaded_by",
    "url",
    "user_agent",
    "username",
    "value",
    "vanity_url",
    "warning",
];

/// Returns true for a tool that can be called once more, and that a lockdown does not refuse.
pub(crate) fn looks_only(tool: &str) -> bool {
    let reference = catalogue::reference();
    let found = reference.iter().find(|wanted| wanted["name"] == tool);
    found.is_some_and(|wanted| wanted["readOnlyHint"] == true) && tool != "read_file_content"
}

/// Compares the result of a tool with the one that it has in a lockdown.
pub(crate) fn assert_only_free_texts_are_withheld(tool: &str, shown: &Value, locked: &Value) {
    let mut withheld = Vec::new();
    compare("", shown, locked, &mut withheld);
    assert!(
        withheld.is_empty(),
        "{tool}: {withheld:?} in {shown}\n{locked}"
    );
}

/// Collects the fields that are withheld without a reason.
fn compare(field: &str, shown: &Value, locked: &Value, withheld: &mut Vec<String>) {
    match (shown, locked) {
        (Value::Object(shown), Value::Object(locked)) => {
            let compared = shown
                .iter()
                .filter(|(name, _)| !matches!(name.as_str(), "notice" | "message"));
            for (name, value) in compared {
                match locked.get(name) {
                    Some(locked) => compare(name, value, locked, withheld),
                    None => withheld.push(name.clone()),
                }
            }
        }
        (Value::Array(shown), Value::Array(locked)) => {
            for (shown, locked) in shown.iter().zip(locked) {
                compare(field, shown, locked, withheld);
            }
        }
        (_, Value::String(mark)) if mark == MARK && !FREE_TEXTS.contains(&field) => {
            withheld.push(field.to_owned());
        }
        (_, _) => {}
    }
}
