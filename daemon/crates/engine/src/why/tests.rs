//! Every reason for the sync state of a path, from tables of facts.

use super::decision::decide;
use super::*;
use cairn_model::{
    PathReason, ProblemCause, ProblemCode, ProblemValues, RuleSource, TransferDirection,
};
use std::time::Duration;

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

/// Returns a file that is in sync.
fn synced_facts() -> Facts {
    Facts {
        is_local: true,
        is_remote: true,
        synced: true,
        equal: true,
        verified: Some(true),
        synced_at_ms: Some(7),
        ..Facts::default()
    }
}

fn problem(code: ProblemCode) -> PathProblem {
    PathProblem {
        problem: Problem {
            path: "f".into(),
            code,
            message: "no space left".into(),
            hint: "free some space".into(),
            cause: code.as_str().parse().unwrap(),
            values: ProblemValues::of_detail("os error 28"),
        },
        tries: 3,
        next_try: Some(Duration::from_secs(4)),
    }
}

fn rule(source: RuleSource, line: Option<u64>) -> Option<RuleOrigin> {
    Some(RuleOrigin {
        source,
        pattern: "*.log".into(),
        file: (source == RuleSource::File).then(|| path("sub/.cairnignore")),
        line,
        matched: path("f.log"),
    })
}

/// Checks state and words of the decision over facts that differ from a synced file's.
#[track_caller]
fn says(change: impl FnOnce(&mut Facts), state: PathState, words: &[&str]) -> PathReport {
    let mut facts = synced_facts();
    change(&mut facts);
    let report = decide(&facts);
    assert_eq!(report.state, state, "{report:?}");
    for word in words {
        let text = format!("{} → {}", report.message, report.hint);
        assert!(text.contains(word), "{word:?} is not in {text:?}");
    }
    report
}

#[test]
fn a_synced_file_says_when_and_whether_it_is_verified() {
    let report = says(|_| (), PathState::Synced, &["in sync"]);
    assert_eq!(
        (report.synced_at_ms, report.verified),
        (Some(7), Some(true))
    );
    let unsealed = |f: &mut Facts| f.verified = Some(false);
    says(unsealed, PathState::Synced, &["without your keys"]);
}

#[test]
fn a_rule_is_named_with_file_and_line() {
    let by = |source, line| move |f: &mut Facts| f.rule = rule(source, line);
    let report = says(
        by(RuleSource::File, Some(12)),
        PathState::Ignored,
        &["`*.log`", "line 12 of sub/.cairnignore"],
    );
    assert_eq!(report.rule.unwrap().line, Some(12));
    let unusable = |f: &mut Facts| {
        f.rule = rule(RuleSource::File, None).map(|rule| RuleOrigin {
            pattern: crate::observe::rules::UNUSABLE_RULES.to_owned(),
            ..rule
        });
    };
    let words = ["the rules in sub/.cairnignore can't be read"];
    says(unusable, PathState::Ignored, &words);
    says(
        by(RuleSource::BuiltIn, None),
        PathState::Ignored,
        &["built-in"],
    );
    says(
        by(RuleSource::Exclude, None),
        PathState::Unselected,
        &["--exclude"],
    );
    says(
        by(RuleSource::Selection, None),
        PathState::Unselected,
        &["--only"],
    );
    says(
        |f| f.excluded = true,
        PathState::Unselected,
        &["when it came"],
    );
}

#[test]
fn what_a_scan_left_out_says_why_also_for_a_folder_above() {
    for (skipped, state) in [
        (Skipped::Special, PathState::Special),
        (Skipped::Name, PathState::Name),
        (Skipped::Unreadable, PathState::Parked),
        (Skipped::Unmounted, PathState::Unmounted),
    ] {
        says(|f| f.skipped = skipped, state, &["it "]);
    }
    let above = |f: &mut Facts| f.skipped_above = Some((path("usb"), Skipped::Unmounted));
    says(
        above,
        PathState::Unmounted,
        &["the folder usb above it", "mount"],
    );
}

#[test]
fn a_conflict_names_the_other_version() {
    let with = |is_copy, made_here| {
        move |f: &mut Facts| {
            f.conflict = Some(ConflictFact {
                with: path("other.txt"),
                is_copy,
                made_here,
                copy_device: "laptop".into(),
            });
        }
    };
    let report = says(
        with(false, Some(true)),
        PathState::Conflict,
        &["other.txt", "cairn resolve"],
    );
    assert_eq!(report.conflict_with, Some(path("other.txt")));
    let copy = |made_here, words: &[&str]| says(with(true, made_here), PathState::Conflict, words);
    copy(Some(true), &["this device's version of other.txt"]);
    let others = copy(Some(false), &["version of other.txt that laptop made"]);
    let unknown = copy(None, &["conflict copy of other.txt"]);
    for report in [others, unknown] {
        assert!(!report.message.contains("this device's"), "{report:?}");
    }
}

