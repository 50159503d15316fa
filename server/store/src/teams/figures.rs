//! Usage and limits of a team, and how much each member stores in the team's space (its tree of files).

use super::require;
use crate::Store;
use crate::catalog;
use crate::db::{self, params};
use crate::error::Result;
use crate::payments::plan_of;
use crate::rights::Right;
use crate::rows::id;
use crate::usage::month;
use cairn_model::{AccountId, TeamId};
use cairn_wire::teams::{MemberStorage, TeamQuota};

/// The bytes stored in the space `?2` of the team `?1`, by who stored it. Members who store nothing are
/// included, and so are former members whose content is still there.
const STORED_BY_MEMBERS: &str = "WITH \
     holders AS (SELECT id FROM nodes WHERE space = ?2 UNION SELECT node FROM uploads WHERE space = ?2), \
     parts AS (SELECT c.account, c.size AS bytes, 0 AS files FROM holders h JOIN chunks c ON c.node = h.id \
     UNION ALL SELECT r.account, length(r.manifest), CASE WHEN n.revision = r.id AND n.state <> 2 THEN 1 ELSE 0 END \
     FROM nodes n JOIN revisions r ON r.node = n.id WHERE n.space = ?2 \
     UNION ALL SELECT account, reserved, 0 FROM uploads WHERE space = ?2), \
     held AS (SELECT account, sum(bytes) AS bytes, sum(files) AS files FROM parts \
     WHERE account IS NOT NULL GROUP BY account), \
     people AS (SELECT account FROM team_members WHERE team = ?1 \
     UNION SELECT account FROM held WHERE bytes > 0 OR files > 0)";

/// The storage of a team, and of each of its members.
pub struct StoredByMembers {
    pub page: Vec<MemberStorage>,
    pub total: u64,
    pub storage_used: u64,
    pub storage_limit: u64,
}

impl Store {
    /// Usage and limits of a team.
    ///
    /// # Errors
    /// 404 for somebody who is no member.
    pub fn team_quota(&self, account: AccountId, team: TeamId) -> Result<TeamQuota> {
        let month = month(self.source().now_ms());
        self.read(|conn| {
            require(conn, team, account, Right::View)?;
            let (mut quota, owner) = conn.query_row(
                "SELECT s.storage_used, t.storage_limit, coalesce(b.bytes, 0), t.bandwidth_limit, \
                 s.file_count, t.file_count_limit, (SELECT count(*) FROM team_members m WHERE m.team = t.id), \
                 o.account FROM teams t JOIN spaces s ON s.row = t.space \
                 JOIN team_members o ON o.team = t.id AND o.role = 'owner' \
                 LEFT JOIN bandwidth b ON b.account = t.id AND b.month = ?2 WHERE t.id = ?1",
                params![team.as_bytes(), month],
                |row| {
                    let quota = TeamQuota {
                        storage_used: row.get(0)?,
                        storage_limit: row.get(1)?,
                        bandwidth_used: row.get(2)?,
                        bandwidth_limit: row.get(3)?,
                        file_count: row.get(4)?,
                        file_count_limit: row.get(5)?,
                        member_count: row.get(6)?,
                        member_limit: 0,
                    };
                    Ok((quota, id(row, 7)?))
                },
            )?;
            quota.member_limit = catalog::member_limit(plan_of(conn, owner)?);
            Ok(quota)
        })
    }

    /// Lists one page of what each member stores in a team's space, most first.
    ///
    /// # Errors
    /// 404, 403.
    pub fn team_storage(
        &self,
        account: AccountId,
        team: TeamId,
        skip: u64,
        take: u64,
    ) -> Result<StoredByMembers> {
        self.read(|conn| {
            let its = require(conn, team, account, Right::ViewStorage)?;
            let (storage_used, storage_limit) = conn.query_row(
                "SELECT s.storage_used, t.storage_limit FROM teams t JOIN spaces s ON s.row = t.space \
                 WHERE t.id = ?1",
                [team.as_bytes()],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            let total = conn
                .prepare_cached(&format!("{STORED_BY_MEMBERS} SELECT count(*) FROM people"))?
                .query_row(params![team.as_bytes(), its.space.row], |row| row.get(0))?;
            let members = conn
                .prepare_cached(&format!(
                    "{STORED_BY_MEMBERS} SELECT p.account, a.email, a.display_name, m.account IS NOT NULL, \
                     coalesce(h.bytes, 0), coalesce(h.files, 0) FROM people p \
                     LEFT JOIN accounts a ON a.id = p.account LEFT JOIN held h ON h.account = p.account \
                     LEFT JOIN team_members m ON m.account = p.account AND m.team = ?1 \
                     ORDER BY coalesce(h.bytes, 0) DESC, a.email, p.account LIMIT ?4 OFFSET ?3"
                ))?
                .query_map(params![team.as_bytes(), its.space.row, skip, take], |row| {
                    Ok(MemberStorage {
                        user_id: id(row, 0)?,
                        email: row.get(1)?,
                        display_name: row.get(2)?,
                        is_member: row.get(3)?,
                        storage_used: row.get(4)?,
                        file_count: row.get(5)?,
                    })
                })?
                .collect::<db::Result<_>>()?;
            Ok(StoredByMembers {
                page: members,
                total,
                storage_used,
                storage_limit,
            })
        })
    }
}
