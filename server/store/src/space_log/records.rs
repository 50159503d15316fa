//! The records of a signed log as rows: statements of devices, entries that the server made for changes without keys.
//! Rows are only added; the newest row of a node, or of a chain of control statements, is found by its position.

use crate::db::{self, Connection, Optional as _, Row, params};
use crate::error::Error;
use crate::rows::{id, parent_blob};
use cairn_log::{
    ElementName, EntryOp, Item, KnownDevice, Leaf, Mark, NodeOp, NodeRecord, Records, Refusal,
    ServerEntry, Statement, root_at,
};
use cairn_model::{AccountId, NodeId};

type Result<T> = std::result::Result<T, CommitError>;

/// The reason why a commit wasn't taken.
pub(super) enum CommitError {
    Refused(Refusal),
    Store(Error),
}

impl From<Refusal> for CommitError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Error> for CommitError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<db::Error> for CommitError {
    fn from(error: db::Error) -> Self {
        Self::Store(error.into())
    }
}

/// The rows of one space.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) conn: &'a Connection,
    pub(super) space: i64,
}

/// The newest row of a kind about an element.
struct Newest {
    position: u64,
    is_end: bool,
    hash: [u8; 32],
    body: Vec<u8>,
}

/// The error for a row that no code of this server wrote.
pub(super) fn damaged_error(what: &str) -> Error {
    Error::Internal(format!("{what} of a space's log is damaged"))
}

fn read_newest(row: &Row<'_>) -> db::Result<Newest> {
    Ok(Newest {
        position: row.get(0)?,
        is_end: row.get(1)?,
        hash: row.get(2)?,
        body: row.get(3)?,
    })
}

impl Rows<'_> {
    /// Left to itself, SQLite takes the order of the primary key, and reads the whole log for a node that
    /// isn't there.
    fn newest_item(&self, element: &ElementName, is_entry: bool) -> Result<Option<Newest>> {
        Ok(self
            .conn
            .prepare_cached(
                "SELECT position, is_end, hash, body FROM log_items INDEXED BY log_items_element \
                 WHERE space = ?1 AND element = ?2 AND class = ?3 AND is_entry = ?4 \
                 ORDER BY position DESC, part DESC LIMIT 1",
            )?
            .query_row(
                params![self.space, element.id, element.class, is_entry],
                read_newest,
            )
            .optional()?)
    }

    /// Returns the hash of a complete subtree.
    pub(super) fn subtree(&self, level: u8, place: u64) -> Result<[u8; 32]> {
        Ok(self
            .conn
            .prepare_cached(
                "SELECT hash FROM log_subtrees WHERE space = ?1 AND level = ?2 AND place = ?3",
            )?
            .query_row(params![self.space, level, place], |row| row.get(0))?)
    }

    pub(super) fn size(&self) -> Result<u64> {
        let size = self
            .conn
            .prepare_cached("SELECT size FROM logs WHERE space = ?1")?
            .query_row([self.space], |row| row.get(0))
            .optional()?;
        Ok(size.unwrap_or(0))
    }

    fn put(&self, item: &Item<'_>, is_entry: bool, is_end: bool) -> Result<()> {
        self.conn
            .prepare_cached(
                "INSERT INTO log_items (space, position, part, element, class, is_entry, is_end, hash, body) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![
                self.space,
                item.position,
                item.part,
                item.element.id,
                item.element.class,
                is_entry,
                is_end,
                item.hash,
                item.body
            ])?;
        Ok(())
    }
}

