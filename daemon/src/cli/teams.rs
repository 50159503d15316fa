//! `cairn teams`: the teams of the account, their members and keys, and invitations.

mod going;
mod granting;
mod invitations;
mod keys;
mod members;

use crate::app::App;
use crate::cli::dry_run::DryRun;
use crate::failure::{CommandResult, Context as _};
use crate::output::table::{Align, Table};
use crate::output::text::clean;
use crate::team::find;
use cairn_api::Api;
use cairn_wire::teams::{Team, TeamRole};
use clap::builder::NonEmptyStringValueParser;
use serde_json::json;
use uuid::Uuid;

/// Show teams, make, rename or leave one, invite and remove people, or grant its key
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
    /// Give a team another name; owners and admins can
    Rename {
        /// The team's name, or its id
        team: String,
        /// 1 to 255 characters
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        name: String,
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
    /// Make a member an admin, or an admin a member; owners and admins can
    Role {
        /// The team's name, or its id
        team: String,
        /// The member's e-mail address, or id
        member: String,
        role: members::NewRole,
    },
    /// Take a member out of a team, and make a new key for those who stay; owners and admins can
    ///
    /// Their access through the service ends at once, and the share links that they made of the team's files stop
    /// working. They keep what is on their disks. The new key, with which everything is sealed from then on, goes to
    /// the members whose keys you have accepted on this device; `cairn teams grant` gives it to the others.
    Remove {
        /// The team's name, or its id
        team: String,
        /// The member's e-mail address, or id
        member: String,
        /// Don't ask
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Leave a team; its owner can't
    ///
    /// Files of the team in folders that are synced here stay on this disk. The others' folders wait until an owner or
    /// admin has made a new key with `cairn teams grant`.
    Leave {
        /// The team's name, or its id
        team: String,
        /// Don't ask
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        dry_run: DryRun,
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
        Some(Action::Rename { team, name }) => rename(app, api, &team, &name).await,
        Some(Action::Members { team }) => members::list(app, api, &team).await,
        Some(Action::Role { team, member, role }) => {
            members::change_role(app, api, &team, &member, role).await
        }
        Some(Action::Remove {
            team,
            member,
            yes,
            dry_run,
        }) => {
            let asking = going::Asking { yes, dry_run };
            going::remove(app, &session, &team, &member, asking).await
        }
        Some(Action::Leave { team, yes, dry_run }) => {
            going::leave(app, &session, &team, going::Asking { yes, dry_run }).await
        }
        Some(Action::Invite { team, email, admin }) => {
            invitations::invite(app, api, &team, email, admin).await
        }
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
        Some(Action::Invitations) => invitations::list(app, api).await,
        Some(Action::Accept { invitation }) => invitations::accept(app, api, invitation).await,
        Some(Action::Decline { invitation }) => invitations::decline(app, api, invitation).await,
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

async fn rename(app: &App, api: &Api, team: &str, name: &str) -> CommandResult {
    let before = find(api, team).await?;
    let renamed = api
        .rename_team(before.id, name)
        .await
        .context(format_args!("rename the team {team}"))?;
    app.out.line(format_args!(
        "The team {} is called {} now.",
        clean(&before.name),
        clean(&renamed.name)
    ));
    app.out
        .json(&json!({ "team": renamed, "former_name": before.name }));
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
