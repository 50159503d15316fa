//! `cairn teams`: the teams of the account, their members and keys, and invitations.

mod keys;

use crate::app::App;
use crate::failure::{CommandResult, Context as _};
use crate::output::table::{Align, Table};
use crate::output::text::{clean, local_time};
use crate::team::find;
use cairn_api::Api;
use cairn_wire::teams::{InviteMember, Team, TeamRole};
use clap::builder::NonEmptyStringValueParser;
use serde_json::json;
use uuid::Uuid;

/// Show teams, make one, invite somebody into one, or grant its key
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Show the teams you belong to [default]
    List,
    /// Make a team that you own
    Create {
        /// 1 to 255 characters
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        name: String,
        /// Seal the names of its files and folders, so that the server has none; for ever
        #[arg(long)]
        private: bool,
    },
    /// Show who belongs to a team
    Members {
        /// The team's name, or its id
        team: String,
    },
    /// Invite somebody by e-mail; owners and admins can
    Invite {
        /// The team's name, or its id
        team: String,
        email: String,
        /// Make them an admin
        #[arg(long)]
        admin: bool,
    },
    /// Show the members' keys as this device knows them, and who has the team's key
    ///
    /// The fingerprint stands for somebody's keys. Compare it with them by another way than this
    /// service, and accept it then. The team's key is taken only from somebody whose keys you have accepted.
    Keys {
        /// The team's name, or its id
        team: String,
        /// Accept the keys of this member, which are new to this device; may be repeated
        #[arg(long, value_name = "EMAIL")]
        accept_new: Vec<String>,
        /// Accept the changed keys of this member, as they were shown last time
        #[arg(long, value_name = "EMAIL")]
        accept_changed: Option<String>,
    },
    /// Grant the team's key to all members who lack it; owners and admins can
    ///
    /// New members get it only after you have compared the fingerprint with them and accepted it: you
    /// are asked for each, or name them with --accept-new.
    ///
    /// The first time, and after somebody left, this makes a new key. Files written before stay readable
    /// to the members; former members can't open those written after.
    Grant {
        /// The team's name, or its id
        team: String,
        /// Accept the changed keys of this member, as they were shown last time
        #[arg(long, value_name = "EMAIL")]
        accept_changed: Option<String>,
        /// Accept the keys of this new member, whose fingerprint you have compared; may be repeated
        #[arg(long, value_name = "EMAIL")]
        accept_new: Vec<String>,
        /// Make a new key, because somebody outside may know the present one
        ///
        /// That is so after a member's device was lost. Members whose keys you have not accepted get it later.
        #[arg(long)]
        new_key: bool,
    },
    /// Show the invitations that you can accept or decline
    Invitations,
    /// Accept an invitation
    Accept {
        /// The id, as `teams invitations` shows it
        invitation: Uuid,
    },
    /// Decline an invitation
    Decline {
        /// The id, as `teams invitations` shows it
        invitation: Uuid,
    },
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let session = app.session()?;
    let api = session.api.as_ref();
    match args.action {
        Some(Action::List) | None => list(app, api).await,
        Some(Action::Create { name, private }) => create(app, api, &name, private).await,
        Some(Action::Members { team }) => members(app, api, &team).await,
        Some(Action::Invite { team, email, admin }) => invite(app, api, &team, email, admin).await,
        Some(Action::Keys {
            team,
            accept_new,
            accept_changed,
        }) => {
            let accepted = keys::Accepted {
                changed: accept_changed.as_deref(),
                new: &accept_new,
            };
            keys::show(app, &session, &team, accepted).await
        }
        Some(Action::Grant {
            team,
            accept_changed,
            accept_new,
            new_key,
        }) => {
            let accepted = keys::Accepted {
                changed: accept_changed.as_deref(),
                new: &accept_new,
            };
            keys::grant(app, &session, &team, accepted, new_key).await
        }
        Some(Action::Invitations) => invitations(app, api).await,
        Some(Action::Accept { invitation }) => {
            let team = api
                .accept_invitation(invitation)
                .await
                .context(format_args!("accept the invitation {invitation}"))?;
            app.out
                .line(format_args!("You are in the team {}.", clean(&team.name)));
            app.out.json(&json!({ "team": team }));
            Ok(())
        }
        Some(Action::Decline { invitation }) => {
            api.decline_invitation(invitation)
                .await
                .context(format_args!("decline the invitation {invitation}"))?;
            app.out.line("The invitation is declined.");
            app.out.json(&json!({ "declined": invitation }));
            Ok(())
        }
    }
}

pub(super) fn role_name(role: TeamRole) -> &'static str {
    match role {
        TeamRole::Owner => "owner",
        TeamRole::Admin => "admin",
        TeamRole::Member => "member",
    }
}

async fn create(app: &App, api: &Api, name: &str, private: bool) -> CommandResult {
    let made = match private {
        true => api.create_private_team(name).await,
        false => api.create_team(name).await,
    };
    let team = made.context(format_args!("make the team {name}"))?;
    app.out.line(format_args!(
        "Made the team {} ({}).",
        clean(&team.name),
        team.id
    ));
    app.out.json(&json!({ "team": team }));
    Ok(())
}

async fn list(app: &App, api: &Api) -> CommandResult {
    let teams = api.teams().await.context("ask for the teams")?;
    let mut table = Table::new(&[
        ("NAME", Align::Name),
        ("ROLE", Align::Left),
        ("MEMBERS", Align::Right),
        ("OWNER", Align::Name),
        ("NAMES", Align::Left),
        ("ID", Align::Left),
    ]);
    for team in &teams {
        table.row([
            team.name.clone(),
            role_name(team.role).to_owned(),
            team.member_count.to_string(),
            team.owner_name.clone(),
            names_of(team).to_owned(),
            team.id.to_string(),
        ]);
    }
    table.print(
        &app.out,
        "You belong to no team: `cairn teams create NAME` makes one.",
    );
    app.out.json(&json!({ "teams": teams }));
    Ok(())
}

/// Returns whether the server has the names in a team's space.
fn names_of(team: &Team) -> &'static str {
    match team.space_id.is_private() {
        true => "sealed",
        false => "open",
    }
}

async fn members(app: &App, api: &Api, team: &str) -> CommandResult {
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

async fn invite(app: &App, api: &Api, team: &str, email: String, admin: bool) -> CommandResult {
    let id = find(api, team).await?.id;
    let invitation = InviteMember {
        email,
        role: admin.then_some(TeamRole::Admin),
    };
    let sent = api
        .invite(id, &invitation)
        .await
        .context(format_args!("invite {} to {team}", invitation.email))?;
    app.out.line(format_args!(
        "Invited {} to {} as {}, until {}.",
        clean(&sent.email),
        clean(&sent.team_name),
        role_name(sent.role),
        local_time(sent.expires_at.0, &app.zone)
    ));
    app.out.json(&json!({ "invitation": sent }));
    Ok(())
}

async fn invitations(app: &App, api: &Api) -> CommandResult {
    let waiting = api.invitations().await.context("ask for the invitations")?;
    let mut table = Table::new(&[
        ("TEAM", Align::Name),
        ("ROLE", Align::Left),
        ("UNTIL", Align::Left),
        ("ID", Align::Left),
    ]);
    for one in &waiting {
        table.row([
            one.team_name.clone(),
            role_name(one.role).to_owned(),
            local_time(one.expires_at.0, &app.zone),
            one.id.to_string(),
        ]);
    }
    table.print(&app.out, "No invitation waits for you.");
    app.out.json(&json!({ "invitations": waiting }));
    Ok(())
}
