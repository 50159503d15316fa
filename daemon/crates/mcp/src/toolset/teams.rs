//! Teams, their members and what they may do.

use crate::param::{Param, choice, email, said, uuid};
use crate::tool::{Effect, Run, Tool, delete, get, post, put};

const TEAM: Param = uuid("team_uuid", "Team").required();
const MEMBER: Param = uuid("user_id", "Member").required();

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "list_teams",
        "List teams",
        Effect::Reads,
        "Lists your teams with roles and member counts.",
        &[],
        Run::Rest(get("teams").fixed(&[("page_size", "100")])),
    ),
    Tool::new(
        "get_team_info",
        "Get team info",
        Effect::Reads,
        "Shows name, owner, member count and creation date of a team.",
        &[TEAM],
        Run::Rest(get("teams/{team_uuid}")),
    ),
    Tool::new(
        "list_team_members",
        "List team members",
        Effect::Reads,
        "Lists members with roles, emails and join dates.",
        &[TEAM],
        Run::Rest(get("teams/{team_uuid}/members").fixed(&[("page_size", "100")])),
    ),
    Tool::new(
        "create_team",
        "Create team",
        Effect::Adds,
        "Makes a team that you own.",
        &[said("name", "Team name").length(1, 255).required()],
        Run::Rest(post("teams")),
    ),
    Tool::new(
        "invite_team_member",
        "Invite team member",
        Effect::Adds,
        "Mails an invitation to a team (owner or admin).",
        &[TEAM, email("email", "Whom").required()],
        Run::Rest(post("teams/{team_uuid}/invite")),
    )
    .open_world(),
    Tool::new(
        "change_member_role",
        "Change member role",
        Effect::Replaces,
        "Makes a member admin or member (owner or admin; never the owner's role).",
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
        Effect::Replaces,
        "Removes a member (owner or admin; never the owner).",
        &[TEAM, MEMBER],
        Run::Rest(delete("teams/{team_uuid}/members/{user_id}").done("the member is removed")),
    )
    .confirmed(),
    Tool::new(
        "get_team_quota",
        "Get team quota",
        Effect::Reads,
        "Shows use and limits of storage, bandwidth and members.",
        &[TEAM],
        Run::Rest(get("teams/{team_uuid}/quota")),
    ),
    Tool::new(
        "get_team_permissions",
        "Get team permissions",
        Effect::Reads,
        "Shows what your role may do in a team.",
        &[TEAM],
        Run::Rest(get("teams/{team_uuid}/permissions")),
    ),
    Tool::new(
        "offboard_team_member",
        "Offboard team member",
        Effect::Replaces,
        "Removes a member and revokes all their shared file access (owner or admin).",
        &[TEAM, MEMBER],
        Run::Rest(
            post("teams/{team_uuid}/members/{user_id}/offboard").done("the member is offboarded"),
        ),
    )
    .confirmed(),
    Tool::new(
        "get_team_storage_usage",
        "Get team storage usage",
        Effect::Reads,
        "Shows storage by member (owner or admin).",
        &[TEAM],
        Run::Rest(get("teams/{team_uuid}/storage")),
    ),
];
