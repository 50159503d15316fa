//! Teams and their members. Each team has a space: a tree of files of its own, with its own keys and quotas.
//!
//! A caller who is not a member learns nothing of what a team has (403), and neither does a member
//! without the right.

mod figures;
mod grants;
mod invitations;
mod limits;
mod members;

pub use figures::StoredByMembers;
pub use grants::MAX_GRANT;
pub use limits::TeamOverview;

use super::access::{self, Table};
use super::caps::Cap;
use super::page::read_page;
use super::rows::{id, name_of, word};
use super::{Space, Store, Tx};
use crate::db::{self, Connection, Optional as _, Row, params};
use crate::error::{Error, Result};
use crate::options::{Limits, to_sql_limit};
use crate::rights::{Right, allows, refusal};
use cairn_model::{AccountId, EventKind, NameFormat, SpaceId, TeamId};
use cairn_wire::Timestamp;
use cairn_wire::teams::{Team, TeamRole};
use serde_json::{Value, json};

/// Teams that an account may own when it makes one. Inherited teams may exceed it.
const MAX_OWNED: Cap = Cap {
    rows: "team_members WHERE account = ?1 AND role = 'owner'",
    most: 50,
    whose: "the account owns",
    name: "teams",
};

/// Somebody's part in a team.
#[derive(Clone, Copy, Debug)]
pub struct Membership {
    pub team: TeamId,
    pub role: TeamRole,
    pub space: Space,
}

const TEAM_SQL: &str = "SELECT t.id, t.name, m.role, o.account, a.display_name, \
     (SELECT count(*) FROM team_members c WHERE c.team = t.id), s.id, t.key_epoch, t.created_at \
     FROM team_members m JOIN teams t ON t.id = m.team JOIN spaces s ON s.row = t.space \
     JOIN team_members o ON o.team = t.id AND o.role = 'owner' JOIN accounts a ON a.id = o.account \
     WHERE m.account = ?1";

/// Returns the account that owns a team.
///
/// # Errors
/// 404.
fn owner_of(conn: &Connection, team: TeamId) -> Result<AccountId> {
    conn.query_row(
        "SELECT account FROM team_members WHERE team = ?1 AND role = 'owner'",
        [team.as_bytes()],
        |row| id(row, 0),
    )
    .optional()?
    .ok_or_else(|| Error::not_found(format!("there is no team {team}")))
}

fn team(row: &Row<'_>) -> db::Result<Team> {
    Ok(Team {
        id: id(row, 0)?,
        name: row.get(1)?,
        role: word(row, 2)?,
        owner_id: id(row, 3)?,
        owner_name: row.get(4)?,
        member_count: row.get(5)?,
        space_id: id(row, 6)?,
        key_epoch: row.get(7)?,
        created_at: Timestamp(row.get(8)?),
    })
}

fn membership(row: &Row<'_>) -> db::Result<Membership> {
    Ok(Membership {
        team: id(row, 0)?,
        role: word(row, 1)?,
        space: Space {
            row: row.get(2)?,
            id: id(row, 3)?,
        },
    })
}

const MEMBERSHIP_SQL: &str = "SELECT m.team, m.role, s.row, s.id FROM team_members m \
     JOIN teams t ON t.id = m.team JOIN spaces s ON s.row = t.space WHERE m.account = ?1";

/// Returns the error for somebody who is no member.
fn no_team(conn: &Connection, team: TeamId) -> Error {
    access::absent_error(conn, Table::Teams, team.as_bytes(), &format!("team {team}"))
}

/// The caller's part in a team, if it grants a right.
///
/// # Errors
/// 404 for a team that does not exist, 403 for somebody who is no member or has not the right.
pub(super) fn require(
    conn: &Connection,
    team: TeamId,
    account: AccountId,
    right: Right,
) -> Result<Membership> {
    let found = role_of(conn, team, account)?.ok_or_else(|| no_team(conn, team))?;
    if allows(found.role, right) {
        Ok(found)
    } else {
        Err(Error::Forbidden(refusal(right)))
    }
}

