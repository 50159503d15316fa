//! The files that a share link carries, each with the keys of its chunks sealed under the link's.

use super::rows::id as read_id;
use super::share_rows::ShareRow;
use super::shares::find_owned;
use super::{Actor, Store, Tx, nodes, revisions, usage};
use crate::db::{self, Connection, params};
use crate::error::{Error, Result};
use cairn_model::{Kind, NodeId};
use cairn_wire::Sealed;
use cairn_wire::shares::{MAX_LISTING, SharedFile};
use std::collections::HashMap;

/// Files that one link carries at most.
const MAX_FILES: u64 = 20_000;

impl Tx<'_> {
    /// Adds files to a link, or replaces them.
    ///
    /// # Errors
    /// 400 for a file that lies outside what is shared, a foreign revision, too many files or too long a listing;
    /// 507 if the listings don't fit into the storage.
    pub fn put_shared_files(
        &self,
        actor: &Actor,
        which: &str,
        files: &[SharedFile],
        replace: bool,
    ) -> Result<ShareRow> {
        let share = find_owned(self.conn, actor.account, which)?;
        let (before, _) = usage::used_and_limit(self.conn, share.space)?;
        if replace {
            self.conn
                .prepare_cached("DELETE FROM share_files WHERE share = ?1")?
                .execute([share.row])?;
        }
        for file in files {
            self.put_shared_file(actor, &share, file)?;
        }
        let changed = find_owned(self.conn, actor.account, which)?;
        if changed.share.files > MAX_FILES {
            return Err(Error::invalid(format!(
                "`files`: a link carries at most {MAX_FILES} files; share a smaller folder"
            )));
        }
        let (after, _) = usage::used_and_limit(self.conn, share.space)?;
        if after > before {
            usage::check_fits(self.conn, share.space)?;
        }
        Ok(changed)
    }

    fn put_shared_file(&self, actor: &Actor, share: &ShareRow, file: &SharedFile) -> Result<()> {
        if file.sealed.0.len() > MAX_LISTING {
            return Err(Error::invalid(format!(
                "`files`: what the link carries of the node {} has {} bytes; at most {MAX_LISTING} are allowed",
                file.node_id,
                file.sealed.0.len()
            )));
        }
        let node = nodes::active_node(self.conn, actor.space, file.node_id)?.node;
        if node.kind != Kind::File || !is_at_or_below(self.conn, share.share.file_id, node.id)? {
            return Err(Error::invalid(format!(
                "`files`: the node {} is not a file within what the link shares",
                node.id
            )));
        }
        if revisions::owner(self.conn, file.revision_id)? != Some(node.id) {
            return Err(Error::invalid(format!(
                "`files`: the node {} has no revision {}",
                node.id, file.revision_id
            )));
        }
        self.conn
            .prepare_cached(
                "INSERT INTO share_files (share, node, revision, sealed, space) VALUES (?1, ?2, ?3, ?4, ?5) \
                 ON CONFLICT (share, node) DO UPDATE SET revision = excluded.revision, sealed = excluded.sealed",
            )?
            .execute(params![
                share.row,
                node.id.as_bytes(),
                file.revision_id.as_bytes(),
                file.sealed.0,
                share.space
            ])?;
        Ok(())
    }
}

/// Returns true if an active node is another one or lies below it.
pub(super) fn is_at_or_below(conn: &Connection, top: NodeId, node: NodeId) -> Result<bool> {
    Ok(conn
        .prepare_cached(
            "WITH RECURSIVE up (id) AS (SELECT CAST(?1 AS BLOB) UNION \
             SELECT n.parent FROM up JOIN nodes n ON n.id = up.id \
             WHERE n.parent <> x'' AND n.state = 0) SELECT EXISTS (SELECT 1 FROM up WHERE id = ?2)",
        )?
        .query_row(params![node.as_bytes(), top.as_bytes()], |row| row.get(0))?)
}

/// Returns true if a link carries an active file that is a node or lies below it.
pub(super) fn carries(conn: &Connection, share: &ShareRow, node: NodeId) -> Result<bool> {
    Ok(conn
        .prepare_cached(
            "WITH RECURSIVE sub (id) AS (SELECT n.id FROM nodes n WHERE n.id = ?1 AND n.state = 0 UNION ALL \
             SELECT n.id FROM sub CROSS JOIN nodes n INDEXED BY nodes_name \
             ON n.parent = sub.id AND n.space = ?2 AND n.state = 0) \
             SELECT EXISTS (SELECT 1 FROM sub CROSS JOIN share_files f ON f.node = sub.id AND f.share = ?3)",
        )?
        .query_row(params![node.as_bytes(), share.space, share.row], |row| row.get(0))?)
}

impl Store {
    /// Returns true if a link shows no file although there is one to show: it carries none, or what it carries was moved
    /// away or lies in the trash.
    pub fn lacks_files(&self, share: &ShareRow) -> Result<bool> {
        if share.node_gone {
            return Ok(false);
        }
        self.read(|conn| {
            if carries(conn, share, share.share.file_id)? {
                return Ok(false);
            }
            Ok(conn
                .prepare_cached(
                    "WITH RECURSIVE sub (id) AS (SELECT CAST(?1 AS BLOB) UNION ALL SELECT n.id FROM sub CROSS JOIN nodes n \
                     INDEXED BY nodes_name ON n.parent = sub.id AND n.space = ?2 AND n.state = 0) \
                     SELECT EXISTS (SELECT 1 FROM sub CROSS JOIN nodes n ON n.id = sub.id WHERE n.kind = 0)",
                )?
                .query_row(params![share.share.file_id.as_bytes(), share.space], |row| {
                    row.get(0)
                })?)
        })
    }

    /// The files of a link that are still where they were shared.
    pub fn shared_files(&self, share: &ShareRow) -> Result<Vec<SharedFile>> {
        self.read(|conn| {
            let all: Vec<(Vec<u8>, SharedFile)> = conn
                .prepare_cached(
                    "SELECT f.node, f.revision, f.sealed, n.parent FROM share_files f JOIN nodes n ON n.id = f.node \
                     WHERE f.share = ?1 AND n.state = 0 ORDER BY n.name_key, n.id",
                )?
                .query_map([share.row], |row| {
                    let file = SharedFile {
                        node_id: read_id(row, 0)?,
                        revision_id: read_id(row, 1)?,
                        sealed: Sealed(row.get(2)?),
                    };
                    Ok((row.get(3)?, file))
                })?
                .collect::<db::Result<_>>()?;
            let mut files = Vec::with_capacity(all.len());
            // A folder has many files, and all of them lie where it lies.
            let mut known: HashMap<Vec<u8>, bool> = HashMap::new();
            for (parent, file) in all {
                let is_shared_itself = file.node_id == share.share.file_id;
                // What was moved out of the folder is shared no longer.
                let inside = match known.get(&parent) {
                    _ if is_shared_itself => true,
                    Some(inside) => *inside,
                    None => {
                        let inside = is_at_or_below(conn, share.share.file_id, file.node_id)?;
                        known.insert(parent, inside);
                        inside
                    }
                };
                if inside {
                    files.push(file);
                }
            }
            Ok(files)
        })
    }
}
