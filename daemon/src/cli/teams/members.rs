//! `cairn teams members` and `cairn teams role`.

use super::role_name;
use crate::app::App;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::output::table::{Align, Table};
use crate::output::text::{clean, local_time, shell_word};
use crate::team::find;
use cairn_api::Api;
use cairn_wire::teams::{Team, TeamMember, TeamRole};
use serde_json::json;

/// The roles that a member can be given.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NewRole {
    Admin,
    Member,
}

impl NewRole {
    fn on_the_wire(self) -> TeamRole {
        match self {
            Self::Admin => TeamRole::Admin,
            Self::Member => TeamRole::Member,
        }
    }
}

pub(super) async fn list(app: &App, api: &Api, team: &str) -> CommandResult {
    let id = find(api, team).await?.id;
    let members = api
        .team_members(id)
        .await
        .context(format_args!("ask for the members of {team}"))?;
    let mut table = Table::new(&[
        ("E-MAIL", Align::Name),
        ("NAME", Align::Name),
        ("ROLE", Align::Left),
        ("SINCE", Align::Left),
        ("ID", Align::Left),
    ]);
    for member in &members {
        table.row([
            member.email.clone(),
            member.display_name.clone(),
            role_name(member.role).to_owned(),
            local_time(member.joined_at.0, &app.zone),
            member.user_id.to_string(),
        ]);
    }
    table.print(&app.out, "The team has no members.");
    app.out.json(&json!({ "team_id": id, "members": members }));
    Ok(())
}

pub(super) async fn change_role(
    app: &App,
    api: &Api,
    team: &str,
    wanted: &str,
    role: NewRole,
) -> CommandResult {
    let team = find(api, team).await?;
    let member = find_member(api, &team, wanted).await?;
    let changed = api
        .change_role(team.id, member.user_id, role.on_the_wire())
        .await
        .context(format_args!(
            "change the role of {} in {}",
            member.email, team.name
        ))?;
    app.out.line(format_args!(
        "{} is {} of {} now.",
        clean(&changed.email),
        match changed.role {
            TeamRole::Owner => "the owner",
            TeamRole::Admin => "an admin",
            TeamRole::Member => "a member",
        },
        clean(&team.name)
    ));
    app.out
        .json(&json!({ "team_id": team.id, "member": changed, "former_role": member.role }));
    Ok(())
}

/// Finds a member by their address or id.
pub(super) async fn find_member(api: &Api, team: &Team, wanted: &str) -> CommandResult<TeamMember> {
    let members = api.team_members(team.id).await;
    let members = members.context(format_args!("ask for the members of {}", team.name))?;
    choose(members, team, wanted)
}

fn choose(members: Vec<TeamMember>, team: &Team, wanted: &str) -> CommandResult<TeamMember> {
    let id = wanted.parse().ok();
    let is_wanted = |member: &TeamMember| {
        Some(member.user_id) == id || member.email.eq_ignore_ascii_case(wanted)
    };
    let mut found = members.into_iter().filter(is_wanted);
    match (found.next(), found.next()) {
        (Some(member), None) => Ok(member),
        (Some(_), Some(_)) => Err(Failure::usage(format!(
            "several members have the address {wanted}: name one by the ID"
        ))),
        (None, _) => Err(Failure::usage(format!(
            "nobody in {} has the address or ID {wanted}: see `cairn teams members {}`",
            clean(&team.name),
            clean(&shell_word(&team.name))
        ))),
    }
}
