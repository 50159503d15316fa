//! The account itself: settings, notifications, recovery, API keys.

use crate::param::{duration, flag, hex, integer_in, non_empty};
use crate::question;
use crate::recovery;
use crate::tool::{Effect, Run, Tool, delete, get, post, put};
use crate::usage;

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "get_account_info",
        "Get account info",
        Effect::ReadOnly,
        "Shows profile, plan, quota and settings.",
        &[],
        Run::Rest(get("useraccount/composite")),
    ),
    Tool::new(
        "get_notifications",
        "Get notifications",
        Effect::ReadOnly,
        "Lists recent notifications.",
        &[integer_in("limit", 1, 100, "Maximum number").or_number(20)],
        Run::Rest(get("social/notifications")),
    ),
    Tool::new(
        "mark_notification_read",
        "Mark notification read",
        Effect::IdempotentAdditive,
        "Marks a notification as read.",
        &[non_empty("notification_id", "Notification").required()],
        Run::Rest(
            put("social/notifications/{notification_id}/read").success_message("marked as read"),
        ),
    ),
    Tool::new(
        "check_recovery_key_status",
        "Check recovery key status",
        Effect::ReadOnly,
        "Shows whether a recovery key is set up.",
        &[],
        Run::Custom(recovery::status),
    ),
    Tool::new(
        "get_storage_usage",
        "Get storage usage",
        Effect::ReadOnly,
        "Shows quota, used space, file count and bandwidth, the largest files, and those not modified for 90 days.",
        &[],
        Run::Custom(usage::storage),
    ),
    Tool::new(
        "setup_recovery_key",
        "Set up recovery key",
        Effect::Destructive,
        "Creates a recovery key and shows it once. With SERVICE_PASSPHRASE it opens the files and replaces an earlier one; without, it only resets the account.",
        &[hex(
            "passphrase_hash",
            "Hex PBKDF2 hash, derived from the passphrase by the client",
        )
        .required()],
        Run::Custom(recovery::setup),
    )
    .confirmed_with(question::recovery_key),
    Tool::new(
        "get_encryption_audit_log",
        "Get encryption audit log",
        Effect::ReadOnly,
        "Lists key rotations, recovery set-ups and passphrase changes.",
        &[],
        Run::Rest(get("useraccount/encryption-audit").fixed(&[("page_size", "100")])),
    ),
    Tool::new(
        "request_account_deletion",
        "Request account deletion",
        Effect::IdempotentDestructive,
        "Deletes the account after a grace period of 60 days; restore_account cancels it.",
        &[],
        Run::Rest(delete("useraccount").success_message("the account will be deleted in 60 days")),
    )
    .confirmed_with(question::delete_account),
    Tool::new(
        "restore_account",
        "Restore account",
        Effect::IdempotentAdditive,
        "Cancels a pending deletion.",
        &[],
        Run::Rest(post("useraccount/restore").success_message("the account is active again")),
    ),
    Tool::new(
        "get_email_preferences",
        "Get email preferences",
        Effect::ReadOnly,
        "Shows which emails you get.",
        &[],
        Run::Rest(get("useraccount/email-preferences")),
    ),
    Tool::new(
        "update_email_preferences",
        "Update email preferences",
        Effect::IdempotentDestructive,
        "Changes which emails you get; only given fields change.",
        &[
            flag("share_notifications", "About shares"),
            flag("follow_notifications", "About followers"),
            flag("system_announcements", "About the service"),
            flag("marketing_emails", "Advertising"),
            flag("unsubscribe_all", "true: none at all"),
        ],
        Run::Update(put("useraccount/email-preferences")),
    ),
    Tool::new(
        "list_api_keys",
        "List API keys",
        Effect::ReadOnly,
        "Lists API keys: names, prefixes, dates, status.",
        &[],
        Run::AllPages(get("apikeys")),
    ),
    Tool::new(
        "create_api_key",
        "Create API key",
        Effect::Additive,
        "Creates an API key and shows it once; at most 10 can be active.",
        &[
            non_empty("name", "Purpose of the key")
                .length(1, 100)
                .required(),
            duration("expires_in", "Such as 30d; never if omitted").length(1, 20),
        ],
        Run::Rest(post("apikeys")),
    )
    .confirmed_with(question::create_api_key),
];
