//! The ids of the feed's history: the one that positions have in them, which stays when a backup is restored, so that
//! positions from before the backup stay valid; and the one that clients are shown, which doesn't.

use crate::db::{self, Connection};
use crate::error::{Error, Result};
use crate::source::Source;
use crate::space_log::restored_mark;
use sha2::{Digest as _, Sha256};

/// Returns the id of the history that was begun.
///
/// # Errors
/// A database without one.
pub(crate) fn find(conn: &Connection) -> Result<String> {
    let sql = "SELECT value FROM settings WHERE key = 'epoch'";
    let known: Vec<u8> = conn.query_row(sql, [], |row| row.get(0))?;
    String::from_utf8(known)
        .map_err(|_| Error::Config("the history id in the database is not text".into()))
}

/// Returns the id of the history, which the first one to open the database begins.
///
/// # Errors
/// A database that fails.
pub(crate) fn find_or_make(conn: &Connection, source: &Source) -> Result<String> {
    match find(conn) {
        Err(Error::Sql(db::Error::NoRow)) => {}
        known => return known,
    }
    let fresh = source.nonce();
    conn.execute(
        "INSERT INTO settings (key, value) VALUES ('epoch', ?1)",
        [fresh.as_bytes()],
    )?;
    Ok(fresh)
}

/// Returns the id that clients are shown of a history that began with the id `begun`: another one after each restore,
/// so that devices can tell people about it where nothing that they are shown is older than what they know.
///
/// # Errors
/// A database that fails.
pub(crate) fn shown_id(conn: &Connection, begun: &str) -> Result<String> {
    Ok(match restored_mark(conn)? {
        None => begun.to_owned(),
        Some(mark) => {
            let hash = Sha256::new()
                .chain_update(b"cairn feed history")
                .chain_update(mark)
                .chain_update(begun)
                .finalize();
            hex::encode(&hash[..8])
        }
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{add_actor, make_folder};
    use crate::{Clock, Error, Source, Store, begin_restored_histories};
    use std::path::Path;
    use std::sync::Arc;

    /// Opens a database of SQLite: only those are restored by us.
    fn open(data: Option<&Path>) -> Store {
        Store::open(data, Arc::new(Source::new(Clock::System, None))).unwrap()
    }

    #[test]
    fn a_restored_history_is_another_one_in_which_positions_from_before_the_backup_are_valid() {
        let dirs = [1, 2].map(|_| tempfile::tempdir().unwrap());
        let [backup, twice] = [&dirs[0], &dirs[1]].map(|dir| dir.path().join("cairn.db"));
        let store = open(None);
        let actor = add_actor(&store);
        make_folder(&store, &actor, "kept");
        let known = store.changes(actor.space, None, 10).unwrap();
        store.copy_database(&backup).unwrap();
        make_folder(&store, &actor, "lost");
        let lost = store.changes(actor.space, None, 10).unwrap();
        assert_eq!(lost.history_id, known.history_id);
        begin_restored_histories(&backup, 77).unwrap();

        let restored = open(Some(dirs[0].path()));
        let listed = restored.snapshot(actor.space, None, 10).unwrap();
        assert_ne!(listed.history_id, known.history_id);
        let next = restored
            .changes(actor.space, Some(&known.cursor), 10)
            .unwrap();
        let shown = restored.shown_history_id().unwrap();
        assert_eq!([&next.history_id, &listed.history_id], [&shown; 2]);
        let gone = restored.changes(actor.space, Some(&lost.cursor), 10);
        assert!(matches!(gone, Err(Error::Gone(_))), "{gone:?}");

        restored.copy_database(&twice).unwrap();
        begin_restored_histories(&twice, 77).unwrap();
        let again = open(Some(dirs[1].path()));
        assert_ne!(again.shown_history_id().unwrap(), shown);
        again.changes(actor.space, Some(&next.cursor), 10).unwrap();
    }
}
