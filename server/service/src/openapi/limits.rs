//! The constraints of a body beyond its types: lengths, counts, ranges, patterns and choices.
//!
//! The table completes the document here, and requests are checked against the document by
//! [`crate::http::check`]. A bound that a handler has to ask for again is a constant of [`crate::bounds`],
//! so that neither can say another number than the other.

use crate::bounds;
use crate::http::check::WORDS;
use crate::identity::password::MIN_PASSWORD;
use crate::routes::search::{CATEGORIES, MAX_QUERY, MIN_QUERY};
use crate::routes::shares::settings::MAX_KEY_BLOB;
use cairn_model::name::MAX_NAME_BYTES;
use cairn_model::{SearchMode, ServiceScope};
use cairn_store::MAX_GRANT;
use cairn_store::catalog::packs;
use cairn_wire::nodes::NodeOrder;
use cairn_wire::shares::MAX_LISTING;
use cairn_wire::transfer::{BATCH_FILES, MAX_SEALED_CHUNK};
use serde_json::{Map, Value, json};

/// A name of a node: not `.` or `..`, no `/`, no NUL.
const NAME: &str = r"^(?:[^./\x00][^/\x00]*|\.[^./\x00][^/\x00]*|\.\.[^/\x00]+)$";
/// With spaces around it, which are left out.
const EMAIL: &str =
    r#"^\s*[^\s@()<>\[\]:;\\,"\x00-\x1f\x7f-\x9f]+@[^\s@()<>\[\]:;\\,"\x00-\x1f\x7f-\x9f]+\s*$"#;
/// One line that says something, with space around it that is left out.
const LINE: &str = r"^\s*[^\s\x00-\x1f\x7f-\x9f](?:[^\x00-\x1f\x7f-\x9f\u2028\u2029]*[^\s\x00-\x1f\x7f-\x9f])?\s*$";
/// Lines without control characters but tabs.
const LINES: &str = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$";
const HTTPS: &str = r"^(?:|https://\S+)$";
const LOGO: &str = r#"^(?:|https://[^/\s"'<>;,\x00-\x1f\x7f-\x9f][^\s"'<>;,\x00-\x1f\x7f-\x9f]*)$"#;
const COLOUR: &str = "^(?:|#[0-9A-Fa-f]{6})$";
const HEX_32: &str = "^[0-9A-Fa-f]{64}$";
const SAYS_SOMETHING: &str = r"\S";

/// Schemas that demand something as a whole, in words.
const WHOLE: [(&str, &str); 1] = [(
    "UpdateWebhook",
    "it changes nothing; give `url`, `events`, or both",
)];

/// Parameters that say something wherever they stand: an empty one is refused.
const NEVER_EMPTY: [&str; 5] = ["If-Match", "seen", "cursor", "after", "name"];

/// Fields that the types leave open and that have to be there.
const REQUIRED: [(&str, &str); 1] = [("ClassifyFolder", "confirm_token_use")];

/// Returns a regular expression for the whole numbers from 1 to `most`.
fn up_to(most: u64) -> String {
    let digits: Vec<u64> = most
        .to_string()
        .bytes()
        .map(|byte| u64::from(byte - b'0'))
        .collect();
    let mut choices = Vec::new();
    if digits.len() > 1 {
        choices.push(format!("[1-9][0-9]{{0,{}}}", digits.len() - 2));
    }
    let mut prefix = String::new();
    for (place, digit) in digits.iter().enumerate() {
        let least = u64::from(place == 0);
        if *digit > least {
            let rest = digits.len() - 1 - place;
            choices.push(format!("{prefix}[{least}-{}][0-9]{{{rest}}}", digit - 1));
        }
        prefix.push_str(&digit.to_string());
    }
    choices.push(prefix);
    format!("(?:{})", choices.join("|"))
}

/// An amount from 0.01 to a whole number of units, which are given in hundredths.
fn amount(most: i64) -> Value {
    let most = most.unsigned_abs() / 100;
    let below = up_to(most - 1);
    let pattern =
        format!(r"^(?:0\.0[1-9]|0\.[1-9][0-9]?|{below}(?:\.[0-9]{{1,2}})?|{most}(?:\.0{{1,2}})?)$");
    json!({"pattern": pattern, WORDS: format!("it has to be 0.01 to {most}.00, such as `4.99`"), "example": "4.99"})
}

