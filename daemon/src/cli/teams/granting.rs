//! Granting a team's key without questions, and sending grants.

use crate::app::App;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::session::Session;
use crate::{team, trust};
use cairn_model::AccountId;
use cairn_space::{Granting, SystemRandom, TeamGrants};
use cairn_wire::teams::Team;

/// Makes the key in force where its epoch has none, and grants it to all whose keys a person has accepted. Nobody is
/// asked about the others, and nothing is reported.
///
/// # Errors
/// Among others, that the service still has somebody in the team who was removed: they would get the key.
pub(super) async fn grant_to_known(
    app: &App,
    session: &Session,
    team: &Team,
    removed: AccountId,
) -> CommandResult<Granting> {
    let grants = team::grants(&session.api, team).await?;
    let made = trust::update(&app.home, &session.keys, |trust| {
        grants.grant(&session.keys, trust, &mut SystemRandom)
    })?;
    if made.members.iter().any(|one| one.account == removed) {
        return Err(Failure::failed(
            "the service still lists the removed member, who must not get the new key",
        ));
    }
    send(app, session, team, &grants, &made).await?;
    Ok(made)
}

/// Sends grants, and notes their key as one that this device knows.
pub(super) async fn send(
    app: &App,
    session: &Session,
    team: &Team,
    grants: &TeamGrants,
    made: &Granting,
) -> CommandResult {
    let sent = grants.send(&session.api, made).await;
    sent.context(format_args!("grant the key of {}", team.name))?;
    trust::update(&app.home, &session.keys, |trust| {
        trust.note(team.id, &made.ring);
        Ok::<_, Failure>(())
    })
}