fn role_of(conn: &Connection, team: TeamId, account: AccountId) -> Result<Option<Membership>> {
    Ok(conn
        .prepare_cached(&format!("{MEMBERSHIP_SQL} AND m.team = ?2"))?
        .query_row(params![account.as_bytes(), team.as_bytes()], membership)
        .optional()?)
}

fn read_team(conn: &Connection, id: TeamId, account: AccountId) -> Result<Team> {
    conn.prepare_cached(&format!("{TEAM_SQL} AND t.id = ?2"))?
        .query_row(params![account.as_bytes(), id.as_bytes()], team)
        .optional()?
        .ok_or_else(|| no_team(conn, id))
}

/// Returns the role of an account in the team that a space belongs to, if it is a member.
pub(super) fn role_in_space(
    conn: &Connection,
    account: AccountId,
    space: i64,
) -> Result<Option<TeamRole>> {
    Ok(conn
        .prepare_cached(&format!("{MEMBERSHIP_SQL} AND t.space = ?2"))?
        .query_row(params![account.as_bytes(), space], membership)
        .optional()?
        .map(|found| found.role))
}

/// Returns true if an account has a right in the team whose space this is.
pub(super) fn has_right_in_space(
    conn: &Connection,
    account: AccountId,
    space: i64,
    right: Right,
) -> Result<bool> {
    let role = role_in_space(conn, account, space)?;
    Ok(role.is_some_and(|role| allows(role, right)))
}

/// All members' accounts.
pub(super) fn member_ids(conn: &Connection, team: TeamId) -> Result<Vec<AccountId>> {
    Ok(conn
        .prepare_cached(
            "SELECT account FROM team_members WHERE team = ?1 ORDER BY joined_at, account",
        )?
        .query_map([team.as_bytes()], |row| id(row, 0))?
        .collect::<db::Result<_>>()?)
}

fn team_name(conn: &Connection, team: TeamId) -> Result<String> {
    Ok(conn.query_row(
        "SELECT name FROM teams WHERE id = ?1",
        [team.as_bytes()],
        |row| row.get(0),
    )?)
}

/// Returns the data that the events about one member carry.
fn member_data(conn: &Connection, team: TeamId, account: AccountId) -> Result<Value> {
    let (email, display_name): (String, String) = conn.query_row(
        "SELECT email, display_name FROM accounts WHERE id = ?1",
        [account.as_bytes()],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(json!({
        "team_id": team, "team_name": team_name(conn, team)?, "user_id": account,
        "email": email, "display_name": display_name,
    }))
}

impl Tx<'_> {
    fn insert_team(
        &self,
        owner: AccountId,
        name: &str,
        names: NameFormat,
        limits: &Limits,
    ) -> Result<TeamId> {
        let space: SpaceId = self.source.id(match names {
            NameFormat::Sealed => SpaceId::private_from_random_bytes,
            NameFormat::Plain | NameFormat::Other => SpaceId::from_random_bytes,
        });
        let team: TeamId = self.source.id(TeamId::from_random_bytes);
        let row: i64 = self.conn.query_row(
            "INSERT INTO spaces (id, kind, created_at) VALUES (?1, 'team', ?2) RETURNING row",
            params![space.as_bytes(), self.now],
            |row| row.get(0),
        )?;
        self.conn.execute(
            "INSERT INTO teams (id, name, space, created_at, storage_limit, bandwidth_limit, file_count_limit) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                team.as_bytes(),
                name,
                row,
                self.now,
                to_sql_limit(limits.storage),
                to_sql_limit(limits.bandwidth),
                to_sql_limit(limits.files)
            ],
        )?;
        self.join(team, owner, TeamRole::Owner)?;
        Ok(team)
    }

    pub fn join(&self, team: TeamId, account: AccountId, role: TeamRole) -> Result<()> {
        self.conn.execute(
            "INSERT INTO team_members (team, account, role, joined_at) VALUES (?1, ?2, ?3, ?4)",
            params![
                team.as_bytes(),
                account.as_bytes(),
                name_of(&role),
                self.now
            ],
        )?;
        Ok(())
    }

    /// Raises an event for everybody in a team.
    fn tell_team(&self, team: TeamId, kind: EventKind, data: &Value) -> Result<()> {
        for account in member_ids(self.conn, team)? {
            self.emit(account, kind, data)?;
        }
        Ok(())
    }
}