/// A duration of at most a hundred years.
fn expires_in() -> Value {
    let days = 36_500;
    let units = [("d", 1), ("h", 24), ("m", 24 * 60), ("s", 24 * 3600)];
    let choices: Vec<String> = units
        .iter()
        .map(|(unit, each)| format!("{}{unit}", up_to(days * each)))
        .collect();
    let pattern = format!("^(?:{})$", choices.join("|"));
    json!({
        "pattern": pattern,
        WORDS: "it has to be such as `30d`, `12h`, `45m` or `90s`, and at most 100 years"
    })
}

/// A text that says something, of at most so many characters.
fn text(most: usize) -> Value {
    json!({
        "minLength": 1, "maxLength": most, "pattern": SAYS_SOMETHING,
        WORDS: format!("it has to have 1 to {most} characters, and not only spaces")
    })
}

/// A name: one line that says something, of at most so many characters.
fn line(most: usize) -> Value {
    json!({
        "minLength": 1, "maxLength": most, "pattern": LINE,
        WORDS: format!("it has to have 1 to {most} characters, in one line and not only spaces")
    })
}

/// A text of at most so many characters, in as many lines as it likes.
fn lines(most: usize) -> Value {
    json!({
        "maxLength": most, "pattern": LINES,
        WORDS: format!("it has to have at most {most} characters, and of control characters only tabs and ends of lines")
    })
}

fn up_to_characters(most: usize) -> Value {
    json!({ "maxLength": most })
}

fn name() -> Value {
    json!({
        "minLength": 1, "maxLength": MAX_NAME_BYTES, "pattern": NAME,
        WORDS: format!("a name has 1 to {MAX_NAME_BYTES} bytes, is not `.` or `..`, and has no `/` or NUL")
    })
}

fn email() -> Value {
    json!({"maxLength": bounds::EMAIL, "pattern": EMAIL, WORDS: "it is not a valid e-mail address", "example": "owner@example.com"})
}

/// Base64 of so many bytes. A length of text is that of whole groups of three bytes, so `most` has to be
/// whole groups as well: what the text's length lets through, its reader must not refuse.
fn sealed_limits(least: usize, most: usize) -> Value {
    json!({"minLength": least.div_ceil(3) * 4, "maxLength": most.div_ceil(3) * 4})
}

fn hex_32() -> Value {
    json!({
        "pattern": HEX_32, WORDS: "it has to be 64 hexadecimal digits",
        "example": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    })
}

fn handle(least: usize) -> Value {
    json!({
        "pattern": format!("^[A-Za-z0-9_-]{{{least},30}}$"), "example": "owner-1",
        WORDS: format!("it has to have {least} to 30 letters, digits, `-` or `_`")
    })
}

fn items(least: usize, most: usize) -> Value {
    json!({"minItems": least, "maxItems": most})
}

fn range(least: i64, most: i64) -> Value {
    json!({"minimum": least, "maximum": most})
}

fn expiry_days() -> Value {
    json!({"minimum": bounds::LINK_LEAST_DAYS, "maximum": bounds::LINK_DAYS, "example": 30})
}

fn https(most: usize, pattern: &str) -> Value {
    json!({
        "maxLength": most, "pattern": pattern, "example": "https://example.com/owner.png",
        WORDS: "it has to be an https:// address, or empty"
    })
}

fn colour() -> Value {
    json!({"pattern": COLOUR, WORDS: "it has to be `#RRGGBB`, or empty", "example": "#336699"})
}

/// Schema, field and what is demanded of it.
fn rules() -> Vec<(&'static str, &'static str, Value)> {
    [files(), links(), people(), money(), accounts()].concat()
}

