//! Views made from the status of the daemon.

use super::*;
use cairn_model::{ConfirmationKind, Side};

fn folder(state: SyncState) -> control::FolderStatus {
    control::FolderStatus {
        local: "/home/a/Cairn".into(),
        state,
        ..Default::default()
    }
}

fn model_in(state: SyncState) -> Model {
    Model {
        connection: ConnectionState::Up,
        status: control::Status {
            state,
            folders: vec![folder(state)],
            ..Default::default()
        },
        ..Model::default()
    }
}

fn problem(code: ProblemCode, count: u64) -> control::ProblemGroup {
    control::ProblemGroup {
        code,
        count,
        message: "m".into(),
        hint: "h".into(),
        examples: vec!["a".into()],
        cause: code.as_str().parse().unwrap(),
        ..control::ProblemGroup::default()
    }
}

#[test]
fn the_headline_shows_the_progress() {
    let mut model = model_in(SyncState::Syncing);
    model.status.progress = Some(control::OverallProgress {
        files_done: 12,
        files_total: 1340,
        bytes_done: 10,
        bytes_total: 900,
        percent: 1,
        speed: 4_200_000,
        seconds_left: Some(100),
    });
    // One of them, which is not what the person waits for.
    model.status.transfers = vec![control::Transfer {
        path: "f".into(),
        direction: TransferDirection::Up,
        done: 1,
        size: 9,
        speed: 7,
        seconds_left: Some(3),
    }];
    let progress = build(&model, Language::En).progress.unwrap();
    assert_eq!(
        (progress.done, progress.bytes_total, progress.percent),
        (12, 900, 1)
    );
    assert_eq!(
        build(&model, Language::En).headline,
        "Syncing 12 of 1,340 · 4.0 MiB/s · 2 min left"
    );
    assert_eq!(
        build(&model, Language::De).headline,
        "Synchronisiert 12 von 1.340 · 4,0 MiB/s · noch 2 min"
    );
}

#[test]
fn the_headline_names_deletions_and_moves() {
    let mut model = model_in(SyncState::Syncing);
    model.status.steps = cairn_model::RunningSteps {
        deletions: 1200,
        moves: 1,
        new_folders: 0,
    };
    assert_eq!(
        build(&model, Language::En).headline,
        "Syncing · 1,200 deletions · 1 move"
    );
}

#[test]
fn a_pause_hides_nothing_that_waits_for_a_person() {
    let mut model = model_in(SyncState::Paused);
    assert_eq!(build(&model, Language::En).headline, "Paused");
    model.status.folders[0].confirmations = vec![control::Confirmation {
        side: Side::Remote,
        files: 9,
        kind: ConfirmationKind::Deletion,
    }];
    assert_eq!(
        build(&model, Language::En).headline,
        "Paused · 1 thing needs attention"
    );
}

#[test]
fn what_needs_a_person_is_counted_once() {
    let mut model = model_in(SyncState::Attention);
    model.status.folders[0].problems = vec![
        problem(ProblemCode::DeletionsHeld, 9),
        problem(ProblemCode::Symlink, 2),
        problem(ProblemCode::Unreadable, 400),
    ];
    model.status.folders[0].confirmations = vec![control::Confirmation {
        side: Side::Remote,
        files: 9,
        kind: ConfirmationKind::Deletion,
    }];
    model.conflicts = vec![ConflictView {
        folder: "/home/a/Cairn".into(),
        path: "a".into(),
        copy: "b".into(),
        kind: cairn_model::ConflictKind::Edit,
        device: "desk".into(),
        copy_device: String::new(),
        copy_made_here: None,
        at: String::new(),
    }];
    let view = build(&model, Language::En);
    assert_eq!(view.attention, 3);
    assert_eq!(view.headline, "3 things need attention");
    assert_eq!(view.folders[0].name, "Cairn");
    assert_eq!(view.folders[0].confirmations[0].side, Side::Remote);
}

#[test]
fn overwriting_that_waits_is_a_question_with_its_kind() {
    let mut model = model_in(SyncState::Attention);
    model.status.folders[0].problems = vec![problem(ProblemCode::OverwritesHeld, 40)];
    model.status.folders[0].confirmations = vec![control::Confirmation {
        side: Side::Remote,
        files: 40,
        kind: ConfirmationKind::Overwriting,
    }];
    let view = build(&model, Language::En);
    assert_eq!(view.attention, 1);
    let asked = view.folders[0].confirmations[0];
    assert_eq!(
        (asked.kind, asked.files),
        (ConfirmationKind::Overwriting, 40)
    );
    assert_eq!(view.folders[0].problems, []);
}

#[test]
fn a_conflict_alone_needs_a_person() {
    let mut model = model_in(SyncState::Idle);
    assert_eq!(build(&model, Language::En).state, SyncState::Idle);
    model.conflicts = vec![conflict(&control::Conflict {
        path: "a".into(),
        original_gone: false,
        copy: "b".into(),
        folder: "/f".into(),
        kind: cairn_model::ConflictKind::Edit,
        device: String::new(),
        copy_device: String::new(),
        copy_made_here: None,
        at: String::new(),
    })];
    assert_eq!(build(&model, Language::En).state, SyncState::Attention);
}

#[test]
fn without_a_daemon_nothing_of_the_last_one_is_shown() {
    let mut model = model_in(SyncState::Idle);
    model.connection = ConnectionState::Down;
    model.last_error = Some("the keyring is locked".into());
    let view = build(&model, Language::En);
    assert_eq!(view.state, SyncState::Error);
    assert!(view.folders.is_empty());
    assert_eq!(view.last_error.as_deref(), Some("the keyring is locked"));
    model.connection = ConnectionState::LoggedOut;
    assert_eq!(build(&model, Language::En).headline, "Not logged in");
}

#[test]
fn ten_thousand_problems_of_one_cause_are_one_thing_to_look_at() {
    let mut model = model_in(SyncState::Attention);
    model.status.folders[0].problems = vec![
        problem(ProblemCode::Unreadable, 10_000),
        problem(ProblemCode::Symlink, 5),
        control::ProblemGroup {
            examples: vec![String::new()],
            ..problem(ProblemCode::DiskFull, 1)
        },
    ];
    let view = build(&model, Language::En);
    let shown: Vec<_> = view.folders[0]
        .problems
        .iter()
        .map(|problem| (problem.code, problem.count, problem.examples.as_slice()))
        .collect();
    assert_eq!(
        shown,
        [
            (ProblemCode::Unreadable, 10_000, &["a".to_owned()][..]),
            (ProblemCode::DiskFull, 1, &[]),
        ]
    );
    assert_eq!(view.attention, 2);
    assert_eq!(view.headline, Language::En.count("headline.attention", 2));
}
