//! Retention rules, and what they do when their time comes.

use super::access::{self, Table};
use super::caps::Cap;
use super::page::read_page;
use super::rows::{fresh_id, id as read_id};
use super::{Actor, Space, Store, Tx, nodes, teams};
use crate::db::{self, Connection, Optional as _, Row, params};
use crate::error::{Error, Result};
use crate::rights::Right;
use cairn_model::{AccountId, Kind, NodeId};
use cairn_wire::Timestamp;
use cairn_wire::retention::{CreateRetentionRule, RetentionRule};
use uuid::Uuid;

const DAY_MS: i64 = 86_400_000;
/// Files that one pass puts into the trash: the next pass goes on.
const PER_PASS: i64 = 1_000;

fn rule_row(row: &Row<'_>) -> db::Result<RetentionRule> {
    Ok(RetentionRule {
        id: Uuid::from_bytes(row.get(0)?),
        folder_id: read_id(row, 1)?,
        delete_after_days: row.get(2)?,
        name: row.get(3)?,
        deleted_files: row.get(4)?,
        created_at: Timestamp(row.get(5)?),
    })
}

const MAX_RULES: Cap = Cap {
    rows: "retention_rules WHERE account = ?1",
    most: 1_000,
    whose: "the account has",
    name: "retention rules",
};

const COLUMNS: &str = "t.id, t.folder, t.days, t.name, t.deleted_files, t.created_at";

const TABLES: &str = "retention_rules t LEFT JOIN nodes n ON n.id = t.folder";

/// A rule with the space that it works in.
struct Due {
    row: i64,
    account: AccountId,
    space: Space,
    folder: NodeId,
    days: i64,
}

/// The rules in force: a rule acts as the account that made it, so only while that account could put the files
/// into the trash itself. It has to be neither disabled nor about to be deleted, and the folder has to lie in its
/// own space or in that of one of its teams.
const IN_FORCE: &str = "SELECT t.row, t.account, s.row, s.id, t.folder, t.days FROM retention_rules t \
     JOIN nodes n ON n.id = t.folder JOIN spaces s ON s.row = n.space JOIN accounts a ON a.id = t.account \
     WHERE n.state = 0 AND a.disabled_at IS NULL AND a.deletion_requested_at IS NULL \
     AND (a.space = n.space OR EXISTS (SELECT 1 FROM teams m JOIN team_members p ON p.team = m.id \
     WHERE m.space = n.space AND p.account = a.id))";

fn due_rule(row: &Row<'_>) -> db::Result<Due> {
    Ok(Due {
        row: row.get(0)?,
        account: read_id(row, 1)?,
        space: Space {
            row: row.get(2)?,
            id: read_id(row, 3)?,
        },
        folder: read_id(row, 4)?,
        days: row.get(5)?,
    })
}

fn rules(conn: &Connection) -> Result<Vec<Due>> {
    Ok(conn
        .prepare_cached(&format!("{IN_FORCE} ORDER BY t.row"))?
        .query_map([], due_rule)?
        .collect::<db::Result<_>>()?)
}

fn rule_in_force(conn: &Connection, row: i64) -> Result<Option<Due>> {
    Ok(conn
        .prepare_cached(&format!("{IN_FORCE} AND t.row = ?1"))?
        .query_row([row], due_rule)
        .optional()?)
}

/// Returns true if an account manages the rules of others in the team whose space this is: those who may delete
/// the team's files for good.
fn manages(conn: &Connection, account: AccountId, space: i64) -> Result<bool> {
    teams::has_right_in_space(conn, account, space, Right::EmptyTrash)
}

/// Active files in a folder and below whose content was uploaded before a time.
fn old_files(conn: &Connection, rule: &Due, before: i64) -> Result<Vec<NodeId>> {
    Ok(conn
        .prepare_cached(
            "WITH RECURSIVE sub (id) AS (SELECT CAST(?1 AS BLOB) UNION ALL \
             SELECT n.id FROM sub CROSS JOIN nodes n INDEXED BY nodes_name \
             ON n.parent = sub.id AND n.space = ?2 AND n.state = 0 AND n.kind = 1) \
             SELECT n.id FROM sub CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent = sub.id AND n.space = ?2 AND n.state = 0 AND n.kind = 0 \
             JOIN revisions r ON r.id = n.revision WHERE r.created_at <= ?3 ORDER BY r.created_at, n.id LIMIT ?4",
        )?
        .query_map(
            params![rule.folder.as_bytes(), rule.space.row, before, PER_PASS],
            |row| read_id(row, 0),
        )?
        .collect::<db::Result<_>>()?)
}

