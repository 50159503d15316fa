//! Share links.

use crate::param::{
    Param, choice, colour, date_time, email, emails, flag, https, integer, integer_in, node, nodes,
    non_empty, number_above, number_from, text,
};
use crate::question;
use crate::share_many;
use crate::share_tools;
use crate::tool::{Effect, Run, Tool, Undo, delete, get, post, put};

const MODES: &[&str] = &["download", "view_only"];
const LINK: Param = non_empty("short_code", "Short code or UUID of the link").required();

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "create_share_link",
        "Create share link",
        Effect::Additive,
        "Creates a share link, which gives access to a file or folder without an account.",
        &[
            node("file_uuid", "File or folder").required(),
            choice("storage_type", &["VR_FILE", "VR_FOLDER"], "Type").or("VR_FILE"),
            number_above(
                "expiry_days",
                0.0,
                "Days until it expires; never if omitted",
            ),
            text("password", "Password for visitors").length(1, usize::MAX),
            integer(
                "download_limit",
                1,
                "Maximum number of downloads; then 410 Gone",
            ),
            emails("allowed_emails", 20, "Only these; public if omitted"),
            choice(
                "access_mode",
                MODES,
                "What visitors may do; set_share_link_defaults changes the default",
            )
            .or("download")
            .server_default(),
            date_time("active_from", "ISO 8601"),
            date_time("active_until", "ISO 8601"),
        ],
        Run::Custom(share_tools::create),
    )
    .undone_as(Undo::NewLinks)
    .open_world()
    .confirmed_with(question::share),
    Tool::new(
        "list_share_links",
        "List share links",
        Effect::ReadOnly,
        "Lists all share links, so what is shared, with access and download counts and status.",
        &[
            integer("page", 0, "Page, from 0").or_number(0),
            integer_in("page_size", 1, 100, "Items per page").or_number(20),
        ],
        Run::Rest(get("shares")),
    ),
    Tool::new(
        "update_share_link",
        "Update share link",
        Effect::IdempotentDestructive,
        "Changes settings of a share link.",
        &[
            LINK,
            number_above("expiry_days", 0.0, "Days from now"),
            text("password", "New password").length(1, usize::MAX),
            flag("is_active", "Switch it on or off"),
            choice("access_mode", MODES, "What visitors may do"),
            emails("allowed_emails", 20, "Only these; empty makes it public"),
        ],
        Run::Custom(share_tools::update),
    )
    .undone_as(Undo::LinkSettings)
    .asking(question::update_share),
    Tool::new(
        "delete_share_link",
        "Delete share link",
        Effect::IdempotentDestructive,
        "Deletes a share link: sharing stops, access is revoked permanently.",
        &[LINK],
        Run::Rest(delete("shares/{short_code}").success_message("the link is deleted")),
    )
    .confirmed_with(question::delete_share),
    Tool::new(
        "share_file_by_email",
        "Share file by email",
        Effect::Additive,
        "Creates a share link and mails it; the link is returned even if the mail fails (email_sent).",
        &[
            node("file_uuid", "File or folder").required(),
            email("email", "Recipient").required(),
            number_above("expiry_days", 0.0, "Days until it expires"),
            flag("view_only", "No download"),
        ],
        Run::Custom(share_tools::by_email),
    )
    .undone_as(Undo::NewLinks)
    .open_world()
    .confirmed_with(question::share),
    Tool::new(
        "bulk_create_share_links",
        "Bulk create share links",
        Effect::Additive,
        "Creates share links for up to 20 files; returns a result for each.",
        &[nodes("file_uuids", 20, "Files").required()],
        Run::Custom(share_many::bulk),
    )
    .undone_as(Undo::NotedByTool)
    .open_world()
    .confirmed_with(question::share_many),
    Tool::new(
        "set_share_link_defaults",
        "Set share link defaults",
        Effect::IdempotentDestructive,
        "Sets the defaults of new links; without arguments shows them.",
        &[
            number_from("default_expiry_days", 0.0, "0: no default"),
            choice("default_access_mode", MODES, "What visitors may do"),
            flag("notify_on_download", "Notify me of downloads"),
        ],
        Run::ShowOrUpdate(get("shares/defaults"), put("shares/defaults")),
    ),
    Tool::new(
        "toggle_share_link",
        "Toggle share link",
        Effect::Destructive,
        "Activates or deactivates a share link: switches it on or off; returns the state before and after.",
        &[LINK],
        Run::Rest(post("shares/{short_code}/toggle")),
    )
    .undone_as(Undo::LinkSettings)
    .asking(question::toggle_share),
    Tool::new(
        "set_share_page_theme",
        "Set share page theme",
        Effect::IdempotentDestructive,
        "Sets the theme of share pages; without arguments shows it.",
        &[
            text("display_name", "Displayed name").length(0, 100),
            text("bio", "Displayed text").length(0, 500),
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
        Effect::ReadOnly,
        "Shows who opened or downloaded what is shared: email or anonymous, masked IP, bytes, time.",
        &[LINK],
        Run::AllPages(get("shares/{short_code}/access-log").pages_from_zero()),
    ),
];
