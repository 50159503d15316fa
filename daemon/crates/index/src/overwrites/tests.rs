//! Marks of overwriting, and heads: what they are about, and when they go.

use super::*;
use crate::folders::FolderSettings;
use crate::local::{LocalRow, LocalStat, Skipped};
use crate::open::Index;
use cairn_model::{Kind, LocalId, Name, RevisionId};

const OLD: ContentHash = ContentHash([1; 32]);
const NEW: ContentHash = ContentHash([2; 32]);

fn node(number: u8) -> NodeId {
    NodeId::from_random_bytes([number; 16])
}

fn synced(folder: FolderId, number: u8, size: u64) -> SyncedRow {
    SyncedRow {
        folder,
        node: node(number),
        local: LocalId(i64::from(number)),
        parent: None,
        name: Name::new(format!("f{number}")).unwrap(),
        kind: Kind::File,
        revision: Some(RevisionId::from_random_bytes([1; 16])),
        hash: Some(OLD),
        size,
        executable: false,
    }
}

fn add_folder(db: &Db<'_>) -> Result<FolderId, IndexError> {
    db.add_folder("/f", "/", &FolderSettings::default())
}

#[test]
fn heads_are_looked_at_once_for_each_content_and_short_ones_never() {
    let index = Index::memory().unwrap();
    let found = index.write(|db| {
        let folder = add_folder(db)?;
        for (number, size) in [(1, 255), (2, 256), (3, 9_000)] {
            db.put_synced(&synced(folder, number, size))?;
        }
        let unknown = |db: &Db<'_>, after| -> Result<Vec<NodeId>, IndexError> {
            let rows = db.synced_without_head(folder, after, 10)?;
            Ok(rows.into_iter().map(|row| row.node).collect())
        };
        let all = unknown(db, None)?;
        let later = unknown(db, all.first().copied())?;
        db.set_head(folder, node(2), OLD, Head::Structured)?;
        // Of a content that is not the one in sync any more.
        db.set_head(folder, node(3), NEW, Head::Noise)?;
        let after = unknown(db, None)?;
        let short = db.overwrite_facts(folder, node(1))?;
        let known = db.overwrite_facts(folder, node(2))?;
        Ok((all.len(), later.len(), after, short, known))
    });
    let (all, later, after, short, known) = found.unwrap();
    assert_eq!((all, later, after), (2, 1, vec![node(3)]));
    assert_eq!(short.unwrap().head, Some(Head::Short));
    assert_eq!(known.unwrap().head, Some(Head::Structured));
}

#[test]
fn marks_and_heads_go_with_the_content_and_stay_over_a_rename() {
    let index = Index::memory().unwrap();
    let found = index.write(|db| {
        let folder = add_folder(db)?;
        let row = synced(folder, 1, 300);
        db.put_synced(&row)?;
        db.set_head(folder, row.node, OLD, Head::Structured)?;
        db.put_waiting_overwrites(folder, &[row.node].into())?;
        let waiting = db.waiting_overwrite_count(folder)?;
        db.confirm_waiting_overwrites(folder)?;
        let still_waiting = db.waiting_overwrite_count(folder)?;
        db.put_synced(&SyncedRow {
            name: Name::new("g".to_owned()).unwrap(),
            ..row.clone()
        })?;
        let renamed = db.overwrite_facts(folder, row.node)?;
        db.put_synced(&SyncedRow {
            hash: Some(NEW),
            revision: Some(RevisionId::from_random_bytes([2; 16])),
            ..row.clone()
        })?;
        let overwritten = db.overwrite_facts(folder, row.node)?;
        Ok((waiting, still_waiting, renamed, overwritten))
    });
    let (waiting, still_waiting, renamed, overwritten) = found.unwrap();
    assert_eq!((waiting, still_waiting), (1, 0));
    let confirmed = OverwriteFacts {
        head: Some(Head::Structured),
        confirmed: true,
    };
    assert_eq!(renamed, Some(confirmed));
    let unknown = OverwriteFacts {
        head: None,
        confirmed: false,
    };
    assert_eq!(overwritten, Some(unknown));
}

#[test]
fn only_what_waits_now_is_marked() {
    let index = Index::memory().unwrap();
    let found = index.write(|db| {
        let folder = add_folder(db)?;
        for number in 1..4 {
            db.put_synced(&synced(folder, number, 300))?;
        }
        db.put_waiting_overwrites(folder, &[node(1), node(2)].into())?;
        db.put_waiting_overwrites(folder, &[node(2), node(3)].into())?;
        db.waiting_overwrites(folder)
    });
    assert_eq!(found.unwrap(), [node(2), node(3)].into());
}

#[test]
fn an_agreement_ends_when_the_content_in_sync_is_restored() {
    let index = Index::memory().unwrap();
    let confirmed = index.write(|db| {
        let folder = add_folder(db)?;
        for (number, hash) in [(1, OLD), (2, NEW)] {
            let base = synced(folder, number, 9_000);
            let local = db.insert_local(&LocalRow {
                id: LocalId(0),
                folder,
                parent: None,
                name: base.name.clone(),
                kind: Kind::File,
                stat: LocalStat::default(),
                executable: false,
                hash: Some(hash),
                skipped: Skipped::No,
            })?;
            db.put_synced(&SyncedRow { local, ..base })?;
        }
        db.put_waiting_overwrites(folder, &[node(1), node(2)].into())?;
        assert_eq!(db.restored_overwrites(folder)?, []);
        db.confirm_waiting_overwrites(folder)?;
        for node in db.restored_overwrites(folder)? {
            db.withdraw_overwrite(folder, node)?;
        }
        let confirmed = |number| -> Result<bool, IndexError> {
            Ok(db
                .overwrite_facts(folder, node(number))?
                .is_some_and(|facts| facts.confirmed))
        };
        Ok([confirmed(1)?, confirmed(2)?])
    });
    assert_eq!(confirmed.unwrap(), [false, true]);
}
