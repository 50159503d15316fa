//! Tables of events, with the scans that are due after them.

use super::*;

const TIMING: Timing = Timing {
    rescan_every: Duration::from_secs(3600),
    debounce: Duration::from_millis(80),
};

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

fn dirs(names: &[&str]) -> BTreeSet<RelPath> {
    names.iter().map(|name| path(name)).collect()
}

/// Returns a schedule after its first scan, and the time of that.
fn scanned_schedule() -> (Schedule, Instant) {
    let now = Instant::now();
    let mut schedule = Schedule::new(now, TIMING);
    let first = schedule.begin(now);
    assert!(first.whole);
    schedule.finish(&first, BTreeSet::new(), BTreeSet::new());
    (schedule, now)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn hints_are_due_when_they_pause_or_after_a_second() {
    // Times of hints of one file, and when a scan is due.
    let cases: &[(&[u64], u64)] = &[
        (&[0], 80),
        (&[0, 50], 130),
        (&[0, 50, 100, 150], 230),
        (
            &[0, 79, 158, 237, 316, 395, 474, 553, 632, 711, 790, 869, 948],
            1000,
        ),
    ];
    for (hints, due) in cases {
        let (mut schedule, now) = scanned_schedule();
        for at in *hints {
            schedule.hint(&path("d/f"), now + ms(*at));
        }
        assert_eq!(schedule.next_wake(TIMING), now + ms(*due), "{hints:?}");
        assert!(
            !schedule.is_due(now + ms(due - 1), TIMING, true),
            "{hints:?}"
        );
        assert!(schedule.is_due(now + ms(*due), TIMING, true), "{hints:?}");
        let scan = schedule.begin(now + ms(*due));
        let hinted = Hinted::from([(path("d"), path("f").names().iter().cloned().collect())]);
        assert_eq!((scan.whole, scan.dirs), (false, hinted), "{hints:?}");
        assert!(!schedule.is_pending(), "{hints:?}");
    }
}

#[test]
fn our_own_directories_make_nothing_due() {
    let (mut schedule, now) = scanned_schedule();
    for name in [".cairn-trash/x", ".cairn-tmp/y"] {
        schedule.hint(&path(name), now);
    }
    assert!(!schedule.is_pending());
}

#[test]
fn another_rules_file_makes_everything_due_once_it_is_quiet() {
    let (mut schedule, now) = scanned_schedule();
    schedule.hint(&path(IGNORE_FILE), now);
    assert!(!schedule.is_due(now + ms(79), TIMING, true));
    assert!(schedule.is_due(now + ms(80), TIMING, true));
    assert!(schedule.begin(now + ms(80)).whole);
}

#[test]
fn nothing_is_scanned_while_the_rules_file_is_written() {
    let (mut schedule, now) = scanned_schedule();
    schedule.hint(&path(IGNORE_FILE), now);
    schedule.rescan();
    assert!(!schedule.is_due(now + ms(79), TIMING, true));
    schedule.hint(&path(IGNORE_FILE), now + ms(79));
    assert!(!schedule.is_due(now + ms(158), TIMING, true));
    assert!(schedule.is_due(now + ms(159), TIMING, true));
}

#[test]
fn a_missing_file_counts_as_gone_when_a_second_scan_misses_it() {
    let (mut schedule, now) = scanned_schedule();
    let lost = BTreeSet::from([LocalId(7)]);
    schedule.hint(&path("d/f"), now);
    let scan = schedule.begin(now);
    assert!(scan.confirmed_missing.is_empty());
    schedule.finish(&scan, lost.clone(), dirs(&["d"]));
    assert!(!schedule.is_due(now + GRACE - ms(1), TIMING, true));
    assert!(schedule.is_due(now + GRACE, TIMING, true));
    let again = schedule.begin(now + GRACE);
    assert_eq!(again.confirmed_missing, lost);
    assert_eq!(
        again.dirs.keys().cloned().collect::<BTreeSet<_>>(),
        dirs(&["d"])
    );
    schedule.finish(&again, BTreeSet::new(), BTreeSet::new());
    assert!(!schedule.is_pending());
    let later = schedule.begin(now + GRACE * 4);
    assert!(later.confirmed_missing.is_empty(), "it was found");
}

#[test]
fn a_missing_root_is_looked_for_and_everything_scanned_when_it_is_back() {
    let (mut schedule, now) = scanned_schedule();
    schedule.hint(&path("f"), now);
    schedule.root_missing(now);
    assert!(schedule.is_root_missing());
    assert!(!schedule.is_due(now + ROOT_RETRY - ms(1), TIMING, true));
    assert!(schedule.is_due(now + ROOT_RETRY, TIMING, true));
    schedule.record_root_found();
    assert!(schedule.begin(now + ROOT_RETRY).whole);
    assert!(!schedule.is_root_missing());
}

#[test]
fn everything_is_scanned_now_and_then_more_often_without_a_watcher() {
    for (watched, every) in [(true, TIMING.rescan_every), (false, UNWATCHED_RESCAN)] {
        let (mut schedule, now) = scanned_schedule();
        let first = now + TIMING.rescan_every;
        assert!(schedule.is_due(first, TIMING, watched));
        let scan = schedule.begin(first);
        assert!(scan.whole);
        schedule.finish(&scan, BTreeSet::new(), BTreeSet::new());
        assert_eq!(schedule.next_wake(TIMING), first + every);
    }
}

#[test]
fn another_rules_file_in_a_directory_makes_that_one_due_once_it_is_quiet() {
    let (mut schedule, now) = scanned_schedule();
    schedule.hint(&path("sub/.cairnignore"), now);
    schedule.rescan();
    assert!(!schedule.is_due(now + ms(79), TIMING, true));
    assert!(schedule.is_due(now + ms(80), TIMING, true));
    schedule.begin(now + ms(80));
    schedule.hint(&path("sub/.cairnignore"), now + ms(100));
    assert!(schedule.is_due(now + ms(180), TIMING, true));
    let due = schedule.begin(now + ms(180));
    assert!(!due.whole);
    assert_eq!(due.dirs.len(), 1);
}

#[test]
fn new_directories_that_a_scan_has_left_are_scanned_at_once_and_hints_wait_for_their_pause() {
    let (mut schedule, now) = scanned_schedule();
    schedule.hint(&path("f"), now);
    let scan = schedule.begin(now + ms(80));
    schedule.record_unscanned(&scan, dirs(&["a", "b"]));
    assert!(schedule.is_pending() && !schedule.is_whole_due());
    schedule.hint(&path("d/g"), now + ms(81));
    assert!(schedule.is_due(now + ms(82), TIMING, true));
    let scan = schedule.begin(now + ms(82));
    let left: BTreeSet<RelPath> = scan.dirs.keys().cloned().collect();
    assert_eq!(left, dirs(&["a", "b"]));
    schedule.record_unscanned(&scan, BTreeSet::new());
    assert!(!schedule.is_due(now + ms(83), TIMING, true));
    assert_eq!(schedule.next_wake(TIMING), now + ms(161));
    assert!(schedule.is_due(now + ms(161), TIMING, true));
    assert_eq!(schedule.begin(now + ms(161)).dirs.len(), 1);
    assert!(!schedule.is_pending());
}

#[test]
fn a_whole_scan_is_due_until_all_that_it_has_left_is_scanned() {
    let now = Instant::now();
    let mut schedule = Schedule::new(now, TIMING);
    let scan = schedule.begin(now);
    schedule.record_unscanned(&scan, dirs(&["a"]));
    assert!(schedule.is_whole_due() && !schedule.is_whole_next());
    let scan = schedule.begin(now);
    assert!(!scan.whole);
    schedule.record_unscanned(&scan, dirs(&["a/b"]));
    assert!(schedule.is_whole_due());
    let scan = schedule.begin(now);
    schedule.record_unscanned(&scan, BTreeSet::new());
    assert!(!schedule.is_whole_due() && !schedule.is_pending());
}

#[test]
fn what_a_scan_has_left_waits_while_a_rules_file_is_being_written() {
    let (mut schedule, now) = scanned_schedule();
    schedule.hint(&path("f"), now);
    let scan = schedule.begin(now);
    schedule.record_unscanned(&scan, dirs(&["a"]));
    schedule.hint(&path(IGNORE_FILE), now);
    assert!(!schedule.is_due(now + ms(79), TIMING, true));
    assert_eq!(schedule.next_wake(TIMING), now + ms(80));
    assert!(schedule.is_due(now + ms(80), TIMING, true));
    assert!(schedule.begin(now + ms(80)).whole);
}

#[test]
fn one_scan_looks_at_some_of_what_was_left_and_takes_nothing_for_gone_before_all_are_scanned() {
    let (mut schedule, now) = scanned_schedule();
    let left: BTreeSet<RelPath> = (0..=MOST_UNSCANNED)
        .map(|n| path(&format!("{n:03}")))
        .collect();
    schedule.hint(&path("f"), now);
    let scan = schedule.begin(now);
    schedule.finish(&scan, [LocalId(1)].into(), dirs(&["gone"]));
    schedule.record_unscanned(&scan, left);
    let scan = schedule.begin(now + GRACE);
    assert_eq!(scan.confirmed_missing, BTreeSet::new());
    assert!(schedule.has_unscanned());
    schedule.finish(&scan, [LocalId(1)].into(), dirs(&["gone"]));
    schedule.record_unscanned(&scan, BTreeSet::new());
    let scan = schedule.begin(now + GRACE);
    assert_eq!(scan.confirmed_missing, [LocalId(1)].into());
    assert!(!schedule.has_unscanned());
}
