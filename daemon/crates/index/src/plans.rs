//! A test of SQLite's query plans: no statement that a sync step runs scans a whole tree.

use crate::activity::ActivityRow;
use crate::confirmations::ConfirmationRow;
use crate::conflicts::ConflictRow;
use crate::error::IndexError;
use crate::folders::FolderSettings;
use crate::journal::JournalRow;
use crate::local::{LocalRow, LocalStat, Skipped};
use crate::open::{Db, Index};
use crate::overwrites::Head;
use crate::remote::RemoteRow;
use crate::rules::SharedRules;
use crate::sent::SentRow;
use crate::sent_bits::SentBit;
use crate::sent_places::SentPlace;
use crate::synced::SyncedRow;
use crate::unaccepted::UnacceptedRow;
use crate::worklist::{PlanSizes, Round};
use cairn_model::{
    ActivityKind, ConflictKind, ContentHash, FolderId, Kind, LocalId, Name, NodeId, RelPath,
    RevisionId, Side,
};
use rusqlite::Connection;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Tables with a row for each file.
const BIG: &[&str] = &[
    "local",
    "remote",
    "synced",
    "dirty_local",
    "dirty_node",
    "journal",
    "sent",
    "excluded",
    "activity",
];

thread_local! {
    static BAD: RefCell<BTreeMap<String, String>> = const { RefCell::new(BTreeMap::new()) };
}

/// Notes a statement whose plan scans a big table, or reaches one by its folder alone, or a name by all in its
/// directory.
pub(crate) fn check(connection: &Connection, sql: &str) {
    let Ok(mut statement) = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")) else {
        return;
    };
    let mut rows = statement.raw_query();
    while let Ok(Some(row)) = rows.next() {
        let detail: String = row.get(3).unwrap();
        if is_scan(sql, &detail) {
            BAD.with(|bad| bad.borrow_mut().insert(sql.to_owned(), detail));
        }
    }
}

fn is_scan(sql: &str, detail: &str) -> bool {
    let words: Vec<&str> = detail.split(' ').collect();
    let [how, name, ..] = words.as_slice() else {
        return false;
    };
    // An alias stands for its table.
    let big = BIG.iter().any(|table| {
        name == table || (name.len() == 1 && sql.contains(&format!("{table} {name}")))
    });
    let first = detail.contains("ORDER BY") || sql.contains("LIMIT");
    let is_about_a_name = ["key = ?", "name = ?"]
        .iter()
        .any(|part| sql.contains(part));
    if is_about_a_name && detail.ends_with("parent=?)") {
        return true;
    }
    big && ((*how == "SCAN" && !first)
        || (detail.ends_with("(folder=?)") && !first && !sql.contains("dirty")))
}

fn node(n: u8) -> NodeId {
    NodeId(uuid::Uuid::from_bytes([n; 16]))
}

fn name(text: &str) -> Name {
    Name::new(text.to_owned()).unwrap()
}

fn remote_row(n: u8, parent: Option<NodeId>, kind: Kind) -> RemoteRow {
    RemoteRow {
        kind,
        revision: Some(RevisionId::from_random_bytes([n; 16])),
        size: 1,
        seen: 1,
        ..RemoteRow::folder(node(n), parent, name(&format!("n{n}")))
    }
}

/// The rows that the statements are about.
struct Rows {
    folder: FolderId,
    dir: LocalId,
    file: LocalId,
}

const STAT: LocalStat = LocalStat {
    size: 1,
    mtime: 2,
    ctime: 3,
    device: 4,
    inode: 5,
    birth: None,
};
const HASH: ContentHash = ContentHash([1; 32]);

type Done = Result<(), IndexError>;

fn fill(db: &Db<'_>) -> Result<Rows, IndexError> {
    let settings = FolderSettings {
        exclude: vec!["*.iso".into()],
        only: vec!["n1".into()],
        ..Default::default()
    };
    let folder = db.add_folder("/r", "/", &settings)?;
    db.attach_folder(folder, None, STAT.identity())?;
    let folders = db.folders()?;
    let (above, below) = (
        remote_row(1, None, Kind::Folder),
        remote_row(2, Some(node(1)), Kind::File),
    );
    for row in [above, below] {
        db.put_remote(&folders, &row)?;
        let (version, name) = (2, name("x"));
        let renamed = RemoteRow {
            version,
            name,
            ..row
        };
        db.put_remote(&folders, &renamed)?;
    }
    let row = LocalRow {
        id: LocalId(0),
        folder,
        parent: None,
        name: name("n1"),
        kind: Kind::Folder,
        stat: STAT,
        executable: false,
        hash: None,
        skipped: Skipped::No,
    };
    let dir = db.insert_local(&row)?;
    let file = db.insert_local(&LocalRow {
        parent: Some(dir),
        kind: Kind::File,
        ..row.clone()
    })?;
    db.update_local(&LocalRow { id: dir, ..row })?;
    Ok(Rows { folder, dir, file })
}

