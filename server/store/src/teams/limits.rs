//! Limits of teams: those of a new one, and those of all as the one who runs the server reads and changes them.

use crate::db::{self, Connection, Optional as _, Row};
use crate::error::{Error, Result};
use crate::options::{Limits, NewLimits};
use crate::rows::id;
use crate::usage::{self, LimitsOf};
use crate::{Administrator, Store};
use cairn_model::{AccountId, TeamId};
use cairn_wire::admin::AdminAction;
use serde::Serialize;
use serde_json::json;

/// A team as the one who runs the server sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TeamOverview {
    pub id: TeamId,
    pub name: String,
    /// The address of the owner.
    pub owner: String,
    pub members: u64,
    /// Bytes.
    pub storage_used: u64,
    /// Bytes.
    pub storage_limit: u64,
    /// Bytes per month.
    pub bandwidth_limit: u64,
    pub file_count: u64,
    pub file_count_limit: u64,
}

const OVERVIEW: &str = "SELECT t.id, t.name, a.email, \
     (SELECT count(*) FROM team_members m WHERE m.team = t.id), s.storage_used, t.storage_limit, \
     t.bandwidth_limit, s.file_count, t.file_count_limit FROM teams t JOIN spaces s ON s.row = t.space \
     JOIN team_members o ON o.team = t.id AND o.role = 'owner' JOIN accounts a ON a.id = o.account";

fn overview(row: &Row<'_>) -> db::Result<TeamOverview> {
    Ok(TeamOverview {
        id: id(row, 0)?,
        name: row.get(1)?,
        owner: row.get(2)?,
        members: row.get(3)?,
        storage_used: row.get(4)?,
        storage_limit: row.get(5)?,
        bandwidth_limit: row.get(6)?,
        file_count: row.get(7)?,
        file_count_limit: row.get(8)?,
    })
}

/// Returns the limits of a new team: those of all new ones, or those of its owner where they are smaller.
pub(super) fn limits_of_new(conn: &Connection, owner: AccountId, all: &Limits) -> Result<Limits> {
    Ok(conn
        .prepare_cached(
            "SELECT storage_limit, bandwidth_limit, file_count_limit FROM accounts WHERE id = ?1",
        )?
        .query_row([owner.as_bytes()], |row| {
            Ok(Limits {
                storage: row.get::<u64>(0)?.min(all.storage),
                bandwidth: row.get::<u64>(1)?.min(all.bandwidth),
                files: row.get::<u64>(2)?.min(all.files),
            })
        })?)
}

fn by_id(conn: &Connection, team: TeamId) -> Result<Option<TeamOverview>> {
    Ok(conn
        .prepare(&format!("{OVERVIEW} WHERE t.id = ?1"))?
        .query_row([team.as_bytes()], overview)
        .optional()?)
}

fn by_name(conn: &Connection, name: &str) -> Result<Vec<TeamOverview>> {
    Ok(conn
        .prepare(&format!("{OVERVIEW} WHERE t.name = ?1 ORDER BY t.id"))?
        .query_map([name], overview)?
        .collect::<db::Result<_>>()?)
}

impl Store {
    /// Lists all teams, by their names.
    pub fn all_teams(&self) -> Result<Vec<TeamOverview>> {
        let sql = format!("{OVERVIEW} ORDER BY t.name COLLATE NOCASE, t.id");
        self.read(|conn| {
            Ok(conn
                .prepare(&sql)?
                .query_map([], overview)?
                .collect::<db::Result<_>>()?)
        })
    }

    /// Finds a team by its id, or by a name that no other one has. A team whose name is the id of another one is found
    /// by its own id alone: members choose names.
    ///
    /// # Errors
    /// 404; 400 for a name of several teams.
    pub fn team_called(&self, which: &str) -> Result<TeamOverview> {
        self.read(|conn| {
            if let Ok(id) = which.parse::<TeamId>()
                && let Some(team) = by_id(conn, id)?
            {
                return Ok(team);
            }
            let mut found = by_name(conn, which)?;
            let ids: Vec<String> = found.iter().map(|team| team.id.to_string()).collect();
            match (found.pop(), ids.len()) {
                (Some(team), 1) => Ok(team),
                (Some(_), _) => Err(Error::invalid(format!(
                    "several teams are called `{which}`; name one by its id: {}",
                    ids.join(", ")
                ))),
                (None, _) => Err(Error::not_found(format!(
                    "there is no team `{which}`; `cairn-server team list` lists all"
                ))),
            }
        })
    }

    /// Changes how much a team may use. The log has it as a change to the owner's account that names the team.
    ///
    /// # Errors
    /// 404.
    pub fn change_team_limits(
        &self,
        by: Administrator,
        team: TeamId,
        new: NewLimits,
    ) -> Result<()> {
        self.write(|tx| {
            if new == NewLimits::default() {
                return Ok(());
            }
            let owner = super::owner_of(tx.conn, team)?;
            usage::change_limits(tx.conn, LimitsOf::Team(team), new)?;
            let mut data = new.event_data();
            data["team"] = json!(team);
            tx.note_admin_action(by, AdminAction::QuotaChanged, owner, &data)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{add_account, open};
    use crate::{Clock, Source};
    use std::sync::Arc;

    #[test]
    fn the_log_of_administrators_names_the_team_whose_limits_were_changed() {
        let store = open(Arc::new(Source::new(Clock::System, Some(1))));
        let owner = add_account(&store, "a@example.com").id;
        let team = store.create_team(owner, "Crew", &Limits::default());
        let team = team.unwrap().id;
        let change = |new| {
            let by = Administrator::CommandLine;
            store.change_team_limits(by, team, new).unwrap();
            store.admin_events(0, 9).unwrap()
        };
        assert_eq!(change(NewLimits::default()).1, 0, "nothing was changed");
        let files = NewLimits {
            files: Some(7),
            ..NewLimits::default()
        };
        let (events, _) = change(files);
        let [event] = events.as_slice() else {
            panic!("{events:?}");
        };
        assert_eq!(event.account, Some(owner));
        assert_eq!(event.action, AdminAction::QuotaChanged);
        assert_eq!(event.data["team"], team.to_string());
        assert_eq!(event.data["file_count_limit"], 7);
    }

    #[test]
    fn an_id_means_its_own_team_even_if_it_is_the_name_of_another() {
        let store = open(Arc::new(Source::new(Clock::System, Some(1))));
        let owner = add_account(&store, "a@example.com").id;
        let make = |name: &str| {
            let team = store.create_team(owner, name, &Limits::default());
            team.unwrap().id
        };
        let first = make("Crew");
        let other = make(&first.to_string());
        for (which, team) in [
            ("Crew", first),
            (first.to_string().as_str(), first),
            (other.to_string().as_str(), other),
        ] {
            assert_eq!(store.team_called(which).unwrap().id, team, "{which}");
        }
        make("Crew");
        let several = store.team_called("Crew").unwrap_err().to_string();
        assert!(several.contains(&first.to_string()), "{several}");
        assert!(matches!(store.team_called("crew"), Err(Error::NotFound(_))));
    }
}
