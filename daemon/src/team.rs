//! The team that a person means, and the keys of its space.

use crate::failure::{CommandResult, Context as _, Failure};
use crate::session::Session;
use crate::trust;
use cairn_api::Api;
use cairn_platform::Home;
use cairn_space::{SpaceKeys, TeamGrants};
use cairn_wire::teams::Team;

/// Finds a team by its id, or by a name that only one has.
pub(crate) async fn find(api: &Api, wanted: &str) -> CommandResult<Team> {
    let mut found = api.teams().await.context("ask for the teams")?;
    let id = wanted.parse().ok();
    found.retain(|team| Some(team.id) == id || team.name == wanted);
    if found.len() > 1 {
        return Err(Failure::failed(format!(
            "{} teams are called {wanted}; name one by its id, which `cairn teams` shows",
            found.len()
        )));
    }
    found.pop().ok_or_else(|| {
        Failure::failed(format!(
            "you belong to no team {wanted}; `cairn teams` shows yours"
        ))
    })
}

/// Asks who has which key.
pub(crate) async fn grants(api: &Api, team: &Team) -> CommandResult<TeamGrants> {
    TeamGrants::fetch(api, team)
        .await
        .context(format_args!("ask for the keys of {}", team.name))
}

/// Opens the keys of a team's space.
pub(crate) async fn open(home: &Home, session: &Session, team: &Team) -> CommandResult<SpaceKeys> {
    let grants = grants(&session.api, team).await?;
    let ring = trust::update(home, &session.keys, |trust| {
        grants.open(&session.keys, trust)
    })?;
    Ok(ring.keys())
}
