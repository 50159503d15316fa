//! `cairn teams remove` and `cairn teams leave`: the end of a membership.

use super::{granting, members};
use crate::app::App;
use crate::cli::dry_run::{self, DryRun};
use crate::cli::prompt;
use crate::failure::{CommandResult, Context as _, Exit, Failure};
use crate::output::text::{clean, count, shell_word};
use crate::session::Session;
use crate::team::find;
use cairn_model::AccountId;
use cairn_wire::teams::{Team, TeamMember, TeamRole};
use serde_json::{Value, json};

/// Says whether a person is asked first, or only shown what would be done.
#[derive(Clone, Copy)]
pub(super) struct Asking {
    pub(super) yes: bool,
    pub(super) dry_run: DryRun,
}

impl Asking {
    fn ask(self, question: &str, what: &str) -> CommandResult {
        if self.yes || prompt::confirm(question)? {
            return Ok(());
        }
        let message = format!("nothing was done: add --yes to {what}");
        Err(Failure::new(Exit::Decision, message))
    }
}

pub(super) async fn remove(
    app: &App,
    session: &Session,
    team: &str,
    wanted: &str,
    asking: Asking,
) -> CommandResult {
    let team = find(&session.api, team).await?;
    let member = members::find_member(&session.api, &team, wanted).await?;
    check_removable(session, &team, &member)?;
    let (name, email) = (clean(&team.name), clean(&member.email));
    if asking.dry_run.is_wanted {
        let line = format!(
            "{email} would be taken out of {name}, and the team would get a new key. Their share links of its files would stop working."
        );
        let document = json!({ "team_id": team.id, "would_remove": member });
        return dry_run::show(app, line, document);
    }
    asking.ask(
        &format!("Take {email} out of {name}, and make a new key for the others? [y/N] "),
        "remove the member",
    )?;
    let removed = session.api.offboard(team.id, member.user_id).await;
    let removed = removed.context(format_args!("remove {email} from {name}"))?;
    app.out.line(format_args!(
        "{email} is not in {name} any more: {} revoked, {} withdrawn.",
        count(removed.revoked_share_links, "share link"),
        count(removed.withdrawn_invitations, "invitation")
    ));
    let key = renew_key(app, session, &team, member.user_id).await;
    app.out.json(&json!({
        "team_id": team.id,
        "removed": member,
        "revoked_share_links": removed.revoked_share_links,
        "withdrawn_invitations": removed.withdrawn_invitations,
        "key": key,
    }));
    Ok(())
}

/// Refuses what the service would refuse, with what to do instead.
fn check_removable(session: &Session, team: &Team, member: &TeamMember) -> CommandResult {
    let name = clean(&team.name);
    if member.user_id == session.keys.account {
        return Err(Failure::usage(format!(
            "that is you: leave the team with `cairn teams leave {}`",
            clean(&shell_word(&team.name))
        )));
    }
    match (team.role, member.role) {
        (TeamRole::Member, _) => Err(Failure::failed(format!(
            "only the owner and admins of {name} can remove members"
        ))),
        (_, TeamRole::Owner) => Err(Failure::failed(format!(
            "{} owns {name}, and an owner can't be removed",
            clean(&member.email)
        ))),
        (TeamRole::Owner | TeamRole::Admin, TeamRole::Admin | TeamRole::Member) => Ok(()),
    }
}

/// Makes the team's new key after the membership of somebody ended, and says who still lacks it. The member is out
/// whatever comes of it.
async fn renew_key(app: &App, session: &Session, team: &Team, removed: AccountId) -> Value {
    let name = clean(&team.name);
    let command = format!("cairn teams grant {}", shell_word(&team.name));
    let command = clean(&command);
    // The service has begun a new epoch: the team is looked up anew.
    let made = match find(&session.api, &team.id.to_string()).await {
        Ok(team) => granting::grant_to_known(app, session, &team, removed).await,
        Err(failure) => Err(failure),
    };
    match made {
        Ok(made) => {
            let members = made.members.iter();
            let waiting: Vec<String> = members
                .filter(|one| !one.has_grant)
                .map(|one| one.email.clone())
                .collect();
            app.out.line(format_args!(
                "{name} has a new key (epoch {}).",
                made.ring.epoch()
            ));
            for email in &waiting {
                app.out.note(format_args!(
                    "{} doesn't have it yet, and waits: compare the fingerprint with them, and run `{command}`",
                    clean(email)
                ));
            }
            json!({ "state": "renewed", "epoch": made.ring.epoch(), "waiting": waiting })
        }
        Err(failure) => {
            app.out.note(format_args!(
                "{name} has no new key yet ({}): nothing new can be written in it until you, or another owner or admin, runs `{command}`",
                clean(&failure.message)
            ));
            json!({ "state": "failed", "message": failure.message })
        }
    }
}

pub(super) async fn leave(
    app: &App,
    session: &Session,
    team: &str,
    asking: Asking,
) -> CommandResult {
    let team = find(&session.api, team).await?;
    let name = clean(&team.name);
    if team.role == TeamRole::Owner {
        return Err(Failure::failed(format!(
            "you own {name}, and its owner can't leave it: remove the others with `cairn teams remove`"
        )));
    }
    if asking.dry_run.is_wanted {
        let line = format!(
            "You would leave {name}. Files of it that are on this disk would stay, and not be synced any more."
        );
        return dry_run::show(app, line, json!({ "would_leave": team }));
    }
    asking.ask(
        &format!("Leave {name}? Only an invitation brings you back. [y/N] "),
        "leave the team",
    )?;
    let left = session
        .api
        .remove_member(team.id, session.keys.account)
        .await;
    left.context(format_args!("leave {name}"))?;
    app.out.line(format_args!(
        "You have left {name}. Files of it that are on this disk stay; `cairn remove` takes a folder out of `cairn folders`."
    ));
    app.out.line(format_args!(
        "An owner or admin has to run `cairn teams grant {}`: the others' folders wait for the new key until then.",
        clean(&shell_word(&team.name))
    ));
    app.out.json(&json!({ "left": team }));
    Ok(())
}