impl Tx<'_> {
    /// Makes a rule for a folder.
    ///
    /// # Errors
    /// 404 for the folder, 400 for a file, 409 for one rule too many.
    pub fn create_retention_rule(
        &self,
        actor: &Actor,
        new: &CreateRetentionRule,
    ) -> Result<RetentionRule> {
        let folder = nodes::active_node(self.conn, actor.space, new.folder_id)?.node;
        if folder.kind == Kind::File {
            return Err(Error::invalid(format!(
                "`folder_id` {} is a file; it has to be a folder",
                folder.id
            )));
        }
        MAX_RULES.check(self.conn, params![actor.account.as_bytes()])?;
        let id = fresh_id(self.source);
        self.conn
            .prepare_cached(
                "INSERT INTO retention_rules (id, account, folder, days, name, created_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                id.as_bytes(),
                actor.account.as_bytes(),
                folder.id.as_bytes(),
                new.delete_after_days,
                new.name,
                self.now
            ])?;
        Ok(RetentionRule {
            id,
            folder_id: folder.id,
            delete_after_days: new.delete_after_days,
            name: new.name.clone(),
            deleted_files: 0,
            created_at: Timestamp(self.now),
        })
    }

    /// Deletes a rule that the account made, or one of the space of a team whose rules it manages.
    ///
    /// # Errors
    /// 404, 403 for any other rule.
    pub fn delete_retention_rule(&self, account: AccountId, id: Uuid) -> Result<()> {
        let space: Option<i64> = self
            .conn
            .prepare_cached(
                "SELECT n.space FROM retention_rules t JOIN nodes n ON n.id = t.folder WHERE t.id = ?1",
            )?
            .query_row([id.as_bytes()], |row| row.get(0))
            .optional()?;
        let managed = match space {
            Some(space) => manages(self.conn, account, space)?,
            None => false,
        };
        let gone = self
            .conn
            .prepare_cached("DELETE FROM retention_rules WHERE id = ?1 AND (account = ?2 OR ?3)")?
            .execute(params![id.as_bytes(), account.as_bytes(), managed])?;
        if gone == 0 {
            let what = format!("retention rule {id}");
            return Err(access::absent_error(
                self.conn,
                Table::RetentionRules,
                id.as_bytes(),
                &what,
            ));
        }
        Ok(())
    }

    /// Deletes the rules that an account made in a space, which it leaves.
    pub(super) fn delete_rules_of(&self, account: AccountId, space: Space) -> Result<()> {
        self.conn
            .prepare_cached(
                "DELETE FROM retention_rules WHERE account = ?1 \
                 AND folder IN (SELECT id FROM nodes WHERE space = ?2)",
            )?
            .execute(params![account.as_bytes(), space.row])?;
        Ok(())
    }

    /// Puts the files into the trash whose time by a rule has come, as many as one pass takes, as the rule's
    /// account would. Returns their number; a rule that is no longer in force has none.
    fn apply_rule(&self, row: i64) -> Result<u64> {
        let Some(rule) = rule_in_force(self.conn, row)? else {
            return Ok(0);
        };
        let found = old_files(self.conn, &rule, self.now - rule.days * DAY_MS)?;
        let actor = Actor {
            account: rule.account,
            device: None,
            space: rule.space,
        };
        for file in &found {
            self.trash(&actor, *file, None, None)?;
        }
        self.conn
            .prepare_cached(
                "UPDATE retention_rules SET deleted_files = deleted_files + ?2 WHERE row = ?1",
            )?
            .execute(params![rule.row, found.len()])?;
        Ok(found.len() as u64)
    }
}

