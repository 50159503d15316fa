//! The journal on disk, and the changes of later commands in it.

use super::*;
use cairn_space::undo::LastChange;

fn node(n: u8) -> NodeId {
    NodeId::from_random_bytes([n; 16])
}

fn account(n: u8) -> AccountId {
    AccountId::from_random_bytes([n; 16])
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
    assert_eq!(
        Journal::sessions(&home, account(1)).unwrap(),
        Vec::<Vec<Entry>>::new()
    );
    let first = Journal::new(&home, account(1), None);
    let second = Journal::new(&home, account(1), Some("team".into()));
    let (trashed, restored) = (
        record(1, NodeChange::Trashed),
        record(3, NodeChange::Restored),
    );
    first.note(trashed.clone());
    second.note(record(2, NodeChange::Made));
    first.note(restored.clone());
    let sessions = Journal::sessions(&home, account(1)).unwrap();
    assert_eq!(sessions.len(), 2);
    let changes: Vec<_> = sessions[0].iter().map(|e| e.change.clone()).collect();
    assert_eq!(changes, [Some(trashed), Some(restored)]);
    assert_eq!(sessions[1][0].team.as_deref(), Some("team"));
    second.end(first.session()).unwrap();
    let left = Journal::sessions(&home, account(1)).unwrap();
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
    let sessions = Journal::sessions(&home, account(1)).unwrap();
    let read = sessions[0][0].change.as_ref().unwrap();
    assert_eq!((read.at, read.version), (Timestamp(7), None));
    assert_eq!(Journal::past_places(&home, None).unwrap()[0].name, "f");
}

#[test]
fn a_torn_line_is_passed_over() {
    let (_dir, home) = home();
    let journal = Journal::new(&home, account(1), None);
    journal.note(record(1, NodeChange::Made));
    let path = home.data_dir().join(FILE);
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str("{\"session\": \"0");
    std::fs::write(&path, text).unwrap();
    assert_eq!(Journal::sessions(&home, account(1)).unwrap().len(), 1);
    journal.note(record(2, NodeChange::Made));
    assert_eq!(Journal::sessions(&home, account(1)).unwrap()[0].len(), 2);
}

#[test]
fn what_was_changed_and_taken_back_since_is_no_work_of_others() {
    let (_dir, home) = home();
    let [made, moved, undo, again] = std::array::from_fn(|_| Journal::new(&home, account(1), None));
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

/// A node at the top of the space.
fn state(n: u8, name: &str, state: &str) -> Node {
    let at = Timestamp(4).to_string();
    serde_json::from_value(serde_json::json!({
        "id": node(n), "space_id": node(0), "parent_id": null, "kind": "file", "name": name,
        "name_format": "plain", "size": 0, "mime_type": null, "category": null, "state": state,
        "revision_id": null, "version": 1, "created_at": at, "updated_at": at,
        "modified_at": null, "executable": false, "description": "", "labels": {}, "tags": [],
        "favorite": false, "seal": null, "seq": 1,
    }))
    .unwrap()
}

#[test]
fn a_restore_under_another_name_leaves_the_place_that_it_had() {
    let (_dir, home) = home();
    let journal = Journal::new(&home, account(1), None);
    assert_eq!(journal.noted_session(), None);
    journal.note_restored(&state(1, "f", "trashed"), &state(1, "f (2)", "active"));
    journal.note_restored(&state(2, "g", "trashed"), &state(2, "g", "active"));
    assert_eq!(journal.noted_session(), Some(journal.session()));
    let left = Journal::past_places(&home, None).unwrap();
    let left: Vec<_> = left
        .iter()
        .map(|at| (at.node, &*at.name, at.until_ms))
        .collect();
    assert_eq!(left, [(node(1), "f", 4)], "until the service's time");
    let sessions = Journal::sessions(&home, account(1)).unwrap();
    let changes = sessions[0].iter().filter_map(|e| e.change.as_ref());
    let changes: Vec<_> = changes.map(|record| &record.change).collect();
    assert_eq!(changes, [&NodeChange::Restored, &NodeChange::Restored]);
}

#[test]
fn an_account_sees_its_own_sessions_alone() {
    let (_dir, home) = home();
    let old = format!(
        "{{\"session\":\"{}\",\"at_ms\":1,\"command\":\"old\",\
         \"change\":{{\"op\":\"made\",\"node\":\"{}\"}}}}\n",
        Uuid::nil(),
        node(1)
    );
    std::fs::write(home.data_dir().join(FILE), old).unwrap();
    let sessions = |n| Journal::sessions(&home, account(n)).unwrap().len();
    assert_eq!(sessions(1), 1, "a line without an account");
    Journal::assign_unnamed(&home, account(1)).unwrap();
    Journal::new(&home, account(2), None).note(record(2, NodeChange::Made));
    Journal::new(&home, account(2), None).note(record(3, NodeChange::Made));
    assert_eq!((sessions(1), sessions(2)), (1, 2));
    std::fs::remove_file(home.data_dir().join(FILE)).unwrap();
    assert_eq!((sessions(1), sessions(2)), (0, 0));
}

#[test]
fn a_command_is_kept_as_a_shell_takes_it() {
    let words = ["--home", "/h", "mv", "--json", "/a b", "/it's"];
    let command = command_of(words.into_iter().map(str::to_owned));
    assert_eq!(command, r"mv '/a b' '/it'\''s'");
}
