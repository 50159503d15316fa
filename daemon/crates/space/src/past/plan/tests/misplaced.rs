//! Files and folders that were at a path at the time, and are elsewhere after a rewind of it.

use super::Model;
use crate::past::{Newer, Scope};
use cairn_model::Kind;

/// Returns where something will be instead of at a path, and the words about it.
fn misplaced(model: &Model, scope: Scope, path: &str, then: i64) -> Option<(String, String)> {
    let plan = model.plan(scope, then, Newer::Trash);
    let found = plan.misplaced(&model.past(), scope, path, then)?;
    Some((found.path, found.message))
}

#[test]
fn a_folder_that_was_renamed_since_stays_and_so_does_what_is_in_it() {
    let mut model = Model::default();
    let top = model.make(Kind::Folder, None, "F");
    let folder = model.make(Kind::Folder, Some(top), "k");
    let file = model.make(Kind::File, Some(folder), "a");
    let then = model.now;
    model.relocate(folder, Some(top), "k2");
    model.make(Kind::Folder, Some(top), "k");
    for (scope, path, is_at) in [
        (Scope::Below(folder), "/F/k", "/F/k2"),
        (Scope::Place(file), "/F/k/a", "/F/k2/a"),
    ] {
        let (at, message) = misplaced(&model, scope, path, then).unwrap();
        assert_eq!(at, is_at);
        assert!(message.contains(path), "{message}");
        assert!(message.contains("a rewind of /F gives"), "{message}");
        // Named by where it is now, it has no other place to go to.
        assert_eq!(misplaced(&model, scope, is_at, then), None);
    }
    // A file that was moved by itself gets its place back, as far as its folder is there.
    model.relocate(file, None, "a2");
    let (at, message) = misplaced(&model, Scope::Place(file), "/F/k/a", then).unwrap();
    assert_eq!(at, "/F/k2/a");
    assert!(message.contains("its folder stays"), "{message}");
    model.relocate(folder, Some(top), "gone");
    model.carry_out(Scope::All, then);
    assert_eq!(misplaced(&model, Scope::Below(folder), "/F/k", then), None);
}

#[test]
fn a_deleted_folder_that_was_made_anew_comes_back_beside_the_new_one() {
    let mut model = Model::default();
    let folder = model.make(Kind::Folder, None, "g");
    let file = model.make(Kind::File, Some(folder), "a");
    let then = model.now;
    model.delete(folder);
    let scope = Scope::Below(folder);
    assert_eq!(
        misplaced(&model, scope, "/g", then),
        None,
        "its name is free"
    );
    model.make(Kind::Folder, None, "g");
    for (scope, path) in [(scope, "/g"), (Scope::Place(file), "/g/a")] {
        let (at, message) = misplaced(&model, scope, path, then).unwrap();
        assert_eq!(at, "/g");
        assert!(message.contains("a rewind of / gives"), "{message}");
    }
}

#[test]
fn a_file_whose_folder_stays_in_the_trash_comes_back_into_the_one_that_is_there_now() {
    let mut model = Model::default();
    let folder = model.make(Kind::Folder, None, "g");
    let file = model.make(Kind::File, Some(folder), "a");
    let then = model.now;
    model.delete(file);
    model.delete(folder);
    let scope = Scope::Place(file);
    assert_eq!(misplaced(&model, scope, "/g/a", then), None);
    let anew = model.make(Kind::Folder, None, "g");
    assert_eq!(misplaced(&model, scope, "/g/a", then), None);
    model.make(Kind::File, Some(anew), "a");
    let (at, message) = misplaced(&model, scope, "/g/a", then).unwrap();
    assert_eq!(at, "/g/a");
    assert!(message.contains("another one is there now"), "{message}");
}
