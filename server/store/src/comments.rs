//! Comments and the replies to them.

use super::caps::Cap;
use super::rows::{NodeRow, State, fresh_id, id as read_id};
use super::social::refuse_blocked;
use super::{Actor, Space, Store, Tx, access, nodes, teams};
use crate::db::{self, Connection, Optional as _, Row, params};
use crate::error::{Error, Result};
use cairn_model::{AccountId, NodeId};
use cairn_wire::Timestamp;
use cairn_wire::comments::{Author, Comment};
use cairn_wire::notifications::NotificationKind;
use serde_json::json;
use std::collections::HashMap;
use uuid::Uuid;

/// Characters of a comment in a notification.
const QUOTED: usize = 140;

const MAX_COMMENTS: Cap = Cap {
    rows: "comments WHERE node = ?1",
    most: 10_000,
    whose: "the file or folder has",
    name: "comments",
};

/// A reply to a reply to a reply; JSON readers give up on deeper ones.
const MAX_DEPTH: u64 = 20;

/// A page of comments that reply to none, each with all replies to it.
pub struct Threads {
    pub page: Vec<Comment>,
    /// The number of such comments.
    pub threads: u64,
    /// The number of all comments, replies included, deleted ones not.
    pub comments: u64,
}

const COLUMNS: &str = "c.id, c.node, c.parent, c.body, c.account, coalesce(a.display_name, ''), coalesce(a.email, ''), \
     c.created_at";

const TABLES: &str = "comments c LEFT JOIN accounts a ON a.id = c.account";

fn comment_row(row: &Row<'_>) -> db::Result<Comment> {
    let body: Option<String> = row.get(3)?;
    Ok(Comment {
        id: Uuid::from_bytes(row.get(0)?),
        file_id: read_id(row, 1)?,
        parent_id: row.get::<Option<[u8; 16]>>(2)?.map(Uuid::from_bytes),
        deleted: body.is_none(),
        body: body.unwrap_or_default(),
        author: Author {
            id: read_id(row, 4)?,
            display_name: row.get(5)?,
            email: row.get(6)?,
        },
        created_at: Timestamp(row.get(7)?),
        replies: Vec::new(),
    })
}

fn find(conn: &Connection, id: Uuid) -> Result<Option<Comment>> {
    let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE c.id = ?1");
    Ok(conn
        .prepare_cached(&sql)?
        .query_row([id.as_bytes()], comment_row)
        .optional()?)
}

/// Deletes everything that was said about a node.
pub(super) fn forget(conn: &Connection, node: NodeId) -> Result<()> {
    conn.prepare_cached("DELETE FROM comments WHERE node = ?1")?
        .execute([node.as_bytes()])?;
    Ok(())
}

/// Deletes the places of comments on a node that nothing hangs from any more, also those above.
fn drop_empty_places(conn: &Connection, node: NodeId) -> Result<()> {
    loop {
        let gone = conn
            .prepare_cached(
                "DELETE FROM comments WHERE node = ?1 AND body IS NULL AND NOT EXISTS \
                 (SELECT 1 FROM comments r WHERE r.node = comments.node AND r.parent = comments.id)",
            )?
            .execute([node.as_bytes()])?;
        if gone == 0 {
            return Ok(());
        }
    }
}

/// Deletes what an account has said about the nodes of others; where somebody has answered, the place stays.
pub(super) fn forget_author(conn: &Connection, account: AccountId) -> Result<()> {
    let commented: Vec<(NodeId, i64)> = conn
        .prepare_cached(
            "SELECT n.id, n.row FROM nodes n WHERE n.id IN (SELECT node FROM comments WHERE account = ?1)",
        )?
        .query_map([account.as_bytes()], |row| Ok((read_id(row, 0)?, row.get(1)?)))?
        .collect::<db::Result<_>>()?;
    conn.prepare_cached("UPDATE comments SET body = NULL WHERE account = ?1")?
        .execute([account.as_bytes()])?;
    for (node, row) in commented {
        drop_empty_places(conn, node)?;
        // What was said is not to be found any more, either.
        conn.index_node(row)?;
    }
    Ok(())
}

