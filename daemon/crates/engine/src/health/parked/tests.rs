//! Pauses between tries, on a clock that stands still.

use super::*;
use cairn_model::LocalId;
use std::collections::BTreeSet;

const FOLDER: FolderId = FolderId(1);
const FILE: Key = Key::Local(LocalId(1));

/// Lets a step of the file fail; returns when it may be tried again.
fn fail(health: &mut Health, folder: FolderId, retry: RetryHint) -> Instant {
    health.park(folder, FILE, "f".into(), &EngineError::Stale, retry)
}

fn seconds_until(health: &Health) -> f64 {
    let at = health.next_try(FOLDER, Instant::now()).unwrap();
    at.duration_since(Instant::now()).as_secs_f64()
}

#[tokio::test(start_paused = true)]
async fn a_try_that_a_plan_has_made_and_those_of_other_folders_wake_no_folder() {
    let mut health = Health::default();
    let (other, begin) = (FolderId(2), Instant::now());
    let due = fail(&mut health, FOLDER, RetryHint::Soon);
    tokio::time::advance(FIRST).await;
    fail(&mut health, other, RetryHint::Later);
    assert_eq!(health.next_try(FOLDER, begin), Some(due));
    assert_eq!(health.next_try(FOLDER, due), None, "the plan has made it");
    assert!(health.next_try(other, due).is_some_and(|at| at > due));
}

#[tokio::test(start_paused = true)]
async fn a_file_that_never_rests_is_tried_less_and_less_often() {
    let mut health = Health::default();
    for whole in [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0] {
        fail(&mut health, FOLDER, RetryHint::Soon);
        let pause = seconds_until(&health);
        assert!((whole / 2.0..=whole).contains(&pause), "{pause} of {whole}");
    }
    assert_eq!(health.problems(FOLDER).len(), 1, "it is told");
}

#[tokio::test(start_paused = true)]
async fn after_a_copy_was_sent_the_next_one_waits_by_size_and_number() {
    let mut health = Health::default();
    for _ in 0..3 {
        fail(&mut health, FOLDER, RetryHint::Soon);
    }
    health.back_off_after_copy(FOLDER, FILE, 1_000);
    health.clear(FOLDER, FILE);
    assert!(health.is_parked(FOLDER, FILE));
    assert!((2.0..=4.0).contains(&seconds_until(&health)));
    health.back_off_after_copy(FOLDER, FILE, 1_000_000_000);
    assert!((seconds_until(&health) - 100.0).abs() < 0.1);
    assert_eq!(health.problems(FOLDER), []);
    health.keep_only(FOLDER, |_| false);
    assert_eq!(health.tries(FOLDER, FILE), 0, "it rests now");
}

#[test]
fn a_success_ends_what_was_a_failure_only() {
    let mut health = Health::default();
    fail(&mut health, FOLDER, RetryHint::Soon);
    health.clear(FOLDER, FILE);
    assert_eq!(health.tries(FOLDER, FILE), 0);
}

#[test]
fn what_failed_together_is_not_tried_again_at_one_moment() {
    let health = Health::new(7);
    let pauses: BTreeSet<Duration> = (0..20)
        .map(|id| health.pause((FOLDER, Key::Local(LocalId(id))), 1, LONGEST))
        .collect();
    assert!(pauses.len() > 15, "{pauses:?}");
    let elsewhere = Health::new(8).pause((FOLDER, FILE), 1, LONGEST);
    assert_ne!(health.pause((FOLDER, FILE), 1, LONGEST), elsewhere);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_what_is_not_tried_again() {
    let mut health = Health::default();
    let begin = Instant::now();
    let due = fail(&mut health, FOLDER, RetryHint::Soon);
    assert!(health.waits_briefly(FOLDER, begin));
    assert!(!health.waits_briefly(FolderId(2), begin), "another folder");
    assert!(!health.waits_briefly(FOLDER, due), "the plan has tried it");
    health.forget(FOLDER);
    assert!(!health.waits_briefly(FOLDER, begin), "it was removed");
}

#[test]
fn what_is_left_by_a_scan_or_held_for_a_person_waits_for_one() {
    let problem = |code| Problem {
        path: "f".into(),
        code,
        ..Problem::default()
    };
    let waits = |code, is_scanned: bool| {
        let mut health = Health::new(1);
        if is_scanned {
            health.record_whole_scan(FOLDER, vec![problem(code)]);
        } else {
            let node = cairn_model::NodeId::from_random_bytes([7; 16]);
            health.refuse(FOLDER, node, problem(code));
        }
        assert!(
            !health.waits_for_person(FolderId(FOLDER.0 + 1)),
            "another folder"
        );
        health.waits_for_person(FOLDER)
    };
    for code in [
        ProblemCode::Name,
        ProblemCode::NameClash,
        ProblemCode::Unreadable,
        ProblemCode::Disk,
        ProblemCode::FolderGone,
    ] {
        assert!(waits(code, true), "{code:?}");
    }
    assert!(!waits(ProblemCode::Symlink, true), "nothing is to be done");
    assert!(waits(ProblemCode::Unverified, false));
    assert!(
        !waits(ProblemCode::Name, false),
        "it stays on the service, and nothing is to be done"
    );
}
