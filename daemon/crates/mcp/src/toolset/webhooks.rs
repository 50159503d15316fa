//! Webhooks, and rules that delete files by age.

use crate::param::{callback, choices, said, uuid, whole};
use crate::tool::{Effect, Run, Tool, delete, get, post};

/// The event types of the service.
const EVENTS: &[&str] = &[
    "file.uploaded",
    "file.downloaded",
    "file.deleted",
    "file.moved",
    "file.renamed",
    "share.created",
    "share.accessed",
    "share.downloaded",
    "share.revoked",
    "team.member_joined",
    "team.member_left",
    "webhook.test",
];

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "create_webhook",
        "Create webhook",
        Effect::Adds,
        "Has events sent to an address.",
        &[
            callback("url", "Public HTTPS address").required(),
            choices("events", EVENTS, "Which").required(),
        ],
        Run::Rest(post("webhooks")),
    )
    .open_world(),
    Tool::new(
        "list_webhooks",
        "List webhooks",
        Effect::Reads,
        "Lists your webhooks with events and status.",
        &[],
        Run::Rest(get("webhooks").fixed(&[("page_size", "100")])),
    ),
    Tool::new(
        "delete_webhook",
        "Delete webhook",
        Effect::Replaces,
        "Deletes a webhook; it is called no more.",
        &[said("webhook_id", "Webhook").required()],
        Run::Rest(delete("webhooks/{webhook_id}").done("the webhook is deleted")),
    )
    .confirmed(),
    Tool::new(
        "create_retention_rule",
        "Create retention rule",
        Effect::Spends,
        "Has files in a folder deleted when they get old.",
        &[
            uuid("folder_uuid", "Folder").required(),
            whole("delete_after_days", 1, "Age in days").required(),
            said("name", "Rule name").length(1, 255).required(),
        ],
        Run::Rest(post("retention-rules").renamed(&[("folder_uuid", "folder_id")])),
    )
    .confirmed(),
];
