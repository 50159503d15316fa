//! SQL conditions that keep background deletion from revisions, nodes, chunks and objects that are still needed.
//!
//! Each stands by itself and has a test that leaves it out: without it, something needed would go.

/// The name of the things that a condition keeps, and the condition on a row that may go.
pub(super) type Guard = (&'static str, &'static str);

/// On a revision `o`.
pub(super) const REVISION: [Guard; 3] = [
    (
        "the current revision",
        "NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = o.node AND n.revision = o.id)",
    ),
    (
        "a revision that a share link carries",
        "NOT EXISTS (SELECT 1 FROM share_files f WHERE f.revision = o.id)",
    ),
    (
        "revisions that an open upload builds on",
        "NOT EXISTS (SELECT 1 FROM uploads u WHERE u.node = o.node AND u.done = 0)",
    ),
];

/// On a node `o` that is to be deleted for good, with what went into the trash with it.
pub(super) const TRASHED: [Guard; 2] = [
    (
        "what is not in the trash",
        "o.state = 1 AND o.trash_root = o.id",
    ),
    (
        "files that an open upload goes to",
        "NOT EXISTS (SELECT 1 FROM nodes w JOIN uploads u ON u.node = w.id \
         WHERE w.trash_root = o.id AND u.done = 0)",
    ),
];

/// On a chunk `o`.
pub(super) const CHUNK: [Guard; 2] = [
    ("chunks of a revision", "o.refs <= 0"),
    (
        "chunks that an open upload has announced",
        "NOT EXISTS (SELECT 1 FROM uploads u WHERE u.node = o.node AND u.done = 0)",
    ),
];

/// On an object `o` beside the commits of a log.
pub(super) const SPACE_OBJECT: [Guard; 3] = [
    (
        "objects that wait for their commit",
        "o.named_at IS NOT NULL",
    ),
    ("objects that a statement or a manifest names", "o.uses = 0"),
    ("objects named before that was counted", "o.is_kept = 0"),
];

/// Returns one condition that holds where all do.
pub(super) fn all(guards: &[Guard]) -> String {
    let parts: Vec<&str> = guards.iter().map(|(_, sql)| *sql).collect();
    parts.join(" AND ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{self, Connection};
    use crate::{Clock, Source};
    use std::sync::Arc;

    /// One row of each kind that is needed, and next to each one that is not: its id begins with `f`.
    const ROWS: &str = "
        INSERT INTO nodes (id, space, parent, kind, name, name_key, size, state, trash_root, revision, version,
            seq, created_seq, created_at, updated_at, executable) VALUES
            (x'01', 1, x'', 0, 'live', 'live', 0, 0, NULL, x'11', 1, 1, 1, 0, 0, 0),
            (x'02', 1, x'', 0, 'shared', 'shared', 0, 0, NULL, x'ff', 1, 2, 2, 0, 0, 0),
            (x'03', 1, x'', 0, 'uploaded', 'uploaded', 0, 0, NULL, x'ff', 1, 3, 3, 0, 0, 0),
            (x'04', 1, x'', 0, 'trashed, uploaded', 't', 0, 1, x'04', NULL, 1, 4, 4, 0, 0, 0),
            (x'f5', 1, x'', 0, 'trashed', 'u', 0, 1, x'f5', NULL, 1, 5, 5, 0, 0, 0);
        INSERT INTO revisions (id, node, number, size, created_at, executable, account, chunks,
            manifest) VALUES
            (x'11', x'01', 2, 0, 0, 0, x'', x'', x''), (x'f1', x'01', 1, 0, 0, 0, x'', x'', x''),
            (x'12', x'02', 1, 0, 0, 0, x'', x'', x''), (x'13', x'03', 1, 0, 0, 0, x'', x'', x'');
        INSERT INTO shares (row, id, code, account, node, storage_type, is_active, access_mode, allowed_emails,
            notify, created_at, updated_at) VALUES (1, x'01', 'c', x'', x'02', 'VR_FILE', 1, 'download', '', 0, 0, 0);
        INSERT INTO share_files (share, node, revision, sealed) VALUES (1, x'02', x'12', x'');
        INSERT INTO uploads (id, space, account, node, revision, expires_at, done, request, chunks) VALUES
            (x'01', 1, x'', x'03', x'', 0, 0, '', x''), (x'02', 1, x'', x'04', x'', 0, 0, '', x''),
            (x'03', 1, x'', x'01', x'', 0, 1, '', x''), (x'04', 1, x'', x'f5', x'', 0, 1, '', x'');
        INSERT INTO objects (id, name, refs) VALUES (1, 'o', 3);
        INSERT INTO chunks (node, id, object, start, size, refs) VALUES
            (x'01', x'01', 1, 0, 1, 1), (x'03', x'03', 1, 1, 1, 0), (x'01', x'f1', 1, 2, 1, 0);
        INSERT INTO log_objects (space, id, sender, sha256, size, object, sent_at, named_at, uses, is_kept) VALUES
            (1, x'01', x'', x'', 0, 1, 0, NULL, 0, 0), (1, x'02', x'', x'', 0, 1, 0, 1, 1, 0),
            (1, x'03', x'', x'', 0, 1, 0, 1, 0, 1), (1, x'f1', x'', x'', 0, 1, 0, 1, 0, 0);";

    fn select_ids(conn: &Connection, table: &str, guards: &[&str]) -> Vec<Vec<u8>> {
        let sql = format!("SELECT o.id FROM {table} o WHERE {}", guards.join(" AND "));
        let mut select = conn.prepare(&sql).unwrap();
        let rows = select.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<db::Result<_>>().unwrap()
    }

    #[test]
    fn each_guard_keeps_something_that_would_go_without_it() {
        let store = crate::testing::open(Arc::new(Source::new(Clock::System, None)));
        store.write(|tx| Ok(tx.conn.execute_batch(ROWS)?)).unwrap();
        let conn = store.writer.lock();
        let is_needed = |id: &Vec<u8>| id[0] < 0xf0;
        for (table, guards) in [
            ("revisions", REVISION.as_slice()),
            ("nodes", &TRASHED),
            ("chunks", &CHUNK),
            ("log_objects", &SPACE_OBJECT),
        ] {
            let all: Vec<&str> = guards.iter().map(|(_, sql)| *sql).collect();
            let found = select_ids(&conn, table, &all);
            assert_eq!(found.len(), 1, "{table}: what is not needed goes");
            assert!(!is_needed(&found[0]), "{table}: {found:?}");
            for (at, (keeps, _)) in guards.iter().enumerate() {
                let mut others = vec!["true"];
                others.extend(&all[..at]);
                others.extend(&all[at + 1..]);
                let found = select_ids(&conn, table, &others);
                assert!(found.iter().any(is_needed), "{table}: {}", keeps);
            }
        }
    }
}