fn files() -> Vec<(&'static str, &'static str, Value)> {
    let label = json!({"maxLength": bounds::LABEL});
    vec![
        ("CreateNode", "name", name()),
        (
            "CreateNode",
            "kind",
            json!({"const": "folder", WORDS: "files are made by POST /uploads or POST /uploads/batch"}),
        ),
        ("UpdateNode", "name", name()),
        (
            "UpdateNode",
            "description",
            up_to_characters(bounds::NODE_DESCRIPTION),
        ),
        (
            "UpdateNode",
            "labels",
            json!({"maxProperties": bounds::LABELS, "additionalProperties": label}),
        ),
        (
            "UpdateNode",
            "tags",
            json!({"maxItems": bounds::LABELS, "items": label}),
        ),
        ("CopyNode", "name", name()),
        (
            "CreateFolders",
            "path",
            json!({"pattern": "[^/]", WORDS: "it names no folder"}),
        ),
        ("NodeBatch", "operations", items(0, bounds::OPERATIONS)),
        ("RevisionsAt", "nodes", items(0, bounds::OPERATIONS)),
        ("CreateUpload", "name", name()),
        ("CreateUpload", "size", json!({"maximum": i64::MAX})),
        (
            "SealedChunk",
            "size",
            json!({"minimum": 1, "maximum": MAX_SEALED_CHUNK}),
        ),
        ("DownloadBatch", "files", items(0, BATCH_FILES)),
        ("WriteComment", "text", text(bounds::COMMENT)),
        (
            "CreateRetentionRule",
            "delete_after_days",
            range(1, i64::from(bounds::RETENTION_DAYS)),
        ),
        ("CreateRetentionRule", "name", line(bounds::RETENTION_NAME)),
        ("ChatMessage", "message", text(bounds::CHAT_MESSAGE)),
        (
            "ClassifyFolder",
            "confirm_token_use",
            json!({"const": true, WORDS: "it has to be true: classification uses tokens"}),
        ),
    ]
}

fn links() -> Vec<(&'static str, &'static str, Value)> {
    let emails = json!({"maxItems": bounds::LINK_EMAILS, "items": email()});
    let mut out = vec![
        ("CreateShares", "file_ids", items(1, bounds::LINKS)),
        ("PutSharedFiles", "files", items(0, bounds::LINK_FILES)),
        ("SharedFile", "sealed", sealed_limits(0, MAX_LISTING)),
        ("PasswordKdf", "iterations", range(600_000, 10_000_000)),
        (
            "PasswordKdf",
            "salt",
            json!({"minLength": 44, "maxLength": 44, "example": "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="}),
        ),
        ("ShareByEmail", "email", email()),
        ("ShareByEmail", "expiry_days", expiry_days()),
        ("ShareByEmail", "key_blob", sealed_limits(0, MAX_KEY_BLOB)),
        (
            "UpdateShareDefaults",
            "default_expiry_days",
            range(0, i64::from(bounds::LINK_DAYS)),
        ),
        (
            "UpdateShareTheme",
            "display_name",
            up_to_characters(bounds::DISPLAY_NAME),
        ),
        ("UpdateShareTheme", "bio", up_to_characters(bounds::BIO)),
        ("UpdateShareTheme", "logo_url", https(bounds::URL, LOGO)),
        ("UpdateShareTheme", "accent_color", colour()),
        ("UpdateShareTheme", "background_color", colour()),
        (
            "UpdateShareTheme",
            "css_class",
            json!({
                "enum": ["theme-dark", "theme-light", "theme-minimal", "theme-bold", "theme-elegant", "", null]
            }),
        ),
    ];
    for schema in ["CreateShare", "UpdateShare"] {
        out.extend([
            (schema, "expiry_days", expiry_days()),
            (schema, "password", up_to_characters(bounds::LINK_PASSWORD)),
            (schema, "download_limit", json!({"minimum": 1})),
            (schema, "allowed_emails", emails.clone()),
            (schema, "key_blob", sealed_limits(0, MAX_KEY_BLOB)),
        ]);
    }
    out
}