impl Store {
    /// One page of the teams that an account belongs to, by name, and their number.
    pub fn teams(&self, account: AccountId, skip: u64, take: u64) -> Result<(Vec<Team>, u64)> {
        self.read(|conn| {
            let count = "SELECT count(*) FROM team_members WHERE account = ?1";
            let list =
                format!("{TEAM_SQL} ORDER BY t.name COLLATE NOCASE, t.id LIMIT ?3 OFFSET ?2");
            let which = params![account.as_bytes()];
            read_page(conn, (count, &list), which, (skip, take), team)
        })
    }

    /// Makes a team that the account owns, with an empty space. It may use no more than its owner.
    ///
    /// # Errors
    /// 409 for an account that owns as many as it may.
    pub fn create_team(&self, owner: AccountId, name: &str, limits: &Limits) -> Result<Team> {
        self.create_team_with(owner, name, NameFormat::Plain, limits)
    }

    /// Makes a team like [`Self::create_team`], with a private space.
    ///
    /// # Errors
    /// As [`Self::create_team`].
    pub fn create_private_team(
        &self,
        owner: AccountId,
        name: &str,
        limits: &Limits,
    ) -> Result<Team> {
        self.create_team_with(owner, name, NameFormat::Sealed, limits)
    }

    fn create_team_with(
        &self,
        owner: AccountId,
        name: &str,
        names: NameFormat,
        limits: &Limits,
    ) -> Result<Team> {
        self.write(|tx| {
            MAX_OWNED.check(tx.conn, params![owner.as_bytes()])?;
            let limits = limits::limits_of_new(tx.conn, owner, limits)?;
            let team = tx.insert_team(owner, name, names, &limits)?;
            read_team(tx.conn, team, owner)
        })
    }

    /// A team as one of its members sees it.
    ///
    /// # Errors
    /// 404, 403 for somebody who is no member.
    pub fn team(&self, account: AccountId, team: TeamId) -> Result<Team> {
        self.read(|conn| read_team(conn, team, account))
    }

    /// Gives a team another name.
    ///
    /// # Errors
    /// 404, 403.
    pub fn rename_team(&self, account: AccountId, team: TeamId, name: &str) -> Result<Team> {
        self.write(|tx| {
            require(tx.conn, team, account, Right::EditTeam)?;
            tx.conn.execute(
                "UPDATE teams SET name = ?2 WHERE id = ?1",
                params![team.as_bytes(), name],
            )?;
            read_team(tx.conn, team, account)
        })
    }

    /// The caller's role in a team.
    ///
    /// # Errors
    /// 404.
    pub fn team_role(&self, account: AccountId, team: TeamId) -> Result<TeamRole> {
        self.read(|conn| Ok(require(conn, team, account, Right::View)?.role))
    }

    /// The caller's part in the team that a space belongs to.
    ///
    /// # Errors
    /// 404 for a space that does not exist, 403 for any other.
    pub fn membership_in_space(&self, account: AccountId, space: SpaceId) -> Result<Membership> {
        self.read(|conn| {
            conn.prepare_cached(&format!("{MEMBERSHIP_SQL} AND s.id = ?2"))?
                .query_row(params![account.as_bytes(), space.as_bytes()], membership)
                .optional()?
                .ok_or_else(|| {
                    let what = format!("space {space}");
                    access::absent_error(conn, Table::Spaces, space.as_bytes(), &what)
                })
        })
    }
}
