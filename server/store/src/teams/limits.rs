//! Limits of teams: those of a new one, and those of all as the one who runs the server reads and changes them.

use crate::db::{self, Connection, Row, params};
use crate::error::{Error, Result};
use crate::options::{Limits, NewLimits, to_sql_limit};
use crate::rows::id;
use crate::{Store, Tx};
use cairn_model::{AccountId, TeamId};
use serde::Serialize;

/// A team as the one who runs the server sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TeamOverview {
    pub id: TeamId,
    pub name: String,
    /// The address of the owner.
    pub owner: String,
    pub members: u64,
    pub storage_used: u64,
    pub storage_limit: u64,
    /// In a month.
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

impl Tx<'_> {
    fn set_team_limits(&self, team: TeamId, new: NewLimits) -> Result<()> {
        self.conn.execute(
            "UPDATE teams SET storage_limit = coalesce(?2, storage_limit), \
             bandwidth_limit = coalesce(?3, bandwidth_limit), \
             file_count_limit = coalesce(?4, file_count_limit) WHERE id = ?1",
            params![
                team.as_bytes(),
                to_sql_limit(new.storage),
                to_sql_limit(new.bandwidth),
                to_sql_limit(new.files)
            ],
        )?;
        Ok(())
    }
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

    /// Finds a team by its id, or by a name that no other one has.
    ///
    /// # Errors
    /// 404; 400 for a name of several teams.
    pub fn team_called(&self, which: &str) -> Result<TeamOverview> {
        let mut found = self.all_teams()?;
        found.retain(|team| team.id.to_string() == which || team.name == which);
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
    }

    /// Changes what a team may use.
    pub fn change_team_limits(&self, team: TeamId, new: NewLimits) -> Result<()> {
        self.write(|tx| tx.set_team_limits(team, new))
    }
}
