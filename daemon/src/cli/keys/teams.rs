//! The account's teams when its keys are replaced: their keys are taken along, and renewed where the account may.

use crate::app::App;
use crate::cli::teams::role_name;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::output::text::{clean, shell_word};
use crate::session::Session;
use crate::{team, trust};
use cairn_space::account_keys::KeyRing;
use cairn_space::{SystemRandom, TeamGrants};
use cairn_wire::teams::{Team, TeamRole};
use serde_json::{Value, json};

/// Returns the keys of all teams that can be opened now: a grant to the former keys is worth nothing later.
pub(super) async fn take_along(
    app: &App,
    session: &Session,
    leave: bool,
) -> CommandResult<Vec<KeyRing>> {
    let teams = session.api.teams().await.context("ask for the teams")?;
    let mut rings = Vec::new();
    for team in teams {
        match ring_to_take_along(app, session, &team).await {
            Ok(ring) => rings.extend(ring),
            Err(failure) if leave => app.out.note(format_args!(
                "the key of {} is not taken along: {}",
                clean(&team.name),
                failure.message
            )),
            Err(failure) => {
                let name = clean(&team.name);
                return Err(failure.during(format_args!(
                    "open the key of {name}, which is lost for you if the keys are replaced now (--leave-teams goes on)"
                )));
            }
        }
    }
    Ok(rings)
}

async fn ring_to_take_along(
    app: &App,
    session: &Session,
    team: &Team,
) -> CommandResult<Option<KeyRing>> {
    let grants = team::grants(&session.api, team).await?;
    trust::update(&app.home, &session.keys, |trust| {
        grants.ring_to_take_along(&session.keys, trust)
    })
}

/// The state of a team after the account's keys were replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Renewal {
    /// The team's space has a new key.
    Renewed,
    /// An owner or admin has to grant its key.
    Ask,
    /// The key could not be renewed; a command does it.
    Failed,
    /// The account never had a key of it.
    NoKey,
}

impl Renewal {
    fn as_str(self) -> &'static str {
        match self {
            Self::Renewed => "renewed",
            Self::Ask => "ask_an_admin",
            Self::Failed => "failed",
            Self::NoKey => "no_key",
        }
    }
}

/// Renews the keys of the teams that the account owns or administers, and says what is to be done for each.
pub(super) async fn renew(app: &App, session: &Session) -> Vec<Value> {
    let teams = match session.api.teams().await {
        Ok(teams) => teams,
        Err(error) => {
            app.out.note(format_args!(
                "the teams could not be asked for ({error}): run `cairn teams grant --new-key` for each that you own or administer"
            ));
            return Vec::new();
        }
    };
    if !teams.is_empty() {
        app.out.line(format_args!(
            "Your fingerprint, which the members of your teams have to compare again: {}",
            session.keys.public().fingerprint()
        ));
    }
    let mut all = Vec::new();
    for team in teams {
        let renewal = renew_one(app, session, &team).await;
        all.push(json!({
            "team_id": team.id,
            "name": team.name,
            "role": role_name(team.role),
            "key": renewal.as_str(),
        }));
    }
    all
}

async fn renew_one(app: &App, session: &Session, team: &Team) -> Renewal {
    let (name, word) = (clean(&team.name), shell_word(&team.name));
    if team.role == TeamRole::Member {
        app.out.line(format_args!(
            "{name}: ask an owner or admin to run `cairn teams grant {word} --new-key`; until then its files can't be opened here."
        ));
        return Renewal::Ask;
    }
    match renew_key(app, session, team).await {
        Ok(true) => {
            app.out.line(format_args!(
                "{name}: it has a new key, which was granted to all members whose keys you have accepted."
            ));
            Renewal::Renewed
        }
        Ok(false) => Renewal::NoKey,
        Err(failure) => {
            app.out.note(format_args!(
                "{name}: its key could not be renewed ({}): run `cairn teams grant {word} --new-key`",
                failure.message
            ));
            Renewal::Failed
        }
    }
}

/// Puts a new key of a team in force, unless an earlier run has. Returns false if the account never had one.
async fn renew_key(app: &App, session: &Session, team: &Team) -> CommandResult<bool> {
    let grants: TeamGrants = team::grants(&session.api, team).await?;
    let own = &session.keys;
    let taken_along = own.team_ring(team.space_id).map(KeyRing::epoch);
    let newest = trust::update(&app.home, own, |trust| grants.newest_ring(own, trust))?;
    let Some(newest) = newest else {
        return Ok(false);
    };
    if taken_along.is_some_and(|epoch| epoch < newest.epoch()) {
        return Ok(true);
    }
    let made = trust::update(&app.home, own, |trust| {
        grants.grant_next_epoch(own, trust, &mut SystemRandom)
    })?;
    grants.send(&session.api, &made).await?;
    trust::update(&app.home, own, |trust| {
        trust.note(team.id, &made.ring);
        Ok::<_, Failure>(())
    })?;
    Ok(true)
}
