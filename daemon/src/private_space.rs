//! The account's own private space: the server has sealed names of what is in it. It is the space of a team whose
//! only member is the account.

use crate::app::App;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::session::Session;
use crate::{team, trust};
use cairn_control::TeamSpace;
use cairn_space::{SystemRandom, TeamError};
use cairn_wire::teams::Team;

/// The name of its team.
const NAME: &str = "Private";

/// Returns whether a space with a synced folder is the account's own private one, by its name.
pub(crate) fn is_own(space: &TeamSpace) -> bool {
    space.id.is_private() && space.name == NAME
}

/// Returns the account's own private space; the oldest, if two devices made one at the same time.
pub(crate) async fn find(session: &Session) -> CommandResult<Option<Team>> {
    let teams = session.api.teams().await.context("ask for the teams")?;
    let account = session.account.account;
    let is_own =
        |team: &Team| team.space_id.is_private() && team.owner_id == account && team.name == NAME;
    let own = teams.into_iter().filter(is_own);
    Ok(own.min_by_key(|team| (team.created_at, team.id)))
}

/// Returns the account's own private space with a key; both are made if they are missing.
pub(crate) async fn open_or_make(app: &App, session: &Session) -> CommandResult<Team> {
    let team = match find(session).await? {
        Some(team) => team,
        None => {
            let made = session.api.create_private_team(NAME).await;
            made.context("make the private space")?
        }
    };
    let grants = team::grants(&session.api, &team).await?;
    let opened = trust::update(&app.home, &session.keys, |trust| {
        Ok::<_, Failure>(grants.open(&session.keys, trust))
    })?;
    match opened {
        Ok(_) => return Ok(team),
        Err(TeamError::NotGranted { may_make: true, .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let made = trust::update(&app.home, &session.keys, |trust| {
        grants.grant(&session.keys, trust, &mut SystemRandom)
    })?;
    let sent = grants.send(&session.api, &made).await;
    sent.context("keep the key of the private space")?;
    trust::update(&app.home, &session.keys, |trust| {
        trust.note(team.id, &made.ring);
        Ok::<_, Failure>(())
    })?;
    Ok(team)
}
