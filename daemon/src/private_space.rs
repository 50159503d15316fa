//! The account's own private space: the server has sealed names of what is in it. It is the space of a team whose
//! only member is the account.

use crate::app::App;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::session::Session;
use crate::{team, trust};
use cairn_api::ApiError;
use cairn_space::{KeyRemedy, KeyStatus, SystemRandom, TeamError, account_keys};
use cairn_transfer::TransferError;
use cairn_wire::teams::Team;

/// The name of its team.
const NAME: &str = "Private";
/// The number of times that its key is looked for: another device may make it at the same time.
const TRIES: usize = 3;

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
        None => make(session).await?,
    };
    for _ in 1..TRIES {
        if has_key(app, session, &team).await? {
            return Ok(team);
        }
    }
    match has_key(app, session, &team).await? {
        true => Ok(team),
        false => Err(Failure::failed(
            "the key of the private space is being made elsewhere: try again",
        )),
    }
}

/// Makes the private space. If another device has made it at the same time, the older one counts for both, and the new
/// one goes again.
async fn make(session: &Session) -> CommandResult<Team> {
    let made = session.api.create_private_team(NAME).await;
    let made = made.context("make the private space")?;
    let Some(first) = find(session).await?.filter(|one| one.id != made.id) else {
        return Ok(made);
    };
    let space = session.api.in_space(made.space_id);
    let is_used = account_keys::is_used(&space).await;
    if !is_used.context("look into the second private space")? {
        let deleted = session.api.delete_team(made.id).await;
        deleted.context("delete the second private space")?;
    }
    Ok(first)
}

/// Opens the key of the private space for this account, or makes it. Returns false if another device has made one
/// meanwhile: it has to be opened.
async fn has_key(app: &App, session: &Session, team: &Team) -> CommandResult<bool> {
    let grants = team::grants(&session.api, team).await?;
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
        Ok(_) => return Ok(true),
        Err(TeamError::NotGranted {
            remedy: KeyRemedy::Make,
            ..
        }) => {}
        Err(error) => return Err(error.into()),
    }
    let made = trust::update(&app.home, &session.keys, |trust| {
        grants.grant(&session.keys, trust, &mut SystemRandom)
    })?;
    match grants.send(&session.api, &made).await {
        Err(TeamError::Transfer(TransferError::Api(ApiError::Conflict { .. }))) => {
            return Ok(false);
        }
        sent => sent.context("keep the key of the private space")?,
    }
    trust::update(&app.home, &session.keys, |trust| {
        trust.note(team.id, &made.ring);
        Ok::<_, Failure>(())
    })?;
    Ok(true)
}
