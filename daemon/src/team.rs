//! Finding a team by what a person typed, and opening the key of its space (the team's files), which is sealed
//! to each member in a grant.

use crate::failure::{CommandResult, Context as _, Failure};
use crate::output::text::clean;
use crate::session::Session;
use crate::trust;
use cairn_api::Api;
use cairn_platform::Home;
use cairn_space::{SpaceKeys, TeamGrants};
use cairn_wire::teams::Team;

/// Finds a team by its id, that of its space, or a name that only one has.
pub(crate) async fn find(api: &Api, wanted: &str) -> CommandResult<Team> {
    choose(api.teams().await.context("ask for the teams")?, wanted)
}

fn choose(teams: Vec<Team>, wanted: &str) -> CommandResult<Team> {
    let (id, space) = (wanted.parse().ok(), wanted.parse().ok());
    let is_wanted =
        |team: &Team| Some(team.id) == id || Some(team.space_id) == space || team.name == wanted;
    let (mut found, others): (Vec<Team>, Vec<Team>) = teams.into_iter().partition(is_wanted);
    if found.len() > 1 {
        let ids: Vec<String> = found.iter().map(|team| team.id.to_string()).collect();
        return Err(Failure::failed(format!(
            "{} teams are called {wanted}; name one by its id: {}",
            found.len(),
            ids.join(", ")
        )));
    }
    found.pop().ok_or_else(|| {
        let names: Vec<String> = others.iter().map(|team| clean(&team.name)).collect();
        let yours = match names.is_empty() {
            true => "you belong to none; `cairn teams create` makes one".to_owned(),
            false => format!("yours: {}", names.join(", ")),
        };
        Failure::failed(format!("you belong to no team {wanted} ({yours})"))
    })
}

/// Fetches the team's grants and its members' public keys.
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

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::{AccountId, SpaceId, TeamId};
    use cairn_wire::Timestamp;
    use cairn_wire::teams::TeamRole;

    fn team(n: u8, name: &str) -> Team {
        Team {
            id: TeamId::from_random_bytes([n; 16]),
            name: name.to_owned(),
            role: TeamRole::Member,
            owner_id: AccountId::from_random_bytes([9; 16]),
            owner_name: "Ada".to_owned(),
            member_count: 2,
            space_id: SpaceId::from_random_bytes([n + 100; 16]),
            key_epoch: 1,
            created_at: Timestamp(0),
        }
    }

    #[test]
    fn a_team_is_named_by_its_name_its_id_or_its_space() {
        let all = || vec![team(1, "Crew"), team(2, "Twins"), team(3, "Twins")];
        let (second, space) = (team(2, "").id.to_string(), team(3, "").space_id.to_string());
        for (wanted, found) in [("Crew", 1), (&*second, 2), (&*space, 3)] {
            assert_eq!(choose(all(), wanted).unwrap().id, team(found, "").id);
        }
        let ambiguous = choose(all(), "Twins").unwrap_err().message;
        assert!(ambiguous.contains(&second), "{ambiguous}");
        let unknown = choose(all(), "Fleet").unwrap_err().message;
        assert!(unknown.contains("Crew, Twins"), "{unknown}");
        let none = choose(Vec::new(), "Fleet").unwrap_err().message;
        assert!(none.contains("no team Fleet"), "{none}");
    }
}