/// Returns the node that was commented on, if an account can see it: it lies in the personal space of the
/// account, or in the space of one of its teams. The id of a comment is enough to know which.
///
/// # Errors
/// 404, 403.
fn commented_node(conn: &Connection, account: AccountId, node: NodeId) -> Result<NodeRow> {
    let found = nodes::find(conn, node)?
        .filter(|found| found.state != State::Deleted)
        .ok_or_else(|| Error::not_found(format!("there is no node {node}")))?;
    let is_own: bool = conn
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM accounts WHERE id = ?1 AND space = ?2)")?
        .query_row(params![account.as_bytes(), found.space], |row| row.get(0))?;
    if is_own || teams::role_in_space(conn, account, found.space)?.is_some() {
        return Ok(found);
    }
    Err(access::forbidden_error(&format!("node {node}")))
}

/// The accounts whose file a node is: the owner of the personal space that it is in, and in a team's
/// space the members who uploaded its first and its current revision.
fn owners(conn: &Connection, space: Space, node: NodeId) -> Result<Vec<AccountId>> {
    Ok(conn
        .prepare_cached(
            "SELECT id FROM accounts WHERE space = ?1 \
             UNION SELECT r.account FROM revisions r JOIN nodes n ON n.id = r.node \
             JOIN teams t ON t.space = n.space JOIN team_members m ON m.team = t.id AND m.account = r.account \
             WHERE r.node = ?2 AND (r.id = n.revision OR r.number = (SELECT min(number) FROM revisions WHERE node = ?2))",
        )?
        .query_map(params![space.row, node.as_bytes()], |row| read_id(row, 0))?
        .collect::<db::Result<_>>()?)
}

/// The number of comments a reply to this one has above it.
fn depth(conn: &Connection, id: Uuid) -> Result<u64> {
    Ok(conn
        .prepare_cached(
            "WITH RECURSIVE up (id) AS (SELECT CAST(?1 AS BLOB) UNION ALL \
             SELECT c.parent FROM up JOIN comments c ON c.id = up.id \
             WHERE c.parent IS NOT NULL) SELECT count(*) FROM up",
        )?
        .query_row([id.as_bytes()], |row| row.get(0))?)
}

/// Puts each comment below the one that it answers.
fn nest_replies(all: Vec<Comment>) -> Vec<Comment> {
    let mut below: HashMap<Option<Uuid>, Vec<Comment>> = HashMap::new();
    for comment in all {
        below.entry(comment.parent_id).or_default().push(comment);
    }
    fn take(below: &mut HashMap<Option<Uuid>, Vec<Comment>>, parent: Option<Uuid>) -> Vec<Comment> {
        let mut here = below.remove(&parent).unwrap_or_default();
        for comment in &mut here {
            comment.replies = take(below, Some(comment.id));
        }
        here
    }
    take(&mut below, None)
}

/// Returns who hears of a comment: the owner of the file, and the author of the parent comment.
///
/// # Errors
/// 403 where one of them blocks the author.
fn recipients(
    conn: &Connection,
    actor: &Actor,
    node: NodeId,
    parent_comment: Option<Comment>,
) -> Result<Vec<AccountId>> {
    let mut all = owners(conn, actor.space, node)?;
    all.extend(parent_comment.map(|comment| comment.author.id));
    all.sort_unstable();
    all.dedup();
    for other in &all {
        refuse_blocked(conn, actor.account, *other)?;
    }
    Ok(all)
}

