//! The account itself: settings, notifications, recovery, API keys.

use crate::param::{between, flag, hex, said, text};
use crate::tool::{Effect, Run, Tool, delete, get, post, put};

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "get_account_info",
        "Get account info",
        Effect::Reads,
        "Shows profile, plan, quota and settings.",
        &[],
        Run::Rest(get("useraccount/composite")),
    ),
    Tool::new(
        "get_notifications",
        "Get notifications",
        Effect::Reads,
        "Lists recent notifications.",
        &[between("limit", 1, 100, "How many").or_number(20)],
        Run::Rest(get("social/notifications")),
    ),
    Tool::new(
        "mark_notification_read",
        "Mark notification read",
        Effect::Sets,
        "Marks a notification as read.",
        &[said("notification_id", "Notification").required()],
        Run::Rest(put("social/notifications/{notification_id}/read").done("marked as read")),
    ),
    Tool::new(
        "check_recovery_key_status",
        "Check recovery key status",
        Effect::Reads,
        "Tells whether a recovery key is set up.",
        &[],
        Run::Rest(get("keys/recovery")),
    ),
    Tool::new(
        "get_storage_usage",
        "Get storage usage",
        Effect::Reads,
        "Shows quota, used space, file count and bandwidth.",
        &[],
        Run::Rest(get("userusage/quota-limit")),
    ),
    Tool::new(
        "setup_recovery_key",
        "Set up recovery key",
        Effect::Spends,
        "Makes a recovery key and shows it once; an earlier one stops working.",
        &[hex(
            "passphrase_hash",
            "Hex PBKDF2 hash, made from the passphrase by the client",
        )
        .required()],
        Run::Rest(post("keys/recovery/setup")),
    ),
    Tool::new(
        "get_encryption_audit_log",
        "Get encryption audit log",
        Effect::Reads,
        "Lists key rotations, recovery set-ups and passphrase changes.",
        &[],
        Run::Rest(get("useraccount/encryption-audit").fixed(&[("page_size", "100")])),
    ),
    Tool::new(
        "request_account_deletion",
        "Request account deletion",
        Effect::Replaces,
        "Deletes the account after 60 days of grace; restore_account undoes it.",
        &[],
        Run::Rest(delete("useraccount").done("the account will be deleted in 60 days")),
    )
    .confirmed(),
    Tool::new(
        "restore_account",
        "Restore account",
        Effect::Sets,
        "Cancels a pending deletion.",
        &[],
        Run::Rest(post("useraccount/restore").done("the account is active again")),
    ),
    Tool::new(
        "get_email_preferences",
        "Get email preferences",
        Effect::Reads,
        "Shows which emails you get.",
        &[],
        Run::Rest(get("useraccount/email-preferences")),
    ),
    Tool::new(
        "update_email_preferences",
        "Update email preferences",
        Effect::Replaces,
        "Changes which emails you get; only given fields change.",
        &[
            flag("share_notifications", "Of shares"),
            flag("follow_notifications", "Of followers"),
            flag("system_announcements", "Of the service"),
            flag("marketing_emails", "Advertising"),
            flag("unsubscribe_all", "true: none at all"),
        ],
        Run::Update(put("useraccount/email-preferences")),
    ),
    Tool::new(
        "list_api_keys",
        "List API keys",
        Effect::Reads,
        "Lists API keys: names, prefixes, dates, status.",
        &[],
        Run::Rest(get("apikeys").fixed(&[("page_size", "100")])),
    ),
    Tool::new(
        "create_api_key",
        "Create API key",
        Effect::Adds,
        "Makes an API key and shows it once; at most 10 are active.",
        &[
            said("name", "What it is for").length(1, 100).required(),
            text("expires_in", "Such as 30d; never if omitted").length(1, 20),
        ],
        Run::Rest(post("apikeys")),
    ),
];