#[test]
fn a_failure_says_how_often_it_was_tried_and_when_again() {
    let with = |code| move |f: &mut Facts| f.problem = Some(problem(code));
    let report = says(
        with(ProblemCode::DiskFull),
        PathState::Parked,
        &["3 tries failed: no space left", "free some space"],
    );
    assert_eq!((report.tries, report.next_try_ms), (3, Some(4_000)));
    says(with(ProblemCode::NameClash), PathState::Name, &[]);
    says(with(ProblemCode::Unverified), PathState::Unverified, &[]);
    says(with(ProblemCode::OneWay), PathState::OneWay, &[]);
    says(with(ProblemCode::Changing), PathState::Waiting, &[]);
    let gone = |f: &mut Facts| f.folder_problem = Some(problem(ProblemCode::FolderGone).problem);
    let report = says(gone, PathState::Unmounted, &["its folder"]);
    assert_eq!(report.cause, ProblemCause::FolderGone);
}

#[test]
fn a_failure_has_its_cause_as_a_word_and_the_words_of_the_system() {
    let full = |f: &mut Facts| f.problem = Some(problem(ProblemCode::DiskFull));
    let report = says(full, PathState::Parked, &[]);
    assert_eq!(report.cause, ProblemCause::DiskFull);
    assert_eq!(report.values.detail.as_deref(), Some("os error 28"));
    let report = says(|_| (), PathState::Synced, &[]);
    assert_eq!(report.cause, ProblemCause::Other);
}

#[test]
fn what_differs_says_what_it_waits_for() {
    let differs = |also: fn(&mut Facts)| {
        move |f: &mut Facts| {
            f.equal = false;
            also(f);
        }
    };
    says(
        differs(|_| ()),
        PathState::Waiting,
        &["the two sides differ"],
    );
    says(
        differs(|f| f.paused = true),
        PathState::Waiting,
        &["paused", "cairn resume"],
    );
    let offline = |f: &mut Facts| f.offline = Some("the server can't be reached".into());
    says(differs(offline), PathState::Waiting, &["can't be reached"]);
    let held = |f: &mut Facts| (f.is_local, f.deletion_waits) = (false, true);
    says(differs(held), PathState::Waiting, &["cairn confirm"]);
    let encrypted = |f: &mut Facts| f.overwrite_waits = true;
    says(
        differs(encrypted),
        PathState::Waiting,
        &["overwrite", "keep"],
    );
    let new = |f: &mut Facts| (f.is_remote, f.behind) = (false, 40);
    let report = says(
        differs(new),
        PathState::Waiting,
        &["here only so far", "40 changes"],
    );
    assert_eq!(report.behind, 40);
    let remote = |f: &mut Facts| (f.is_local, f.on_disk) = (false, OnDisk::Absent);
    says(
        differs(remote),
        PathState::Waiting,
        &["on the service only so far"],
    );
    says(
        |f| f.on_disk = OnDisk::Changed,
        PathState::Waiting,
        &["not read yet"],
    );
    says(
        |f| f.on_disk = OnDisk::Absent,
        PathState::Waiting,
        &["deletion here"],
    );
    let running = |f: &mut Facts| {
        f.transfer = Some(TransferStatus {
            path: "f".into(),
            direction: TransferDirection::Up,
            bytes: 40,
            total: 100,
            speed: 1.0,
            time_left: None,
        });
    };
    says(running, PathState::Waiting, &["uploaded: 40 of 100 bytes"]);
}

#[test]
fn a_one_way_folder_says_which_way_it_goes() {
    let receives = |f: &mut Facts| {
        (f.mode, f.equal, f.is_remote, f.synced) = (SyncMode::Download, false, false, false);
    };
    says(receives, PathState::OneWay, &["only receives"]);
    let sends = |f: &mut Facts| {
        (f.mode, f.equal, f.synced) = (SyncMode::Upload, false, false);
        (f.is_local, f.on_disk) = (false, OnDisk::Absent);
    };
    says(sends, PathState::OneWay, &["only sends"]);
    let arriving = |f: &mut Facts| {
        (f.mode, f.equal, f.synced) = (SyncMode::Download, false, false);
        (f.is_local, f.on_disk) = (false, OnDisk::Absent);
    };
    says(
        arriving,
        PathState::Waiting,
        &["on the service only so far"],
    );
}

#[test]
fn the_other_direction_does_a_deletion_on_this_side_too() {
    let deleted_there = |f: &mut Facts| {
        (f.mode, f.equal, f.is_remote) = (SyncMode::Upload, false, false);
    };
    let report = says(
        deleted_there,
        PathState::OneWay,
        &["deleted on the service"],
    );
    assert!(report.hint.ends_with("to have it deleted here, too"));
    let deleted_here = |f: &mut Facts| {
        (f.mode, f.equal) = (SyncMode::Download, false);
        (f.is_local, f.on_disk) = (false, OnDisk::Absent);
    };
    let report = says(deleted_here, PathState::OneWay, &["deleted here"]);
    assert!(report.hint.ends_with("deleted on the service, too"));
}

