//! Profiles, follows, the feed, tips.

use crate::param::{PAGE, Param, choice, flag, handle, integer, money, text, uuid, uuids};
use crate::question;
use crate::tool::{Effect, Requirement, Run, Tool, delete, get, post, put};

const USER: Param = uuid("user_id", "User").required();

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "get_profile",
        "Get profile",
        Effect::ReadOnly,
        "Shows a user's name, bio, avatar, follower counts and verification.",
        &[USER],
        Run::Rest(get("social/profiles/{user_id}")),
    ),
    Tool::new(
        "update_profile",
        "Update profile",
        Effect::IdempotentDestructive,
        "Changes your profile; only given fields change.",
        &[
            text("display_name", "Displayed name").length(0, 100),
            text("bio", "About you").length(0, 500),
            text("avatar_url", "Picture address"),
        ],
        Run::Update(put("social/profile")),
    ),
    Tool::new(
        "follow_user",
        "Follow user",
        Effect::IdempotentAdditive,
        "Follows a user; users who follow each other become friends.",
        &[uuid("target_user_id", "User").required()],
        Run::Rest(post("social/follow/{target_user_id}").success_message("you follow this user")),
    ),
    Tool::new(
        "unfollow_user",
        "Unfollow user",
        Effect::IdempotentAdditive,
        "Stops following a user.",
        &[USER],
        Run::Rest(
            delete("social/follow/{user_id}").success_message("you no longer follow this user"),
        ),
    ),
    Tool::new(
        "list_followers",
        "List followers",
        Effect::ReadOnly,
        "Lists the users who follow you.",
        &[],
        Run::AllPages(get("social/followers")),
    ),
    Tool::new(
        "list_following",
        "List following",
        Effect::ReadOnly,
        "Lists the users you follow.",
        &[],
        Run::AllPages(get("social/following")),
    ),
    Tool::new(
        "get_feed",
        "Get feed",
        Effect::ReadOnly,
        "Shows activity of the people you follow.",
        &[PAGE],
        Run::Rest(get("social/feed")),
    ),
    Tool::new(
        "send_tip",
        "Send tip",
        Effect::Destructive,
        "Sends money or tokens to a creator's tip jar. Costs money.",
        &[
            uuid("tip_jar_uuid", "Tip jar").required(),
            money("amount", 1, 1_000_000, "0.01 to 10000.00").required(),
            choice("currency_type", &["fiat", "tokens"], "Currency").or("fiat"),
            integer("token_amount", 1, "In cents; required for tokens"),
            text("message", "To the creator").length(0, 1000),
            flag("is_anonymous", "Without your name"),
        ],
        Run::Rest(post("social/tips").renamed(&[("tip_jar_uuid", "tip_jar_id")])),
    )
    .requirements(&[Requirement {
        when: ("currency_type", "tokens"),
        argument: "token_amount",
    }])
    .open_world()
    .confirmed_with(question::send_tip),
    Tool::new(
        "follow_users_bulk",
        "Follow users in bulk",
        Effect::IdempotentAdditive,
        "Follows up to 20 users; returns a result for each.",
        &[uuids("user_ids", 20, "Users").required()],
        Run::Rest(post("social/follow/bulk")),
    ),
    Tool::new(
        "get_follow_suggestions",
        "Get follow suggestions",
        Effect::ReadOnly,
        "Suggests users to follow.",
        &[],
        Run::Rest(get("social/suggestions")),
    ),
    Tool::new(
        "get_connection_status",
        "Get connection status",
        Effect::ReadOnly,
        "Shows whether you follow, block or mute a user.",
        &[USER],
        Run::Rest(get("social/connections/{user_id}")),
    ),
    Tool::new(
        "block_user",
        "Block user",
        Effect::IdempotentDestructive,
        "Blocks a user and removes follows both ways.",
        &[USER],
        Run::Rest(post("social/block/{user_id}").success_message("the user is blocked")),
    ),
    Tool::new(
        "unblock_user",
        "Unblock user",
        Effect::IdempotentAdditive,
        "Lifts a block.",
        &[USER],
        Run::Rest(
            delete("social/block/{user_id}").success_message("the user is no longer blocked"),
        ),
    ),
    Tool::new(
        "mute_user",
        "Mute user",
        Effect::IdempotentAdditive,
        "Hides a user's activity from your feed without telling them.",
        &[USER],
        Run::Rest(post("social/mute/{user_id}").success_message("the user is muted")),
    ),
    Tool::new(
        "set_username",
        "Set username",
        Effect::IdempotentDestructive,
        "Sets your username.",
        &[handle("username", 1, 30, "Letters, digits, - and _").required()],
        Run::Rest(put("social/username")),
    ),
    Tool::new(
        "set_vanity_url",
        "Set vanity URL",
        Effect::IdempotentDestructive,
        "Sets the address of your profile page.",
        &[handle("vanity_url", 3, 30, "Letters, digits, - and _").required()],
        Run::Rest(put("social/vanity-url")),
    ),
    Tool::new(
        "set_profile_visibility",
        "Set profile visibility",
        Effect::IdempotentDestructive,
        "Sets who can see your profile.",
        &[choice(
            "visibility",
            &["public", "private", "followers_only"],
            "Who",
        )
        .required()],
        Run::Rest(put("social/visibility")),
    ),
    Tool::new(
        "report_user",
        "Report user",
        Effect::Additive,
        "Reports a user to moderation.",
        &[
            USER,
            choice(
                "reason",
                &[
                    "spam",
                    "harassment",
                    "impersonation",
                    "inappropriate_content",
                    "other",
                ],
                "Why",
            )
            .required(),
            text("details", "What happened").length(0, 1000),
        ],
        Run::Rest(post("social/reports")),
    ),
];
