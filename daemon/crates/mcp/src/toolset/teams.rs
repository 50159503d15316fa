//! Teams, their members and what they may do.

use crate::param::{Param, SKIP, choice, email, non_empty, uuid};
use crate::question;
use crate::tool::{Effect, Run, Tool, delete, get, post, put};

const TEAM: Param = uuid("team_uuid", "Team").required();
const MEMBER: Param = uuid("user_id", "Member").required();

const REMOVED: &str = "the member is removed; a team with a key needs a new one before anything else can be put into it: have a person run `cairn teams grant` with its name";
const OFFBOARDED: &str = "the member is offboarded; a team with a key needs a new one before anything else can be put into it: have a person run `cairn teams grant` with its name";

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "list_teams",
        "List teams",
        Effect::ReadOnly,
        "Lists your teams with roles and member counts.",
        &[SKIP],
        Run::AllPages(get("teams")),
    ),
    Tool::new(
        "get_team_info",
        "Get team info",
        Effect::ReadOnly,
        "Shows name, owner, member count and creation date of a team.",
        &[TEAM],
        Run::Rest(get("teams/{team_uuid}")),
    ),
    Tool::new(
        "list_team_members",
        "List team members",
        Effect::ReadOnly,
        "Lists members with roles, emails and join dates.",
        &[TEAM],
        Run::AllPages(get("teams/{team_uuid}/members")),
    ),
    Tool::new(
        "create_team",
        "Create team",
        Effect::Additive,
        "Creates a new team that you own.",
        &[non_empty("name", "Team name").length(1, 255).required()],
        Run::Rest(post("teams")),
    ),
    Tool::new(
        "invite_team_member",
        "Invite team member",
        Effect::Additive,
        "Mails an invitation to a team (owner or admin).",
        &[TEAM, email("email", "Email of the person").required()],
        Run::Rest(post("teams/{team_uuid}/invite")),
    )
    .open_world()
    .confirmed_with(question::invite_member),
    Tool::new(
        "change_member_role",
        "Change member role",
        Effect::IdempotentDestructive,
        "Makes a member admin or member (owner or admin; not the owner's role).",
        &[
            TEAM,
            MEMBER,
            choice("role", &["admin", "member"], "New role").required(),
        ],
        Run::Rest(put("teams/{team_uuid}/members/{user_id}")),
    ),
    Tool::new(
        "remove_team_member",
        "Remove team member",
        Effect::IdempotentDestructive,
        "Removes a member (owner or admin; not the owner).",
        &[TEAM, MEMBER],
        Run::Rest(delete("teams/{team_uuid}/members/{user_id}").success_message(REMOVED)),
    )
    .confirmed_with(question::remove_member),
    Tool::new(
        "get_team_quota",
        "Get team quota",
        Effect::ReadOnly,
        "Shows use and limits of storage, bandwidth and members.",
        &[TEAM],
        Run::Rest(get("teams/{team_uuid}/quota")),
    ),
    Tool::new(
        "get_team_permissions",
        "Get team permissions",
        Effect::ReadOnly,
        "Shows what your role may do in a team.",
        &[TEAM],
        Run::Rest(get("teams/{team_uuid}/permissions")),
    ),
    Tool::new(
        "offboard_team_member",
        "Offboard team member",
        Effect::IdempotentDestructive,
        "Removes a member and revokes all their shared file access (owner or admin).",
        &[TEAM, MEMBER],
        Run::Rest(post("teams/{team_uuid}/members/{user_id}/offboard").success_message(OFFBOARDED)),
    )
    .confirmed_with(question::offboard_member),
    Tool::new(
        "get_team_storage_usage",
        "Get team storage usage",
        Effect::ReadOnly,
        "Shows storage by member (owner or admin).",
        &[TEAM],
        Run::Rest(get("teams/{team_uuid}/storage").fixed(&[("page_size", "100")])),
    ),
];
