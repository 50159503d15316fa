//! The content keys that links have handed out: no later content of the file is sealed under them.
//!
//! A wrapped key is copied from revision to revision as it is, so equal bytes are the same key.

use crate::error::{Error, Result};
use cairn_model::{NodeId, RevisionId};
use cairn_wire::Sealed;
use rusqlite::{Connection, params};

/// Records that a link hands out the key of a revision.
pub(super) fn expose(conn: &Connection, revision: RevisionId) -> Result<()> {
    conn.prepare_cached(
        "INSERT OR IGNORE INTO link_keys (node, content_key) SELECT node, content_key FROM revisions WHERE id = ?1",
    )?
    .execute([revision.as_bytes()])?;
    Ok(())
}

/// Refuses a key for new content of a file if a link has handed it out.
pub(super) fn check_unexposed(conn: &Connection, node: NodeId, key: &Sealed) -> Result<()> {
    let exposed: bool = conn
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM link_keys WHERE node = ?1 AND content_key = ?2)",
        )?
        .query_row(params![node.as_bytes(), key.0], |row| row.get(0))?;
    if exposed {
        return Err(Error::KeyExposed(format!(
            "a link has handed out the content key of {node}; seal the new revision under a new one"
        )));
    }
    Ok(())
}

/// Forgets the keys of a file that is erased.
pub(super) fn forget(conn: &Connection, node: NodeId) -> Result<()> {
    conn.prepare_cached("DELETE FROM link_keys WHERE node = ?1")?
        .execute([node.as_bytes()])?;
    Ok(())
}