fn read_local(db: &Db<'_>, rows: &Rows) -> Done {
    let Rows { folder, dir, file } = *rows;
    db.set_local_hash(file, &STAT, HASH)?;
    db.children(folder, Some(dir))?;
    db.child(folder, None, &name("n1"))?;
    db.children_by_key(folder, None, &name("n1"))?;
    db.locals_by_file(folder, &STAT)?;
    db.local_path(file)?;
    db.local_at(folder, &RelPath::parse("n1/n1").unwrap())?;
    db.move_local_aside(file)?;
    db.set_mount(dir, true)?;
    db.mounts()?;
    db.has_mount(folder, dir)?;
    Ok(())
}

fn synchronise(db: &Db<'_>, rows: &Rows) -> Done {
    let Rows { folder, dir, file } = *rows;
    for (n, local) in [(1, dir), (2, file)] {
        db.put_synced(&SyncedRow {
            folder,
            node: node(n),
            local,
            parent: None,
            name: name("n"),
            kind: Kind::File,
            revision: None,
            hash: None,
            size: 0,
            executable: false,
        })?;
    }
    db.synced_with_content(1_000_000, HASH)?;
    db.is_size_synced(1_000_000)?;
    let journal = JournalRow {
        local: file,
        node: node(2),
        state: vec![],
    };
    db.put_journal(&journal, &STAT)?;
    db.journal(file, &STAT)?;
    db.end_journal(file)?;
    note_sent(db, rows)
}

fn note_sent(db: &Db<'_>, rows: &Rows) -> Done {
    let Rows { folder, dir, file } = *rows;
    let revision = RevisionId::from_random_bytes([9; 16]);
    db.put_sent(&SentRow {
        revision,
        node: node(9),
        folder,
        local: file,
        creates: true,
        hash: HASH,
        size: 1,
        executable: false,
    })?;
    db.sent_row(revision)?;
    db.sent_as_new(file)?;
    db.end_sent_revision(revision)?;
    db.end_sent(file)?;
    let place = SentPlace {
        node: node(2),
        folder,
        local: dir,
        creates: false,
        parent: None,
        name: name("n"),
        version: 3,
    };
    let bit = SentBit {
        node: node(2),
        folder,
        local: file,
        executable: true,
        version: 3,
    };
    db.put_sent_bit(&bit)?;
    db.sent_bits(node(2))?;
    db.end_sent_bit(&bit)?;
    db.end_sent_bits(node(2), 3)?;
    db.put_sent_place(&place)?;
    db.sent_places(node(2))?;
    db.sent_folder(dir)?;
    db.nodes_with_known_places(folder)?;
    db.end_sent_place(&place)?;
    db.end_sent_places(node(2), 3)?;
    db.end_sent_folder(dir)?;
    db.end_sent_node(node(9))
}

fn read_remote(db: &Db<'_>, rows: &Rows) -> Done {
    let folder = rows.folder;
    let pair = db.folder(folder)?.unwrap();
    let row = remote_row(2, None, Kind::File);
    db.set_remote_manifest(node(2), RevisionId::from_random_bytes([2; 16]), HASH, 1)?;
    db.remote_children_by_key(None, &name("n1"))?;
    db.remote_path(node(2))?;
    db.remote_path_in(&pair, node(2))?;
    db.exclude(folder, &row)?;
    db.is_excluded(folder, &row)?;
    db.include(folder, node(2))?;
    db.follow_choice(folder)?;
    db.confirm_deletion(node(1))?;
    db.set_rules_text(folder, &RelPath::root(), "*.key")?;
    for version in [3, 4] {
        let moved = RemoteRow {
            version,
            name: name(&format!("m{version}")),
            ..remote_row(1, None, Kind::Folder)
        };
        db.put_remote(std::slice::from_ref(&pair), &moved)?;
    }
    db.rules_texts(folder)?;
    db.rules_text(folder, &RelPath::root())?;
    db.remove_rules_text(folder, &RelPath::root())?;
    db.put_shared_rules(
        folder,
        &SharedRules {
            node: node(2),
            revision: RevisionId::from_random_bytes([2; 16]),
            text: String::new(),
        },
    )?;
    db.shared_rules(folder)?;
    db.remove_shared_rules(folder, node(2))?;
    db.unsynced_rules(folder)?;
    db.put_unaccepted(&UnacceptedRow {
        node: node(2),
        parent: None,
        name: String::new(),
        deleted: None,
    })?;
    db.put_left_out(node(1))?;
    db.can_take_left_out()?;
    db.holds_unrecorded(node(1))?;
    db.end_left_out()?;
    db.put_impossible(node(2), None)?;
    db.remove_impossible(node(2))?;
    db.remove_unaccepted(node(2))?;
    db.put_pending(node(2), b"x")?;
    db.pending_changes(None, 10)?;
    db.remove_pending(node(2))
}

