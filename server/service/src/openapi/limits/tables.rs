//! The tables of constraints: each field and each parameter that has one.

use super::kinds::{
    HTTPS, LOGO, amount, colour, email, expires_in, expiry_days, folder_path, handle, hex_32,
    https, items, line, lines, name, page_limit, range, sealed_limits, text, up_to_characters,
};
use crate::bounds;
use crate::http::check::WORDS;
use crate::http::page::{DEFAULT_SIZE, MAX_SIZE};
use crate::identity::password::MIN_PASSWORD;
use crate::routes::search::{CATEGORIES, MAX_QUERY, MIN_QUERY};
use crate::routes::shares::settings::MAX_KEY_BLOB;
use cairn_model::{SearchMode, ServiceScope};
use cairn_store::MAX_GRANT;
use cairn_store::catalog::packs;
use cairn_wire::nodes::NodeOrder;
use cairn_wire::shares::MAX_LISTING;
use cairn_wire::transfer::{BATCH_FILES, MAX_SEALED_CHUNK};
use serde_json::{Value, json};

/// A schema or a path, its field or parameter, and what is demanded of that.
type Rule = (&'static str, &'static str, Value);

/// Schema, field and what is demanded of it.
pub(super) fn rules() -> Vec<Rule> {
    [files(), links(), people(), money(), accounts()].concat()
}

fn files() -> Vec<Rule> {
    let label = lines(bounds::LABEL);
    vec![
        ("CreateNode", "name", name()),
        (
            "CreateNode",
            "kind",
            json!({
                "enum": ["folder"],
                WORDS: "it has to be `folder`; files are made by POST /uploads or POST /uploads/batch",
            }),
        ),
        ("UpdateNode", "name", name()),
        ("UpdateNode", "description", lines(bounds::NODE_DESCRIPTION)),
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
        ("CreateFolders", "path", folder_path()),
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

fn links() -> Vec<Rule> {
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
            lines(bounds::DISPLAY_NAME),
        ),
        ("UpdateShareTheme", "bio", lines(bounds::BIO)),
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

fn people() -> Vec<Rule> {
    let role = json!(["admin", "member", null]);
    vec![
        ("CreateTeam", "name", line(bounds::TEAM_NAME)),
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

fn money() -> Vec<Rule> {
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

fn accounts() -> Vec<Rule> {
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
        ("KeyReplacement", "device", lines(100)),
        ("PutKeys", "auth", hex_32()),
        ("PutKeys", "current_auth", hex_32()),
        ("PutKeys", "recovery_auth", hex_32()),
        ("SetUpRecovery", "passphrase_hash", hex_32()),
        ("SetUpRecovery", "recovery_auth", hex_32()),
        ("SetUpRecovery", "recovery", sealed_limits(1, 64 * 1024)),
    ]
}

/// Path, query parameter and what is demanded of it; its handler checks it.
pub(super) fn parameters() -> Vec<Rule> {
    let changes = page_limit(bounds::CHANGES_PAGE.into(), bounds::CHANGES_PAGE.into());
    let notifications = page_limit(MAX_SIZE, DEFAULT_SIZE);
    vec![
        ("/api/v1/changes", "limit", changes.clone()),
        ("/api/v1/changes/past", "limit", changes.clone()),
        ("/api/v1/changes/snapshot", "limit", changes.clone()),
        ("/api/v1/chunks/damaged", "limit", changes.clone()),
        ("/api/v1/social/notifications", "limit", notifications),
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
            json!({"enum": SearchMode::TEXTS, "default": SearchMode::default()}),
        ),
        (
            "/api/v1/search/",
            "query",
            json!({"minLength": MIN_QUERY, "maxLength": MAX_QUERY}),
        ),
        ("/api/v1/search/", "category", json!({ "enum": CATEGORIES })),
    ]
}
