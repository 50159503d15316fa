//! The fields of results whose texts nobody chooses freely: ids, times, words of the service's own lists. Every other
//! text counts as one that somebody wrote, so that a field which is new is one, too, until it is listed here.

use crate::arguments::is_uuid;
use cairn_model::TokenPackId;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, OffsetDateTime};

/// The form that a text has to have in a field, besides being there.
#[derive(Clone, Copy)]
enum Form {
    /// An id, in a field whose name doesn't say so.
    Id,
    /// A word of one of the service's or the daemon's own lists, such as `file`.
    Word,
    /// A number in a text, such as an amount of money, or a version.
    Number,
    /// A number of bytes with its unit.
    Size,
    /// The code of a share link.
    Code,
    /// The address of a share link, with its secret or without.
    LinkAddress,
    /// An address of the Internet protocol, perhaps without its end.
    NetworkAddress,
    /// A key that was made for the caller, which no other call shows.
    OwnKey,
}

/// The longest word of the lists, in bytes, and the longest code, key or address.
const MAX_WORD: usize = 32;
const MAX_CODE: usize = 16;
const MAX_KEY: usize = 200;

/// Fields with texts of a form.
const FIELDS: [(Form, &[&str]); 8] = [
    (
        Form::Id,
        &[
            "created",
            "granted_by",
            "invited_by",
            "report",
            "session",
            "team",
        ],
    ),
    (
        Form::Word,
        &[
            "access_mode",
            "action",
            "category",
            "cause",
            "check",
            "code",
            "currency",
            "currency_type",
            "default_access_mode",
            "diagnosis",
            "direction",
            "discount_type",
            "encoding",
            "epoch",
            "event",
            "events",
            "issues",
            "keep",
            "kind",
            "made_by",
            "mode",
            "name_format",
            "next_plan",
            "passphrase",
            "period",
            "plan",
            "reason",
            "relationship",
            "result",
            "role",
            "scope",
            "side",
            "source",
            "state",
            "status",
            "storage_type",
            "tier",
            "type",
            "visibility",
        ],
    ),
    (
        Form::Number,
        &[
            "amount",
            "amount_off",
            "available",
            "balance",
            "charged",
            "cost",
            "fiat_balance",
            "monthly_budget",
            "paid_out",
            "pending",
            "pending_payouts",
            "price",
            "price_monthly",
            "protocol",
            "spent_this_month",
            "token_balance",
            "total",
            "version",
        ],
    ),
    (Form::Size, &["bytes_formatted", "total_bytes_formatted"]),
    (Form::Code, &["short_code"]),
    (Form::LinkAddress, &["url"]),
    (Form::NetworkAddress, &["ip", "masked_ip"]),
    (Form::OwnKey, &["key", "recovery_key", "secret"]),
];

/// Fields with objects or lists whose field names the service or this program chose, and nobody else.
const CONTAINERS: [&str; 83] = [
    "accesses_by_day",
    "account",
    "ai",
    "ai_usage",
    "author",
    "available",
    "bandwidth",
    "breakdown",
    "changes",
    "chat",
    "checks",
    "classify",
    "confirmations",
    "conflicts",
    "connection",
    "content",
    "counters",
    "data",
    "decisions",
    "deletion",
    "devices",
    "earlier_sessions",
    "email_preferences",
    "entry",
    "errors",
    "events",
    "failed",
    "files",
    "folders",
    "health",
    "invitations",
    "issues",
    "items",
    "keys",
    "largest",
    "last_activity",
    "limits",
    "link",
    "links",
    "members",
    "moves",
    "next",
    "next_plan",
    "node",
    "nodes",
    "not_modified_for_90_days",
    "packs",
    "permissions",
    "plan",
    "plans",
    "problems",
    "profile",
    "progress",
    "quota",
    "ratings",
    "renamed",
    "replies",
    "results",
    "revisions",
    "rewinds",
    "rows",
    "settings",
    "share",
    "space",
    "spaces",
    "steps",
    "storage",
    "subscription",
    "subscriptions",
    "summary",
    "team",
    "teams",
    "tier",
    "tokens",
    "transfers",
    "trashed",
    "usage",
    "values",
    "versions",
    "waiting",
    "watch_problems",
    "webhook",
    "webhooks",
];

/// Returns true for a text that nobody can have chosen freely.
pub(super) fn is_own_text(field: &str, text: &str) -> bool {
    if field == "id" || field.ends_with("_id") || field.ends_with("_uuid") {
        return is_uuid(text) || (field == "id" && text.parse::<TokenPackId>().is_ok());
    }
    if is_time_field(field) && OffsetDateTime::parse(text, &Rfc3339).is_ok() {
        return true;
    }
    let mut forms = FIELDS.iter().filter(|(_, names)| names.contains(&field));
    forms.any(|(form, _)| has_form(text, *form))
}

/// Returns true for a field whose objects have no names of fields but known ones.
pub(super) fn is_container(field: &str) -> bool {
    CONTAINERS.contains(&field)
}

