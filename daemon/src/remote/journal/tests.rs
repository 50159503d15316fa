//! The journal on disk, and what it says of later commands.

use super::*;
use cairn_model::NodeId;
use cairn_space::undo::LastChange;

fn node(n: u8) -> NodeId {
    NodeId::from_random_bytes([n; 16])
}

fn record(n: u8, change: NodeChange) -> Record {
    Record {
        node: node(n),
        change,
        version_before: None,
        version: Some(1),
        at: Timestamp(4),
    }
}

fn home() -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path());
    home.create().unwrap();
    (dir, home)
}

#[test]
fn sessions_are_kept_until_they_are_taken_back() {
    let (_dir, home) = home();
    assert_eq!(Journal::sessions(&home).unwrap(), Vec::<Vec<Entry>>::new());
    let first = Journal::new(&home, None);
    let second = Journal::new(&home, Some("team".into()));
    let (trashed, restored) = (
        record(1, NodeChange::Trashed),
        record(3, NodeChange::Restored),
    );
    first.note(trashed.clone());
    second.note(record(2, NodeChange::Made));
    first.note(restored.clone());
    let sessions = Journal::sessions(&home).unwrap();
    assert_eq!(sessions.len(), 2);
    let changes: Vec<_> = sessions[0].iter().map(|e| e.change.clone()).collect();
    assert_eq!(changes, [Some(trashed), Some(restored)]);
    assert_eq!(sessions[1][0].team.as_deref(), Some("team"));
    second.end(first.session()).unwrap();
    let left = Journal::sessions(&home).unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0][0].session, second.session());
}

#[test]
fn a_line_that_an_earlier_version_noted_is_read() {
    let (_dir, home) = home();
    let (id, session) = (node(1), Uuid::nil());
    let line = format!(
        "{{\"session\":\"{session}\",\"at_ms\":1,\"done_at_ms\":7,\"command\":\"move\",\
         \"change\":{{\"op\":\"moved\",\"node\":\"{id}\",\"parent\":null,\"name\":\"f\"}}}}\n"
    );
    std::fs::write(home.data_dir().join(FILE), line).unwrap();
    let sessions = Journal::sessions(&home).unwrap();
    let read = sessions[0][0].change.as_ref().unwrap();
    assert_eq!((read.at, read.version), (Timestamp(7), None));
    assert_eq!(Journal::past_places(&home, None).unwrap()[0].name, "f");
}

#[test]
fn a_torn_line_is_passed_over() {
    let (_dir, home) = home();
    let journal = Journal::new(&home, None);
    journal.note(record(1, NodeChange::Made));
    let path = home.data_dir().join(FILE);
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str("{\"session\": \"0");
    std::fs::write(&path, text).unwrap();
    assert_eq!(Journal::sessions(&home).unwrap().len(), 1);
    journal.note(record(2, NodeChange::Made));
    assert_eq!(Journal::sessions(&home).unwrap()[0].len(), 2);
}

#[test]
fn what_was_changed_and_taken_back_since_is_no_work_of_others() {
    let (_dir, home) = home();
    let [made, moved, undo, again] = std::array::from_fn(|_| Journal::new(&home, None));
    let step = |from: Option<u64>, to| Record {
        version_before: from,
        version: Some(to),
        ..record(1, NodeChange::Made)
    };
    let last_change = |version: u64| {
        let own = Journal::own_versions(&home, made.session()).unwrap();
        own.last_change_of(node(1), version)
    };
    made.note(step(None, 1));
    assert_eq!(last_change(1), LastChange::Own);
    moved.note(step(Some(1), 2));
    assert_eq!(last_change(2), LastChange::Others, "a later command's");
    undo.note(step(Some(2), 3));
    undo.end(moved.session()).unwrap();
    assert_eq!(last_change(3), LastChange::Own);
    assert_eq!(last_change(4), LastChange::Others);
    // The move is made once more.
    again.note(step(Some(3), 4));
    again.end(undo.session()).unwrap();
    assert_eq!(last_change(4), LastChange::OwnAfterOthers);
}
