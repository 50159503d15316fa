//! Tests of the remote tree.

use super::*;
use crate::Index;

fn row(seen: u64, seal: u8) -> RemoteRow {
    RemoteRow {
        kind: Kind::File,
        revision: Some(RevisionId(Uuid::from_u128(2))),
        size: 1,
        version: seen,
        seal: Some(vec![seal]),
        seen,
        ..RemoteRow::folder(NodeId(Uuid::from_u128(1)), None, Name::new("f").unwrap())
    }
}

fn put(index: &Index, row: &RemoteRow) -> PutResult {
    index.write(|db| db.put_remote(&[], row)).unwrap()
}

#[test]
fn two_states_that_were_sealed_with_one_number_are_not_exchanged() {
    let index = Index::memory().unwrap();
    assert_eq!(put(&index, &row(3, 3)), PutResult::New);
    let other = RemoteRow {
        version: 9,
        ..row(3, 4)
    };
    assert_eq!(put(&index, &other), PutResult::Rollback);
    let same = RemoteRow {
        version: 9,
        ..row(3, 3)
    };
    assert_eq!(put(&index, &same), PutResult::New);
    // After a change without keys, which keeps the seal, the sealed state may come back.
    let unsealed = RemoteRow {
        seen: 0,
        version: 10,
        executable: true,
        ..row(3, 3)
    };
    assert_eq!(put(&index, &unsealed), PutResult::New);
    let back = RemoteRow {
        version: 11,
        ..row(3, 3)
    };
    assert_eq!(put(&index, &back), PutResult::New);
    assert_eq!(put(&index, &row(12, 5)), PutResult::New);
}

#[test]
fn a_bit_that_was_sealed_during_a_download_stays() {
    let index = Index::memory().unwrap();
    put(&index, &row(3, 3));
    let sealed_since = RemoteRow {
        executable: true,
        ..row(4, 4)
    };
    put(&index, &sealed_since);
    let node = sealed_since.node;
    let record = |executable| {
        index
            .write(|db| {
                db.set_remote_executable(node, sealed_since.revision.unwrap(), 3, executable)?;
                db.remote_row(node)
            })
            .unwrap()
            .unwrap()
    };
    // Of the state in which the download began.
    assert_eq!(record(false), sealed_since);
    // Nobody has sealed this one: the bit is that of the content's record.
    let unsealed = RemoteRow {
        version: 5,
        seen: 0,
        seal: None,
        ..sealed_since.clone()
    };
    put(&index, &unsealed);
    assert!(!record(false).executable);
}

#[test]
fn another_source_of_an_unchanged_revision_is_tampering() {
    let index = Index::memory().unwrap();
    let first = row(3, 3);
    assert_eq!(put(&index, &first), PutResult::New);
    let source = RemoteRow {
        version: 4,
        source: Some((NodeId(Uuid::from_u128(7)), RevisionId(Uuid::from_u128(8)))),
        ..first.clone()
    };
    assert_eq!(put(&index, &source), PutResult::Tampered);
    let next = RemoteRow {
        revision: Some(RevisionId(Uuid::from_u128(9))),
        ..source
    };
    assert_eq!(
        put(
            &index,
            &RemoteRow {
                seal: None,
                seen: 0,
                ..next
            }
        ),
        PutResult::New
    );
}

#[test]
fn a_place_that_was_left_is_remembered_with_the_time() {
    let index = Index::memory().unwrap();
    let at = |version: u64, name: &str, changed: i64| RemoteRow {
        name: cairn_model::Name::new(name).unwrap(),
        version,
        seal: None,
        seen: 0,
        changed_ms: Some(changed),
        ..row(1, 1)
    };
    put(&index, &at(1, "a", 10));
    put(&index, &at(2, "b", 20));
    put(&index, &at(3, "b", 30));
    assert_eq!(
        put(&index, &at(3, "b", 31)),
        PutResult::Known,
        "the time alone is no news"
    );
    put(&index, &at(4, "c", 40));
    let left = |after: i64| {
        let places = index.read(|db| db.places_left_after(after)).unwrap();
        let of = |place: cairn_model::PastPlace| (place.name, place.until_ms);
        places.into_iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(left(0), [("a".to_owned(), 20), ("b".to_owned(), 40)]);
    assert_eq!(left(20), [("b".to_owned(), 40)]);
    assert_eq!(left(40), []);
}