impl Records for Rows<'_> {
    type Error = CommitError;

    fn node(&self, node: NodeId) -> Result<NodeRecord> {
        let name = ElementName::node(node);
        let statement = self.newest_item(&name, false)?;
        let entry = self.newest_item(&name, true)?;
        let stands_at = statement.as_ref().map(|newest| newest.position);
        let entry = entry.filter(|entry| stands_at.is_none_or(|at| entry.position > at));
        let is_end = |newest: &Option<Newest>| newest.as_ref().is_some_and(|n| n.is_end);
        if is_end(&statement) || is_end(&entry) {
            return Ok(NodeRecord {
                is_purged: true,
                ..NodeRecord::default()
            });
        }
        let mut record = NodeRecord::default();
        if let Some(newest) = statement {
            record.signed = match Statement::decode(&newest.body) {
                Ok(Statement::Node(statement)) => Some((statement, newest.hash)),
                Ok(Statement::Control(_)) | Err(_) => {
                    return Err(damaged_error("a statement").into());
                }
            };
        }
        if let Some(newest) = entry {
            let entry = ServerEntry::decode(&newest.body).map_err(|_| damaged_error("an entry"))?;
            record.entry = Some((entry, newest.hash));
        }
        Ok(record)
    }

    fn chain(&self, chain: &ElementName) -> Result<Option<[u8; 32]>> {
        let newest = self.newest_item(chain, false)?;
        Ok(newest.map(|newest| newest.hash))
    }

    fn place(&self, parent: Option<NodeId>, name: &[u8]) -> Result<Option<NodeId>> {
        Ok(self
            .conn
            .prepare_cached(
                "SELECT holder FROM log_places WHERE space = ?1 AND parent = ?2 AND name = ?3",
            )?
            .query_row(
                params![self.space, parent_blob(parent.as_ref()), name],
                |row| id(row, 0),
            )
            .optional()?)
    }

    fn device(&self, number: u32) -> Result<Option<KnownDevice>> {
        Ok(self
            .conn
            .prepare_cached(
                "SELECT owner, key, is_listed, own, min_seen FROM log_devices \
                 WHERE space = ?1 AND number = ?2",
            )?
            .query_row(params![self.space, number], |row| {
                Ok(KnownDevice {
                    account: id(row, 0)?,
                    key: row.get(1)?,
                    is_listed: row.get(2)?,
                    own: row.get(3)?,
                    min_seen: row.get(4)?,
                })
            })
            .optional()?)
    }

    fn root_at(&self, size: u64) -> Result<Option<[u8; 32]>> {
        if size > self.size()? {
            return Ok(None);
        }
        root_at(size, &mut |level, place| self.subtree(level, place)).map(Some)
    }

    fn mark(&self, size: u64) -> Result<Option<Mark>> {
        Ok(self
            .conn
            .prepare_cached("SELECT digest, epoch FROM log_marks WHERE space = ?1 AND size = ?2")?
            .query_row(params![self.space, size], |row| {
                Ok(Mark {
                    digest: row.get(0)?,
                    epoch: row.get(1)?,
                })
            })
            .optional()?)
    }

    fn put_statement(&mut self, item: &Item<'_>, statement: &Statement) -> Result<()> {
        let is_end = match statement {
            Statement::Node(node) => node.op == NodeOp::Purge,
            Statement::Control(_) => false,
        };
        self.put(item, false, is_end)
    }

    fn put_entry(&mut self, item: &Item<'_>, entry: &ServerEntry) -> Result<()> {
        let is_purge = entry.op == EntryOp::Purge;
        let is_end = is_purge && self.newest_item(&item.element, false)?.is_none();
        self.put(item, true, is_end)
    }

    fn set_place(
        &mut self,
        parent: Option<NodeId>,
        name: &[u8],
        node: Option<NodeId>,
    ) -> Result<()> {
        let parent = parent_blob(parent.as_ref());
        match node {
            Some(node) => self
                .conn
                .prepare_cached(
                    "INSERT INTO log_places (space, parent, name, holder) VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute(params![self.space, parent, name, node.as_bytes()])?,
            None => self
                .conn
                .prepare_cached(
                    "DELETE FROM log_places WHERE space = ?1 AND parent = ?2 AND name = ?3",
                )?
                .execute(params![self.space, parent, name])?,
        };
        Ok(())
    }

    fn set_device(&mut self, number: u32, device: &KnownDevice) -> Result<()> {
        self.conn
            .prepare_cached(
                "INSERT INTO log_devices (space, number, owner, key, is_listed, own, min_seen) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (space, number) DO UPDATE SET \
                 is_listed = excluded.is_listed, own = excluded.own, min_seen = excluded.min_seen",
            )?
            .execute(params![
                self.space,
                number,
                device.account.as_bytes(),
                device.key,
                device.is_listed,
                device.own,
                device.min_seen
            ])?;
        Ok(())
    }

    fn unlist_devices(&mut self, account: AccountId) -> Result<()> {
        self.conn
            .prepare_cached("UPDATE log_devices SET is_listed = 0 WHERE space = ?1 AND owner = ?2")?
            .execute(params![self.space, account.as_bytes()])?;
        Ok(())
    }

    fn push_leaf(&mut self, leaf: &Leaf<'_>) -> Result<()> {
        self.conn
            .prepare_cached(
                "INSERT INTO log_leaves (space, position, is_commit, leaf) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![
                self.space,
                leaf.position,
                leaf.is_commit,
                leaf.bytes
            ])?;
        let mut insert = self.conn.prepare_cached(
            "INSERT INTO log_subtrees (space, level, place, hash) VALUES (?1, ?2, ?3, ?4)",
        )?;
        for (level, place, hash) in &leaf.subtrees {
            insert.execute(params![self.space, level, place, hash])?;
        }
        Ok(())
    }

    fn set_mark(&mut self, size: u64, mark: Mark) -> Result<()> {
        self.conn
            .prepare_cached(
                "INSERT INTO log_marks (space, size, digest, epoch) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![self.space, size, mark.digest, mark.epoch])?;
        Ok(())
    }
}
