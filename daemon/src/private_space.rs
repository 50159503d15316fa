//! The account's own private space: the server has sealed names of what is in it. It is the space of a team whose
//! only member is the account.

use crate::app::App;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::session::Session;
use crate::{team, trust};
use cairn_space::{KeyRemedy, KeyStatus, SystemRandom, TeamError};
use cairn_wire::teams::Team;

/// The name of its team.
const NAME: &str = "Private";

/// Returns the account's own private space; the oldest, if two devices made one at the same time.
pub(crate) async fn find(session: &Session) -> CommandResult<Option<Team>> {
    let teams = session.api.teams().await.context("ask for the teams")?;
    let account = session.account.account;
    let is_own = |team: &Team| {
        let is_named = team.space_id.is_private() && team.name == NAME;
        is_named && team.owner_id == account && team.member_count == 1
    };
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
    let (opened, members) = trust::update(&app.home, &session.keys, |trust| {
        let opened = grants.open(&session.keys, trust);
        Ok::<_, Failure>((opened, grants.members(&session.keys, trust)?))
    })?;
    // Its key is for this account alone, whatever keys were accepted for other teams.
    if members.iter().any(|one| one.status != KeyStatus::You) {
        return Err(Failure::failed(format!(
            "the team {NAME} has other members: name it with --space to share the folder with them"
        )));
    }
    match opened {
        Ok(_) => return Ok(team),
        Err(TeamError::NotGranted {
            remedy: KeyRemedy::Make,
            ..
        }) => {}
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
