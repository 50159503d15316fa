//! Rows with nothing below them are removed without a table for a walk, and nothing else with them.

use super::Below;
use crate::local::LocalRow;
use crate::open::Db;
use crate::testing::{local, name, node};
use crate::{FolderSettings, Index, IndexError, RemoteRow};
use cairn_model::{FolderId, Kind, LocalId};

/// Makes a folder with two files, beside a third, on both sides. Returns the pair of folders and the local ids.
fn make(db: &Db<'_>) -> Result<(FolderId, [LocalId; 4]), IndexError> {
    let pair = db.add_folder("/home/x", "/", &FolderSettings::default())?;
    let dir = LocalRow {
        kind: Kind::Folder,
        ..local(pair, None, "d")
    };
    let top = db.insert_local(&dir)?;
    let one = db.insert_local(&local(pair, Some(top), "one"))?;
    let two = db.insert_local(&local(pair, Some(top), "two"))?;
    let beside = db.insert_local(&local(pair, None, "beside"))?;
    for (number, parent, text) in [
        (1, None, "d"),
        (2, Some(node(1)), "one"),
        (3, Some(node(1)), "two"),
        (4, None, "beside"),
    ] {
        db.put_remote(&[], &RemoteRow::folder(node(number), parent, name(text)))?;
    }
    Ok((pair, [top, one, two, beside]))
}

/// Returns the number of tables that SQLite makes for a deletion and for a walk over the rows of a table.
fn tables(db: &Db<'_>, below: Below, table: &str, column: &str) -> usize {
    let (with, ids, rows) = (below.with, below.ids, below.rows_of(table, column));
    let delete = format!("EXPLAIN {with}DELETE FROM {table} WHERE {column} IN {ids}");
    let walk = format!("EXPLAIN {with}SELECT * FROM {rows}");
    let mut made = 0;
    for sql in [delete, walk] {
        let mut statement = db.0.prepare(&sql).unwrap();
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().unwrap() {
            let operation: String = row.get("opcode").unwrap();
            made += usize::from(operation == "OpenEphemeral");
        }
    }
    made
}

#[test]
fn nothing_below_takes_no_table_for_a_walk() {
    let index = Index::memory().unwrap();
    let made = index.write(|db| {
        let (pair, [top, one, ..]) = make(db)?;
        let walk = tables(db, db.below_local(pair, top)?, "synced", "local");
        let alone = tables(db, db.below_local(pair, one)?, "synced", "local");
        let remote_walk = tables(db, db.below_remote(node(1))?, "remote", "node");
        let remote_alone = tables(db, db.below_remote(node(2))?, "remote", "node");
        Ok([walk, alone, remote_walk, remote_alone])
    });
    let [walk, alone, remote_walk, remote_alone] = made.unwrap();
    assert!(walk > 0 && remote_walk > 0, "{walk}, {remote_walk}");
    assert_eq!((alone, remote_alone), (0, 0));
}

#[test]
fn what_is_removed_takes_what_is_below_it_along_and_nothing_else() {
    let index = Index::memory().unwrap();
    let checked = index.write(|db| {
        let (pair, [top, one, two, beside]) = make(db)?;
        db.remove_local(pair, one)?;
        assert!(db.local_row(one)?.is_none() && db.local_row(two)?.is_some());
        db.remove_local(pair, top)?;
        assert!(db.local_row(top)?.is_none() && db.local_row(two)?.is_none());
        assert!(db.local_row(beside)?.is_some());
        assert!(db.remove_remote(node(2))? && db.remote_row(node(3))?.is_some());
        assert!(db.remove_remote(node(1))? && db.remote_row(node(3))?.is_none());
        assert!(db.remote_row(node(4))?.is_some() && !db.remove_remote(node(3))?);
        Ok(())
    });
    checked.unwrap();
}