impl Store {
    /// Returns one page of rules, the oldest first, and their number: those of the account, or with a team's
    /// space those in it, of which who doesn't manage the rules of others sees their own.
    pub fn retention_rules(
        &self,
        account: AccountId,
        team_space: Option<Space>,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<RetentionRule>, u64)> {
        self.read(|conn| {
            let all = match team_space {
                Some(space) => manages(conn, account, space.row)?,
                None => false,
            };
            let filter = "(t.account = ?1 OR ?3) AND (n.space = ?2 OR ?2 IS NULL)";
            let space = team_space.map(|space| space.row);
            let count = format!("SELECT count(*) FROM {TABLES} WHERE {filter}");
            let list = format!(
                "SELECT {COLUMNS} FROM {TABLES} WHERE {filter} ORDER BY t.row LIMIT ?5 OFFSET ?4"
            );
            let which = params![account.as_bytes(), space, all];
            read_page(conn, (&count, &list), which, (skip, take), rule_row)
        })
    }

    /// Puts the files whose time has come into the trash. Repeats until none is left, in transactions of bounded
    /// size; a rule that can't be applied keeps none of the others.
    pub fn apply_retention(&self) -> Result<u64> {
        let mut deleted = 0;
        for rule in self.read(rules)? {
            loop {
                match self.write(|tx| tx.apply_rule(rule.row)) {
                    Ok(0) => break,
                    Ok(count) => deleted += count,
                    Err(error) => {
                        tracing::error!(account = %rule.account, %error, "a retention rule can't be applied");
                        break;
                    }
                }
            }
        }
        Ok(deleted)
    }
}

#[cfg(test)]
mod tests {
    use crate::db::params;
    use crate::source::{Clock, Source};
    use crate::testing::add_account;
    use crate::{Limits, Store};
    use std::sync::Arc;

    #[test]
    fn an_older_database_loses_what_former_members_left_behind() {
        let clock = Clock::Virtual { start_ms: 1_000 };
        let store = Store::open(None, Arc::new(Source::new(clock, Some(1)))).unwrap();
        let [owner, former] = ["a@b.c", "b@b.c"].map(|email| add_account(&store, email).id);
        let team = store
            .create_team(owner, "Team", &Limits::default())
            .unwrap();
        let left = store
            .write(|tx| {
                tx.conn.execute(
                    "INSERT INTO nodes (id, space, parent, kind, name, name_key, size, state, version, seq, \
                     created_seq, created_at, updated_at, executable) \
                     SELECT x'0f', row, x'', 1, 'f', 'f', 0, 0, 1, 1, 1, 0, 0, 0 \
                     FROM spaces WHERE id = ?1",
                    [team.space_id.as_bytes()],
                )?;
                for who in [owner, former] {
                    tx.conn.execute(
                        "INSERT INTO retention_rules (id, account, folder, days, name, created_at) \
                         VALUES (?1, ?1, x'0f', 1, 'n', 0)",
                        [who.as_bytes()],
                    )?;
                    tx.conn.execute(
                        "INSERT INTO team_invitations (id, team, email, role, invited_by, state, created_at, \
                         expires_at) VALUES (?2, ?1, ?3, 'admin', ?2, 'pending', 0, 9)",
                        params![team.id.as_bytes(), who.as_bytes(), who.to_string()],
                    )?;
                }
                tx.conn.execute_batch(
                    "INSERT INTO comments (id, node, parent, account, body, created_at) \
                     VALUES (x'01', x'0f', x'02', x'03', 'reply', 0)",
                )?;
                tx.conn.execute_batch(include_str!("sql/0053_left_behind.sql"))?;
                Ok(tx.conn.query_row(
                    "SELECT (SELECT count(*) FROM retention_rules), \
                     (SELECT count(*) FROM team_invitations WHERE state = 'pending'), \
                     (SELECT count(*) FROM retention_rules t JOIN team_invitations i ON i.invited_by = t.account \
                     WHERE i.state = 'pending' AND t.account = ?1), \
                     (SELECT count(*) FROM comments WHERE parent IS NULL)",
                    [owner.as_bytes()],
                    |row| -> crate::db::Result<[i64; 4]> {
                        Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
                    },
                )?)
            })
            .unwrap();
        assert_eq!(left, [1; 4], "those of the owner, and the reply");
        assert_eq!(store.retention_rules(former, None, 0, 9).unwrap().1, 0);
    }
}
