//! Retention rules, and what they do when their time comes.

use super::access::{self, Table};
use super::rows::id as read_id;
use super::{Actor, Space, Store, Tx, nodes};
use crate::error::{Error, Result};
use cairn_model::{AccountId, Kind, NodeId};
use cairn_wire::Timestamp;
use cairn_wire::retention::{CreateRetentionRule, RetentionRule};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

const DAY_MS: i64 = 86_400_000;
/// Files that one pass puts into the trash: the next pass goes on.
const PER_PASS: i64 = 1_000;

fn rule_row(row: &Row<'_>) -> rusqlite::Result<RetentionRule> {
    Ok(RetentionRule {
        id: Uuid::from_bytes(row.get(0)?),
        folder_id: read_id(row, 1)?,
        delete_after_days: row.get(2)?,
        name: row.get(3)?,
        deleted_files: row.get(4)?,
        created_at: Timestamp(row.get(5)?),
    })
}

const COLUMNS: &str = "id, folder, days, name, deleted_files, created_at";

/// A rule with the space that it works in.
struct Due {
    row: i64,
    account: AccountId,
    space: Space,
    folder: NodeId,
    days: i64,
}

fn rules(conn: &Connection) -> Result<Vec<Due>> {
    Ok(conn
        .prepare_cached(
            "SELECT t.row, t.account, s.row, s.id, t.folder, t.days FROM retention_rules t \
             JOIN nodes n ON n.id = t.folder JOIN spaces s ON s.row = n.space WHERE n.state = 0 ORDER BY t.row",
        )?
        .query_map([], |row| {
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
        })?
        .collect::<rusqlite::Result<_>>()?)
}

/// Active files in a folder and below whose content was uploaded before a time.
fn old_files(conn: &Connection, rule: &Due, before: i64) -> Result<Vec<NodeId>> {
    Ok(conn
        .prepare_cached(
            "WITH RECURSIVE sub (id) AS (SELECT ?1 UNION ALL SELECT n.id FROM sub CROSS JOIN nodes n INDEXED BY nodes_name \
             ON n.parent = sub.id AND n.space = ?2 AND n.state = 0 AND n.kind = 1) \
             SELECT n.id FROM sub CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent = sub.id AND n.space = ?2 AND n.state = 0 AND n.kind = 0 \
             JOIN revisions r ON r.id = n.revision WHERE r.created_at <= ?3 ORDER BY r.created_at, n.id LIMIT ?4",
        )?
        .query_map(
            params![rule.folder.as_bytes(), rule.space.row, before, PER_PASS],
            |row| read_id(row, 0),
        )?
        .collect::<rusqlite::Result<_>>()?)
}

impl Tx<'_> {
    /// Makes a rule for a folder.
    ///
    /// # Errors
    /// 404 for the folder, 400 for a file.
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
        let id = uuid::Builder::from_random_bytes(self.source.bytes()).into_uuid();
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

    /// # Errors
    /// 404, 403 for a rule of somebody else.
    pub fn delete_retention_rule(&self, account: AccountId, id: Uuid) -> Result<()> {
        let gone = self
            .conn
            .prepare_cached("DELETE FROM retention_rules WHERE id = ?1 AND account = ?2")?
            .execute(params![id.as_bytes(), account.as_bytes()])?;
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
}

impl Store {
    /// One page of an account's rules, the oldest first, and their number.
    pub fn retention_rules(
        &self,
        account: AccountId,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<RetentionRule>, u64)> {
        self.read(|conn| {
            let total = conn
                .prepare_cached("SELECT count(*) FROM retention_rules WHERE account = ?1")?
                .query_row([account.as_bytes()], |row| row.get(0))?;
            let page = conn
                .prepare_cached(&format!(
                    "SELECT {COLUMNS} FROM retention_rules WHERE account = ?1 ORDER BY row LIMIT ?3 OFFSET ?2"
                ))?
                .query_map(params![account.as_bytes(), skip, take], rule_row)?
                .collect::<rusqlite::Result<_>>()?;
            Ok((page, total))
        })
    }

    /// Puts the files whose time has come into the trash, each as its rule's account would. Repeats
    /// until none is left, in transactions of bounded size.
    pub fn apply_retention(&self) -> Result<u64> {
        let mut deleted = 0;
        for rule in self.read(rules)? {
            loop {
                let before = self.source().now_ms() - rule.days * DAY_MS;
                let found = self.read(|conn| old_files(conn, &rule, before))?;
                if found.is_empty() {
                    break;
                }
                self.write(|tx| {
                    let actor = Actor {
                        account: rule.account,
                        device: None,
                        space: rule.space,
                    };
                    for file in &found {
                        tx.trash(&actor, *file, None, None)?;
                    }
                    tx.conn
                        .prepare_cached("UPDATE retention_rules SET deleted_files = deleted_files + ?2 WHERE row = ?1")?
                        .execute(params![rule.row, found.len()])?;
                    Ok(())
                })?;
                deleted += found.len() as u64;
            }
        }
        Ok(deleted)
    }
}
