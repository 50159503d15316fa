//! Webhooks, and rules that delete files by age.

use crate::param::{SKIP, callback, choices, integer_in, node, non_empty};
use crate::question;
use crate::tool::{Effect, Run, Tool, delete, get, post};
use cairn_model::EventKind;

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "create_webhook",
        "Create webhook",
        Effect::Additive,
        "Sets up a webhook: calls your server on events, such as a new upload.",
        &[
            callback("url", "Public HTTPS address").required(),
            choices("events", EventKind::TEXTS, "Event types").required(),
        ],
        Run::Rest(post("webhooks")),
    )
    .open_world()
    .confirmed_with(question::create_webhook),
    Tool::new(
        "list_webhooks",
        "List webhooks",
        Effect::ReadOnly,
        "Lists your webhooks with events and status.",
        &[SKIP],
        Run::AllPages(get("webhooks").fixed(&[("status", "all")])),
    ),
    Tool::new(
        "delete_webhook",
        "Delete webhook",
        Effect::IdempotentDestructive,
        "Deletes a webhook; callbacks stop at once.",
        &[non_empty("webhook_id", "Webhook id").required()],
        Run::Rest(delete("webhooks/{webhook_id}").success_message("the webhook is deleted")),
    )
    .confirmed_with(question::delete_webhook),
    Tool::new(
        "create_retention_rule",
        "Create retention rule",
        Effect::Destructive,
        "Deletes files in a folder automatically after a number of days.",
        &[
            node("folder_uuid", "Folder").required(),
            integer_in("delete_after_days", 1, 36_500, "Age in days").required(),
            non_empty("name", "Rule name").length(1, 255).required(),
        ],
        Run::Rest(post("retention-rules").renamed(&[("folder_uuid", "folder_id")])),
    )
    .confirmed_with(question::retention_rule),
];