impl Tx<'_> {
    /// Writes a comment, or a reply to one.
    ///
    /// # Errors
    /// 404 for the node or the parent comment, 403 where whose it is blocks the author, 409
    /// in the trash and for one comment too many.
    pub fn add_comment(
        &self,
        actor: &Actor,
        node: NodeId,
        parent: Option<Uuid>,
        text: &str,
    ) -> Result<Comment> {
        let commented = nodes::active_node(self.conn, actor.space, node)?;
        let parent_comment = match parent {
            None => None,
            Some(id) => Some(
                find(self.conn, id)?
                    .filter(|comment| comment.file_id == node && !comment.deleted)
                    .ok_or_else(|| {
                        Error::not_found(format!("the node {node} has no comment {id}"))
                    })?,
            ),
        };
        if let Some(parent) = parent
            && depth(self.conn, parent)? >= MAX_DEPTH
        {
            return Err(Error::invalid(format!(
                "replies nest {MAX_DEPTH} deep at most; reply to a comment further up"
            )));
        }
        MAX_COMMENTS.check(self.conn, params![node.as_bytes()])?;
        let recipients = recipients(self.conn, actor, node, parent_comment)?;
        let id = fresh_id(self.source);
        self.conn
            .prepare_cached(
                "INSERT INTO comments (id, node, parent, account, body, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                id.as_bytes(),
                node.as_bytes(),
                parent.as_ref().map(Uuid::as_bytes),
                actor.account.as_bytes(),
                text,
                self.now
            ])?;
        self.conn.index_node(commented.row)?;
        let written = find(self.conn, id)?
            .ok_or_else(|| Error::Internal(format!("the comment {id} is missing")))?;
        let quoted: String = text.chars().take(QUOTED).collect();
        let data = json!({"file_id": node, "comment_id": id, "author": written.author.email, "text": quoted});
        let title = format!(
            "{} commented on {}",
            written.author.display_name, commented.node.name
        );
        for account in recipients
            .into_iter()
            .filter(|account| *account != actor.account)
        {
            self.notify(account, NotificationKind::Comment, &title, &data)?;
        }
        Ok(written)
    }

    /// Deletes one of the caller's own comments; where it has replies, its place stays.
    ///
    /// # Errors
    /// 404; 403 for one of somebody else, and for one on a node that the caller can't see.
    pub fn delete_comment(&self, account: AccountId, id: Uuid) -> Result<()> {
        let missing = || Error::not_found(format!("there is no comment {id}"));
        let comment = find(self.conn, id)?
            .filter(|comment| !comment.deleted)
            .ok_or_else(missing)?;
        let commented = commented_node(self.conn, account, comment.file_id)?;
        if comment.author.id != account {
            return Err(Error::Forbidden(
                "only its author can delete a comment".into(),
            ));
        }
        self.conn
            .prepare_cached("UPDATE comments SET body = NULL WHERE id = ?1")?
            .execute([id.as_bytes()])?;
        drop_empty_places(self.conn, comment.file_id)?;
        Ok(self.conn.index_node(commented.row)?)
    }
}

impl Store {
    /// Returns a comment without the replies to it.
    ///
    /// # Errors
    /// 404, 403.
    pub fn comment(&self, account: AccountId, id: Uuid) -> Result<Comment> {
        self.read(|conn| {
            let comment = find(conn, id)?
                .filter(|comment| !comment.deleted)
                .ok_or_else(|| Error::not_found(format!("there is no comment {id}")))?;
            commented_node(conn, account, comment.file_id)?;
            Ok(comment)
        })
    }

    /// One page of the threads on a node.
    ///
    /// # Errors
    /// 404, 403.
    pub fn comments(&self, space: Space, node: NodeId, skip: u64, take: u64) -> Result<Threads> {
        self.read(|conn| {
            nodes::visible_node(conn, space, node)?;
            let (comments, threads) = conn
                .prepare_cached(
                    "SELECT count(*) FILTER (WHERE body IS NOT NULL), count(*) FILTER (WHERE parent IS NULL) \
                     FROM comments WHERE node = ?1",
                )?
                .query_row([node.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let sql = format!(
                "WITH RECURSIVE tops AS (SELECT id FROM comments WHERE node = ?1 AND parent IS NULL \
                 ORDER BY row LIMIT ?3 OFFSET ?2), \
                 sub (id) AS (SELECT id FROM tops UNION ALL SELECT r.id FROM sub JOIN comments r \
                 ON r.node = ?1 AND r.parent = sub.id) \
                 SELECT {COLUMNS} FROM {TABLES} WHERE c.node = ?1 AND c.id IN (SELECT id FROM sub) ORDER BY c.row"
            );
            let found: Vec<Comment> = conn
                .prepare_cached(&sql)?
                .query_map(params![node.as_bytes(), skip, take], comment_row)?
                .collect::<db::Result<_>>()?;
            Ok(Threads {
                page: nest_replies(found),
                threads,
                comments,
            })
        })
    }
}