fn tell_people(db: &Db<'_>, rows: &Rows) -> Done {
    let Rows { folder, file, .. } = *rows;
    db.add_activity(&ActivityRow {
        at_ms: 0,
        folder: Some(folder),
        kind: ActivityKind::Uploaded,
        path: "x".into(),
        device: None,
        bytes: 0,
    })?;
    db.activity(1)?;
    db.open_conflict(&ConflictRow {
        folder,
        copy: file,
        node: None,
        kind: ConflictKind::Edit,
        device: String::new(),
        at_ms: 0,
        made_here: true,
        base: None,
    })?;
    db.conflicts()?;
    db.conflict_count(folder)?;
    db.close_conflict(file)?;
    db.put_confirmation(&ConfirmationRow {
        folder,
        side: Side::Local,
        files: 1,
        at_ms: 0,
    })?;
    db.confirmations(folder)?;
    db.put_waiting_deletions(folder, Side::Local, &[node(2)].into())?;
    db.confirm_waiting_deletions(folder, Side::Local)?;
    db.is_deletion_confirmed(folder, node(1))?;
    db.withdraw_confirmation(folder, node(2))?;
    db.put_waiting_overwrites(folder, &[node(2)].into())?;
    db.waiting_overwrite_count(folder)?;
    db.confirm_waiting_overwrites(folder)?;
    db.restored_overwrites(folder)?;
    db.withdraw_overwrite(folder, node(2))?;
    db.overwrite_facts(folder, node(2))?;
    db.set_head(folder, node(2), HASH, Head::Noise)?;
    db.synced_without_head(folder, Some(node(2)), 10)?;
    db.end_confirmation(folder, Side::Local)
}

fn plan_and_remove(db: &Db<'_>, rows: &Rows) -> Done {
    let Rows { folder, dir, file } = *rows;
    let pair = db.folder(folder)?.unwrap();
    db.dirty_keys(folder)?;
    db.is_dirty(folder)?;
    db.some_dirty(folder, 10)?;
    for new in [LocalId(900), LocalId(901)] {
        db.mark_local(folder, new)?;
    }
    let all = db.dirty_keys(folder)?;
    let sizes = PlanSizes {
        whole: all.local.len() + all.node.len(),
        part: 1,
    };
    for with_left in [false, true] {
        let part = db.worklist(folder, Round::default(), sizes, with_left)?;
        assert!(!part.is_whole);
        db.snapshot(&pair, &part)?;
    }
    let whole = db.worklist(folder, Round::default(), PlanSizes::default(), true)?;
    assert!(whole.is_whole);
    db.snapshot(&pair, &whole)?;
    db.files_left(folder, Round::default())?;
    db.still_dirty(folder, &all)?;
    db.unlink_below(folder, node(1))?;
    db.forget_local_below(folder, dir)?;
    db.forget_sent_below(folder, dir)?;
    db.forget_remote_below(folder, node(1))?;
    db.clean_local(folder, file)?;
    db.clean_node(folder, node(2))?;
    db.remove_synced(folder, node(2))?;
    db.put_deletion_seal(node(1), 1)?;
    if let Some(row) = db.remote_row(node(1))? {
        db.put_past_state(&row)?;
        db.is_past(&row)?;
    }
    db.remove_remote(node(1))?;
    db.newest_seal(node(1))?;
    db.remove_past_seal(node(1))?;
    db.remove_local(folder, dir)
}

#[test]
fn no_statement_of_a_step_goes_through_a_whole_tree() {
    let index = Index::memory().unwrap();
    index
        .write(|db| {
            let rows = fill(db)?;
            read_local(db, &rows)?;
            synchronise(db, &rows)?;
            read_remote(db, &rows)?;
            tell_people(db, &rows)?;
            plan_and_remove(db, &rows)
        })
        .unwrap();
    BAD.with(|bad| assert!(bad.borrow().is_empty(), "{:#?}", bad.borrow()));
}
