//! Damaged, newer and older index files.

use super::*;

#[test]
fn garbage_is_set_aside_and_a_new_index_begun() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index.db");
    std::fs::write(
        &path,
        b"this is no database, whatever its name says; long enough to be read",
    )
    .unwrap();
    let opened = Index::open(&path).unwrap();
    assert!(opened.set_aside.unwrap().exists());
    opened.index.write(|db| db.set_meta("a", b"1")).unwrap();
    drop(opened.index);
    let again = Index::open(&path).unwrap();
    assert!(again.set_aside.is_none());
    assert_eq!(
        again.index.read(|db| db.meta("a")).unwrap(),
        Some(b"1".to_vec())
    );
}

#[test]
fn a_damaged_index_is_set_aside() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index.db");
    drop(Index::open(&path).unwrap());
    let mut bytes = std::fs::read(&path).unwrap();
    for byte in bytes.iter_mut().skip(200) {
        *byte ^= 0x5a;
    }
    std::fs::write(&path, bytes).unwrap();
    assert!(Index::open(&path).unwrap().set_aside.is_some());
}

#[test]
fn an_index_of_a_newer_version_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index.db");
    drop(Index::open(&path).unwrap());
    Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    assert!(matches!(
        Index::open(&path),
        Err(IndexError::TooNew { found: 99, .. })
    ));
}

#[test]
fn an_index_of_the_old_content_format_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index.db");
    let old = Connection::open(&path).unwrap();
    for sql in &MIGRATIONS[..9] {
        old.execute_batch(sql).unwrap();
    }
    old.pragma_update(None, "user_version", 9).unwrap();
    drop(old);
    let refused = Index::open(&path).err().unwrap();
    assert!(matches!(refused, IndexError::TooOld { .. }));
    let message = refused.to_string();
    let home = dir.path().display().to_string();
    for part in [&home, "nothing was changed", "--home", "CAIRN_HOME"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let version: i64 = Connection::open(&path)
        .unwrap()
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .unwrap();
    assert_eq!(version, 9);
}

#[test]
fn a_failed_write_leaves_nothing_behind() {
    let index = Index::memory().unwrap();
    let failed: Result<(), _> = index.write(|db| {
        db.set_meta("a", b"1")?;
        Err(IndexError::Corrupt("test"))
    });
    assert!(failed.is_err());
    assert_eq!(index.read(|db| db.meta("a")).unwrap(), None);
}
