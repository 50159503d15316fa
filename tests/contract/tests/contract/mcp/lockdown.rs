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

/// The tools in whose results all texts are the service's own, or this program's: the names of checks, and commands.
const OWN_WORDS_ONLY: [&str; 4] = [
    "check_service_health",
    "diagnose_upload",
    "generate_cli_command",
    "verify_encryption_status",
];

/// Returns true for a tool that can be called once more, and that a lockdown does not refuse.
pub(crate) fn looks_only(tool: &str) -> bool {
    let reference = catalogue::reference();
    let found = reference.iter().find(|wanted| wanted["name"] == tool);
    found.is_some_and(|wanted| wanted["readOnlyHint"] == true) && tool != "read_file_content"
}

/// Compares the result of a tool with the one that it has in a lockdown.
pub(crate) fn assert_only_free_texts_are_withheld(tool: &str, shown: &Value, locked: &Value) {
    let mut found = Compared::default();
    found.compare("", shown, locked);
    let Compared {
        wrong,
        free,
        withheld,
    } = found;
    assert!(wrong.is_empty(), "{tool}: {wrong:?} in {shown}\n{locked}");
    assert!(
        free.is_empty() || withheld > 0 || OWN_WORDS_ONLY.contains(&tool),
        "{tool}: nothing is withheld of {free:?} in {shown}\n{locked}"
    );
}

/// A result beside the one of a lockdown.
#[derive(Default)]
struct Compared {
    /// The fields that are missing or withheld without a reason.
    wrong: Vec<String>,
    /// The fields with texts that somebody may have chosen.
    free: Vec<String>,
    /// The number of texts that are withheld.
    withheld: usize,
}

impl Compared {
    fn compare(&mut self, field: &str, shown: &Value, locked: &Value) {
        let is_text = shown.as_str().is_some_and(|text| !text.is_empty());
        // The address of a link is the service's own.
        if is_text && field != "url" && FREE_TEXTS.contains(&field) {
            self.free.push(field.to_owned());
        }
        match (shown, locked) {
            (Value::Object(shown), Value::Object(locked)) => {
                let compared = shown
                    .iter()
                    .filter(|(name, _)| !matches!(name.as_str(), "notice" | "message"));
                for (name, value) in compared {
                    match locked.get(name) {
                        Some(locked) => self.compare(name, value, locked),
                        None => self.wrong.push(name.clone()),
                    }
                }
            }
            (Value::Array(shown), Value::Array(locked)) => {
                if shown.len() != locked.len() {
                    self.wrong
                        .push(format!("{field}: {} of {}", locked.len(), shown.len()));
                }
                for (shown, locked) in shown.iter().zip(locked) {
                    self.compare(field, shown, locked);
                }
            }
            (_, Value::String(mark)) if mark == MARK => {
                self.withheld += 1;
                if !FREE_TEXTS.contains(&field) {
                    self.wrong.push(field.to_owned());
                }
            }
            (_, _) => {}
        }
    }
}
