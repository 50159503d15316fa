//! Share links.

use crate::param::{
    Param, between, choice, colour, email, emails, flag, https, moment, number_above, said, text,
    uuid, uuids, whole,
};
use crate::share_tools;
use crate::tool::{Effect, Run, Tool, delete, get, post, put};

const MODES: &[&str] = &["download", "view_only"];
const LINK: Param = said("short_code", "Short code or UUID of the link").required();

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "create_share_link",
        "Create share link",
        Effect::Adds,
        "Makes a share link for a file or folder.",
        &[
            uuid("file_uuid", "File or folder").required(),
            choice("storage_type", &["VR_FILE", "VR_FOLDER"], "What it is").or("VR_FILE"),
            number_above(
                "expiry_days",
                0.0,
                "Days until it expires; never if omitted",
            ),
            text("password", "Asked of visitors").length(1, usize::MAX),
            whole(
                "download_limit",
                1,
                "After so many downloads it answers 410 Gone",
            ),
            emails("allowed_emails", 20, "Only these; public if omitted"),
            choice(
                "access_mode",
                MODES,
                "What visitors may do; set_share_link_defaults can change the default",
            )
            .or("download")
            .chosen_there(),
            moment("active_from", "ISO 8601"),
            moment("active_until", "ISO 8601"),
        ],
        Run::Own(share_tools::create),
    )
    .open_world(),
    Tool::new(
        "list_share_links",
        "List share links",
        Effect::Reads,
        "Lists share links with access and download counts and status.",
        &[
            whole("page", 0, "Page, from 0").or_number(0),
            between("page_size", 1, 100, "Items per page").or_number(20),
        ],
        Run::Rest(get("shares")),
    ),
    Tool::new(
        "update_share_link",
        "Update share link",
        Effect::Replaces,
        "Changes settings of a share link.",
        &[
            LINK,
            number_above("expiry_days", 0.0, "Days from now"),
            text("password", "New password").length(1, usize::MAX),
            flag("is_active", "Switch it on or off"),
            choice("access_mode", MODES, "What visitors may do"),
            emails("allowed_emails", 20, "Only these; empty makes it public"),
        ],
        Run::Own(share_tools::update),
    ),
    Tool::new(
        "delete_share_link",
        "Delete share link",
        Effect::Replaces,
        "Deletes a share link: access is revoked for good.",
        &[LINK],
        Run::Rest(delete("shares/{short_code}").done("the link is deleted")),
    )
    .confirmed(),
    Tool::new(
        "share_file_by_email",
        "Share file by email",
        Effect::Adds,
        "Makes a share link and mails it; the link comes back even if the mail fails (email_sent).",
        &[
            uuid("file_uuid", "File or folder").required(),
            email("email", "Recipient").required(),
            number_above("expiry_days", 0.0, "Days until it expires"),
            flag("view_only", "No download"),
        ],
        Run::Own(share_tools::by_email),
    )
    .open_world(),
    Tool::new(
        "bulk_create_share_links",
        "Bulk create share links",
        Effect::Adds,
        "Makes share links for up to 20 files; tells of each whether it worked.",
        &[uuids("file_uuids", 20, "Files").required()],
        Run::Own(share_tools::bulk),
    )
    .open_world(),
    Tool::new(
        "set_share_link_defaults",
        "Set share link defaults",
        Effect::Replaces,
        "Sets what new links get; without arguments shows it.",
        &[
            whole("default_expiry_days", 0, "0: no default"),
            choice("default_access_mode", MODES, "What visitors may do"),
            flag("notify_on_download", "Tell me of downloads"),
        ],
        Run::ShowOrUpdate(get("shares/defaults"), put("shares/defaults")),
    ),
    Tool::new(
        "toggle_share_link",
        "Toggle share link",
        Effect::Spends,
        "Switches a share link on or off; returns the state before and after.",
        &[LINK],
        Run::Rest(post("shares/{short_code}/toggle")),
    ),
    Tool::new(
        "set_share_page_theme",
        "Set share page theme",
        Effect::Replaces,
        "Sets how share pages look; without arguments shows it.",
        &[
            text("display_name", "Shown name").length(0, 100),
            text("bio", "Shown text").length(0, 500),
            https("logo_url", "HTTPS address"),
            colour("accent_color", "#RRGGBB"),
            colour("background_color", "#RRGGBB"),
            choice(
                "css_class",
                &[
                    "theme-dark",
                    "theme-light",
                    "theme-minimal",
                    "theme-bold",
                    "theme-elegant",
                    "",
                ],
                "Empty clears it",
            ),
        ],
        Run::ShowOrUpdate(get("shares/theme"), put("shares/theme")),
    ),
    Tool::new(
        "get_share_access_log",
        "Get share access log",
        Effect::Reads,
        "Shows who opened a share link: email or anonymous, masked IP, bytes, time.",
        &[LINK],
        Run::Rest(get("shares/{short_code}/access-log")),
    ),
];