#[test]
fn what_was_changed_on_the_side_that_is_left_alone_does_not_wait() {
    let differs = |mode, change: fn(&mut Facts)| {
        move |f: &mut Facts| {
            (f.mode, f.equal) = (mode, false);
            change(f);
        }
    };
    let (down, up) = (SyncMode::Download, SyncMode::Upload);
    let here: fn(&mut Facts) = |f| f.changed_here = true;
    let there: fn(&mut Facts) = |f| f.changed_there = true;
    let deleted_here: fn(&mut Facts) = |f| (f.is_local, f.on_disk) = (false, OnDisk::Absent);
    let deleted_there: fn(&mut Facts) = |f| f.is_remote = false;
    let stays = PathState::OneWay;
    says(
        differs(down, here),
        stays,
        &["changed here", "only receives"],
    );
    says(differs(down, deleted_here), stays, &["deleted here"]);
    says(
        differs(up, there),
        stays,
        &["changed on the service", "only sends"],
    );
    says(
        differs(up, deleted_there),
        stays,
        &["deleted on the service"],
    );
    let waits = PathState::Waiting;
    says(differs(down, there), waits, &["the two sides differ"]);
    says(differs(down, deleted_there), waits, &["here only so far"]);
    says(differs(up, here), waits, &["the two sides differ"]);
    says(
        differs(up, deleted_here),
        waits,
        &["on the service only so far"],
    );
}

#[test]
fn the_files_of_an_installation_are_named_as_such() {
    let own = |f: &mut Facts| {
        f.rule = Some(RuleOrigin {
            source: RuleSource::BuiltIn,
            pattern: crate::observe::rules::OWN_FILES.to_owned(),
            file: None,
            line: None,
            matched: path("share/cairn"),
        });
    };
    says(own, PathState::Ignored, &["Cairn keeps files of its own"]);
}

#[test]
fn a_path_of_which_nothing_is_known_is_missing() {
    let nowhere = |f: &mut Facts| {
        *f = Facts {
            on_disk: OnDisk::Absent,
            ..Facts::default()
        }
    };
    says(
        nowhere,
        PathState::Missing,
        &["neither here nor on the service"],
    );
    let unread = |f: &mut Facts| {
        *f = Facts {
            on_disk: OnDisk::Changed,
            ..Facts::default()
        }
    };
    says(unread, PathState::Waiting, &["not read yet"]);
}

/// Programs that speak another language than the message have nothing but the word.
#[test]
fn every_reason_is_a_word_of_its_own() {
    type Change = fn(&mut Facts);
    let nothing: Change = |f| {
        *f = Facts {
            on_disk: OnDisk::Absent,
            ..Facts::default()
        }
    };
    let in_conflict: Change = |f| {
        f.conflict = Some(ConflictFact {
            with: path("other.txt"),
            is_copy: true,
            made_here: Some(true),
            copy_device: "laptop".into(),
        });
    };
    let table: [(Change, PathReason); 17] = [
        (|_| (), PathReason::Synced),
        (|f| f.verified = Some(false), PathReason::SyncedUnverified),
        (
            |f| f.rule = rule(RuleSource::File, Some(3)),
            PathReason::Rule,
        ),
        (
            |f| f.rule = rule(RuleSource::Exclude, None),
            PathReason::Excluded,
        ),
        (
            |f| f.rule = rule(RuleSource::Selection, None),
            PathReason::NotSelected,
        ),
        (|f| f.excluded = true, PathReason::ExcludedBefore),
        (|f| f.skipped = Skipped::Unreadable, PathReason::Unreadable),
        (
            |f| f.skipped_above = Some((path("usb"), Skipped::Unmounted)),
            PathReason::MountGone,
        ),
        (in_conflict, PathReason::ConflictCopyOurs),
        (
            |f| f.problem = Some(problem(ProblemCode::DiskFull)),
            PathReason::Failed,
        ),
        (nothing, PathReason::Missing),
        (|f| (f.equal, f.paused) = (false, true), PathReason::Paused),
        (
            |f| (f.equal, f.deletion_waits) = (false, true),
            PathReason::DeletionHeld,
        ),
        (
            |f| (f.equal, f.overwrite_waits) = (false, true),
            PathReason::OverwriteHeld,
        ),
        (
            |f| (f.equal, f.is_remote) = (false, false),
            PathReason::OnlyHere,
        ),
        (
            |f| (f.equal, f.is_remote, f.left_behind) = (false, false, true),
            PathReason::DeletedThere,
        ),
        (|f| f.on_disk = OnDisk::Changed, PathReason::Unread),
    ];
    for (change, reason) in table {
        let mut facts = synced_facts();
        change(&mut facts);
        let report = decide(&facts);
        assert_eq!(report.reason, reason, "{report:?}");
        let above = (reason == PathReason::MountGone).then(|| path("usb"));
        assert_eq!(report.above, above, "{report:?}");
    }
}