fn people() -> Vec<(&'static str, &'static str, Value)> {
    let role = json!(["admin", "member", null]);
    vec![
        ("NameTeam", "name", line(bounds::TEAM_NAME)),
        ("InviteMember", "email", email()),
        (
            "InviteMember",
            "role",
            json!({"enum": role, "example": "member"}),
        ),
        (
            "ChangeRole",
            "role",
            json!({"enum": ["admin", "member"], "example": "member"}),
        ),
        ("PutGrants", "grants", items(1, bounds::GRANTS)),
        ("NewGrant", "grant", sealed_limits(1, MAX_GRANT)),
        ("UpdateProfile", "display_name", line(bounds::DISPLAY_NAME)),
        ("UpdateProfile", "bio", lines(bounds::BIO)),
        ("UpdateProfile", "avatar_url", https(bounds::URL, HTTPS)),
        ("SetUsername", "username", handle(1)),
        ("SetVanityUrl", "vanity_url", handle(3)),
        ("FollowMany", "user_ids", items(1, bounds::FOLLOWED)),
        ("ReportUser", "details", lines(bounds::REPORT_DETAILS)),
        ("AnswerReport", "answer", lines(bounds::REPORT_DETAILS)),
    ]
}

fn money() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("SendTip", "amount", amount(bounds::TIP)),
        ("SendTip", "token_amount", range(1, bounds::TIP)),
        ("SendTip", "message", lines(bounds::TIP_MESSAGE)),
        (
            "BuyTokens",
            "pack",
            json!({"enum": packs().iter().map(|pack| pack.id).collect::<Vec<_>>()}),
        ),
        ("Deposit", "amount", amount(bounds::DEPOSIT)),
        ("RequestWithdrawal", "amount", amount(bounds::WITHDRAWAL)),
        ("CreateCreatorPlan", "name", line(bounds::PLAN_NAME)),
        (
            "CreateCreatorPlan",
            "price_monthly",
            amount(bounds::PLAN_PRICE),
        ),
        (
            "CreateCreatorPlan",
            "description",
            lines(bounds::PLAN_DESCRIPTION),
        ),
        (
            "SetSpendingAlerts",
            "monthly_budget",
            amount(bounds::BUDGET),
        ),
        (
            "SetSpendingAlerts",
            "alert_threshold_percent",
            range(1, 100),
        ),
    ]
}

fn accounts() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("CreateApiKey", "name", line(bounds::CREDENTIAL_NAME)),
        ("CreateApiKey", "expires_in", expires_in()),
        (
            "CreateServiceAccount",
            "name",
            line(bounds::CREDENTIAL_NAME),
        ),
        (
            "CreateServiceAccount",
            "scope",
            json!({"enum": [ServiceScope::Files, ServiceScope::FilesRead, null]}),
        ),
        ("Device", "name", line(bounds::CREDENTIAL_NAME)),
        ("InviteAccount", "email", email()),
        (
            "SetPassword",
            "password",
            json!({"minLength": MIN_PASSWORD, "maxLength": bounds::PASSWORD, "example": "a new password"}),
        ),
        ("SetQuota", "storage_limit", json!({"maximum": i64::MAX})),
        ("SetQuota", "bandwidth_limit", json!({"maximum": i64::MAX})),
        ("SetQuota", "file_count_limit", json!({"maximum": i64::MAX})),
        ("CreateWebhook", "events", json!({"minItems": 1})),
        ("UpdateWebhook", "events", json!({"minItems": 1})),
        (
            "KeyBundle",
            "version",
            json!({"minimum": 1, "maximum": i64::MAX}),
        ),
        ("KeyReplacement", "device", json!({"maxLength": 100})),
        ("PutKeys", "auth", hex_32()),
        ("PutKeys", "current_auth", hex_32()),
        ("PutKeys", "recovery_auth", hex_32()),
        ("SetUpRecovery", "passphrase_hash", hex_32()),
        ("SetUpRecovery", "recovery_auth", hex_32()),
        ("SetUpRecovery", "recovery", sealed_limits(1, 64 * 1024)),
    ]
}