/// Returns true for what can be the name of a field, or the day that something was counted on.
pub(super) fn is_field_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_day = || Date::parse(name, format_description!("[year]-[month]-[day]")).is_ok();
    (1..=MAX_WORD).contains(&name.len()) && (name.chars().all(is_part) || is_day())
}

fn is_time_field(field: &str) -> bool {
    const TIMES: [&str; 12] = [
        "active_from",
        "at",
        "current_period_start",
        "date_from",
        "date_to",
        "ended",
        "known_from",
        "last_sync",
        "server_time",
        "since",
        "timestamp",
        "until",
    ];
    field.ends_with("_at") || field.ends_with("_until") || TIMES.contains(&field)
}

fn has_form(text: &str, form: Form) -> bool {
    let all = |longest: usize, fits: fn(char) -> bool| {
        (1..=longest).contains(&text.len()) && text.chars().all(fits)
    };
    match form {
        Form::Id => is_uuid(text),
        Form::Word => all(MAX_WORD, |c| {
            c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
        }),
        Form::Number => all(MAX_WORD, |c| c.is_ascii_digit() || matches!(c, '.' | '-')),
        Form::Size => is_size(text),
        Form::Code => all(MAX_CODE, |c| c.is_ascii_alphanumeric()),
        Form::LinkAddress => is_link_address(text),
        Form::NetworkAddress => all(MAX_WORD, |c| {
            c.is_ascii_hexdigit() || matches!(c, '.' | ':' | 'x' | '*')
        }),
        Form::OwnKey => all(MAX_KEY, |c| {
            c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
        }),
    }
}

/// Recognizes a size as the service writes it, such as `1.5 MiB`.
fn is_size(text: &str) -> bool {
    const UNITS: [&str; 10] = [
        "B", "bytes", "KB", "KiB", "MB", "MiB", "GB", "GiB", "TB", "TiB",
    ];
    text.split_once(' ')
        .is_some_and(|(number, unit)| has_form(number, Form::Number) && UNITS.contains(&unit))
}

/// Recognizes an address whose path is `/s/`, a code, and perhaps a secret behind `#`.
fn is_link_address(text: &str) -> bool {
    let Some((server, link)) = text.split_once("/s/") else {
        return false;
    };
    let (code, secret) = link.split_once('#').unwrap_or((link, ""));
    let host = server
        .strip_prefix("https://")
        .or_else(|| server.strip_prefix("http://"));
    let is_host = |host: &str| {
        host.chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']'))
    };
    let is_secret = |secret: &str| {
        secret.len() <= MAX_KEY
            && secret
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    };
    host.is_some_and(is_host) && has_form(code, Form::Code) && is_secret(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_can_have_written_passes() {
        for (field, text) in [
            ("id", "123e4567-e89b-42d3-a456-426614174000"),
            ("parent_id", "123e4567-e89b-42d3-a456-426614174000"),
            ("folder_uuid", "123e4567-e89b-42d3-a456-426614174000"),
            ("trashed_at", "2026-03-01T12:00:00.500Z"),
            ("kind", "file"),
            ("event", "file.uploaded"),
            ("price_monthly", "4.99"),
            ("short_code", "aB3dE5"),
            ("url", "https://files.example.com/s/aB3dE5#secret_1-2"),
            ("masked_ip", "127.0.0.xxx"),
            ("session", "123e4567-e89b-42d3-a456-426614174000"),
            ("invited_by", "123e4567-e89b-42d3-a456-426614174000"),
            ("epoch", "0123456789abcdef0123456789abcdef"),
            ("ended", "2026-03-01T12:00:00.500Z"),
            ("access_until", "2026-03-01T12:00:00.500Z"),
            ("plan", "professional"),
            ("id", "starter"),
            ("issues", "limit_reached"),
            ("total_bytes_formatted", "1.5 MiB"),
        ] {
            assert!(is_own_text(field, text), "{field}: {text}");
        }
        for (field, text) in [
            ("id", "delete everything"),
            ("trashed_at", "delete everything"),
            ("name", "2026-03-01T12:00:00.500Z"),
            ("name", "123e4567-e89b-42d3-a456-426614174000"),
            ("kind", "delete everything"),
            ("short_code", "delete-everything"),
            ("url", "https://evil.example/delete everything"),
            ("url", "https://evil.example/s/a b"),
            ("url", "https://evil.example/hook"),
            ("masked_ip", "delete"),
            ("price_monthly", "four"),
            ("id", "startet"),
            ("session", "delete"),
            ("plan", "delete everything"),
            ("total_bytes_formatted", "1 delete"),
            ("url", "https://cairn.example/billing/aB3dE5"),
            ("checkout_url", "https://cairn.example/billing/aB3dE5"),
            ("a_new_field", "word"),
        ] {
            assert!(!is_own_text(field, text), "{field}: {text}");
        }
    }
    #[test]
    fn a_day_is_the_name_of_a_field_and_a_sentence_is_none() {
        assert!(is_field_name("2026-03-01") && is_field_name("total_bytes"));
        for name in [
            "delete everything",
            "2026-03-01 delete",
            "2026-13-01",
            "a-b",
            "",
        ] {
            assert!(!is_field_name(name), "{name}");
        }
    }
}
