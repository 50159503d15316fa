//! `cairn teams invite`, `invitations`, `accept` and `decline`.

use super::role_name;
use crate::app::App;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::output::table::{Align, Table};
use crate::output::text::{clean, local_time};
use crate::team::find;
use cairn_api::{Api, ApiError};
use cairn_wire::teams::{InviteMember, TeamRole};
use serde_json::json;
use uuid::Uuid;

pub(super) async fn invite(
    app: &App,
    api: &Api,
    team: &str,
    email: String,
    admin: bool,
) -> CommandResult {
    let id = find(api, team).await?.id;
    let invitation = InviteMember {
        email,
        role: admin.then_some(TeamRole::Admin),
    };
    let sent = api.invite(id, &invitation).await;
    let sent = sent
        .map_err(refused_invite)
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

pub(super) async fn list(app: &App, api: &Api) -> CommandResult {
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

pub(super) async fn accept(app: &App, api: &Api, invitation: Uuid) -> CommandResult {
    let team = api.accept_invitation(invitation).await;
    let team = team
        .map_err(refused_answer)
        .context(format_args!("accept the invitation {invitation}"))?;
    app.out
        .line(format_args!("You are in the team {}.", clean(&team.name)));
    app.out.json(&json!({ "team": team }));
    Ok(())
}

pub(super) async fn decline(app: &App, api: &Api, invitation: Uuid) -> CommandResult {
    let declined = api.decline_invitation(invitation).await;
    declined
        .map_err(refused_answer)
        .context(format_args!("decline the invitation {invitation}"))?;
    app.out.line("The invitation is declined.");
    app.out.json(&json!({ "declined": invitation }));
    Ok(())
}

/// Returns why an invitation can't be answered. Nobody has changed anything in between, so that there is nothing to
/// decide anew: the service says that it was answered, withdrawn or has expired.
fn refused_answer(error: ApiError) -> Failure {
    match error {
        ApiError::Conflict { message, .. } => Failure::failed(format!(
            "{message}: `cairn teams list` shows the teams that you are in"
        )),
        ApiError::Gone { message } => Failure::failed(message),
        ApiError::Forbidden { .. } => Failure::failed(
            "it was sent to another address than the one of your account: `cairn whoami` shows yours",
        ),
        ApiError::NotFound { .. } => {
            Failure::failed("there is no such invitation: see `cairn teams invitations`")
        }
        other @ (ApiError::Unauthorized
        | ApiError::PreconditionFailed { .. }
        | ApiError::TooLarge { .. }
        | ApiError::QuotaFull { .. }
        | ApiError::RateLimited { .. }
        | ApiError::Offline(_)
        | ApiError::Server { .. }
        | ApiError::Rejected { .. }
        | ApiError::Protocol(_)) => other.into(),
    }
}

/// Returns why nobody can be invited. Somebody who is in the team, or was invited, was so before the command.
fn refused_invite(error: ApiError) -> Failure {
    if let ApiError::Conflict { message, .. } = error {
        return Failure::failed(message);
    }
    error.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Exit;

    #[test]
    fn a_refused_answer_has_the_reason_and_is_no_conflict() {
        for (status, response, expected) in [
            (
                409,
                "the invitation was declined already",
                "was declined already: `cairn teams list`",
            ),
            (
                410,
                "the invitation is expired; ask for another",
                "is expired; ask",
            ),
            (
                410,
                "the invitation is withdrawn; ask for another",
                "is withdrawn",
            ),
            (403, "no", "sent to another address"),
            (404, "no", "no such invitation"),
        ] {
            let failure = refused_answer(ApiError::from_status(status, response.to_owned()));
            assert_eq!(failure.exit, Exit::Failed, "{status}");
            assert!(failure.message.contains(expected), "{failure}");
            assert!(!failure.message.contains("meanwhile"), "{failure}");
        }
        let ended = refused_answer(ApiError::Unauthorized);
        assert_eq!(ended.exit, Exit::NotLoggedIn);
    }
}