/// Path, query parameter and what is demanded of it; its handler checks it.
fn parameters() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        (
            "/api/v1/changes",
            "limit",
            range(1, i64::from(bounds::CHANGES_PAGE)),
        ),
        (
            "/api/v1/changes/past",
            "limit",
            range(1, i64::from(bounds::CHANGES_PAGE)),
        ),
        (
            "/api/v1/changes/snapshot",
            "limit",
            range(1, i64::from(bounds::CHANGES_PAGE)),
        ),
        (
            "/api/v1/chunks/damaged",
            "limit",
            range(1, i64::from(bounds::CHANGES_PAGE)),
        ),
        ("/api/v1/social/notifications", "limit", range(1, 100)),
        (
            "/api/v1/nodes/",
            "sort_by",
            json!({ "enum": NodeOrder::TEXTS }),
        ),
        (
            "/api/v1/nodes/",
            "state",
            json!({"enum": ["active", "trashed"]}),
        ),
        (
            "/api/v1/search/",
            "mode",
            json!({ "enum": SearchMode::TEXTS }),
        ),
        (
            "/api/v1/search/",
            "query",
            json!({"minLength": MIN_QUERY, "maxLength": MAX_QUERY}),
        ),
        ("/api/v1/search/", "category", json!({ "enum": CATEGORIES })),
    ]
}

/// Returns all parameters of all endpoints.
fn all_parameters(document: &mut Value) -> impl Iterator<Item = &mut Value> {
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    paths
        .filter_map(|(_, item)| item.as_object_mut())
        .flatten()
        .filter_map(|(_, operation)| operation.get_mut("parameters")?.as_array_mut())
        .flatten()
}

/// Adds the rules to the schemas and parameters.
pub(super) fn complete(document: &mut Value) {
    for parameter in all_parameters(document) {
        if NEVER_EMPTY.iter().any(|name| parameter["name"] == *name) {
            merge(&mut parameter["schema"], json!({"minLength": 1}));
        }
    }
    for (path, name, rule) in parameters() {
        let found = document["paths"][path]["get"]["parameters"].as_array_mut();
        for parameter in found.into_iter().flatten() {
            if parameter["name"] == name {
                merge(&mut parameter["schema"], rule.clone());
            }
        }
    }
    let schemas = &mut document["components"]["schemas"];
    for (schema, field, rule) in rules() {
        let property = schemas
            .get_mut(schema)
            .and_then(|schema| schema["properties"].get_mut(field));
        if let Some(property) = property {
            merge(property, rule);
        }
    }
    for (schema, words) in WHOLE {
        if let Some(Value::Object(schema)) = schemas.get_mut(schema) {
            schema.insert(WORDS.to_owned(), json!(words));
        }
    }
    for (schema, field) in REQUIRED {
        if let Some(Value::Object(schema)) = schemas.get_mut(schema) {
            let required = schema.entry("required").or_insert_with(|| json!([]));
            if let Some(required) = required.as_array_mut() {
                required.push(json!(field));
            }
        }
    }
}

fn merge(into: &mut Value, rule: Value) {
    match (into, rule) {
        (Value::Object(into), Value::Object(rule)) => {
            for (key, value) in rule {
                merge(into.entry(key).or_insert(Value::Object(Map::new())), value);
            }
        }
        (into, rule) => *into = rule,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::Regex;

    #[test]
    fn every_rule_is_about_a_field_of_the_document() {
        let schemas = &crate::openapi::document()["components"]["schemas"];
        for (schema, field, rule) in rules() {
            let property = &schemas[schema]["properties"][field];
            for (key, value) in rule.as_object().unwrap() {
                if key != "items" && key != "additionalProperties" {
                    assert_eq!(&property[key], value, "{schema}.{field}");
                }
            }
        }
    }

    #[test]
    fn a_bound_of_numbers_is_exact() {
        for most in [1, 9, 10, 100, 365, 876_000, 36_499] {
            let pattern = Regex::new(&format!("^{}$", up_to(most))).unwrap();
            for number in [0, 1, most - 1, most, most + 1, most * 10] {
                let inside = (1..=most).contains(&number);
                assert_eq!(
                    pattern.is_match(&number.to_string()),
                    inside,
                    "{number} of {most}"
                );
            }
        }
        assert!(!Regex::new(&up_to(10)).unwrap().is_match("x"));
    }
}
