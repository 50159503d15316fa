//! The messages as JSON text: a change here needs a new protocol version, or a reason
//! why an older peer is not misled.

use cairn_control::envelope::{Hello, RequestEnvelope, Welcome};
use cairn_control::{
    Activity, ActivityList, Confirmation, Conflict, ConflictList, DecidingRule, DoctorInfo, Done,
    Event, Failure, FailureCode, Folder, FolderStatus, IgnoreDecision, IgnoreRules, Limits,
    NewFolder, OverallProgress, PathReport, ProblemGroup, Request, Resolved, Status, TeamSpace,
    Transfer, Trashed, TrashedList,
};
use cairn_model::{
    ActivityKind, ConfirmationKind, ConflictKind, Counters, DeletionDecision, DeletionGate, Keep,
    PathReason, PathState, Problem, ProblemCause, ProblemCode, ProblemValues, RuleSource,
    RunningSteps, Side, SpaceId, SyncMode, SyncState, TeamId, TransferDirection,
};
use insta::assert_snapshot;
use serde::Serialize;

fn lines<T: Serialize>(values: &[T]) -> String {
    values
        .iter()
        .map(|v| serde_json::to_string(v).expect("a message is JSON"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn status() -> Status {
    Status {
        state: SyncState::Attention,
        pending: 3,
        folders: vec![FolderStatus {
            local: "/home/a/Cairn".into(),
            remote: "/".into(),
            state: SyncState::Syncing,
            pending: 3,
            files: 12,
            bytes: 3_400,
            mode: SyncMode::TwoWay,
            errors: vec![Problem {
                path: "a/b".into(),
                code: ProblemCode::Unreadable,
                message: "a/b can't be read".into(),
                hint: "give this user the right to read it".into(),
                cause: ProblemCause::Unreadable,
                values: ProblemValues::default(),
            }],
            problems: vec![ProblemGroup {
                code: ProblemCode::Unreadable,
                count: 1,
                bytes: 0,
                message: "a/b can't be read".into(),
                hint: "give this user the right to read it".into(),
                examples: vec!["a/b".into()],
                cause: ProblemCause::Unreadable,
                values: ProblemValues::of_detail("os error 13"),
            }],
            conflicts: 1,
            confirmations: vec![Confirmation {
                side: Side::Remote,
                files: 100,
                kind: ConfirmationKind::Deletion,
            }],
            space: None,
        }],
        transfers: vec![Transfer {
            path: "big".into(),
            direction: TransferDirection::Up,
            done: 10,
            size: 20,
            speed: 5,
            seconds_left: Some(2),
        }],
        progress: Some(OverallProgress {
            files_done: 1,
            files_total: 4,
            bytes_done: 10,
            bytes_total: 40,
            percent: 25,
            speed: 5,
            seconds_left: Some(6),
        }),
        open_conflicts: 1,
        steps: RunningSteps {
            moves: 2,
            ..Default::default()
        },
        counters: Counters {
            uploads: 1,
            conflicts: 2,
            ..Default::default()
        },
        message: None,
        paused_until: Some("2026-01-02T03:04:05.000Z".into()),
        limits: Some(Limits {
            up: Some(1),
            down: None,
        }),
    }
}

#[test]
fn greetings() {
    assert_snapshot!(lines(&[Hello { protocol: 1, client: "cli".into() }]), @r#"{"protocol":1,"client":"cli"}"#);
    assert_snapshot!(
        lines(&[Welcome { protocol: 1, version: "0.1.0".into(), pid: 7 }]),
        @r#"{"protocol":1,"version":"0.1.0","pid":7}"#
    );
}

#[test]
fn requests() {
    let folder = || "/home/a/Cairn".to_owned();
    let new = NewFolder {
        local: folder(),
        remote: "/work".into(),
        mode: SyncMode::Upload,
        exclude: vec!["*.iso".into()],
        only: vec!["docs".into()],
        gate: Some(DeletionGate {
            percent: 50,
            files: 50,
            most: 1000,
        }),
    };
    let all = [
        Request::Status,
        Request::WaitUntilSynced {
            timeout_ms: Some(120_000),
        },
        Request::Subscribe,
        Request::Rescan { folder: None },
        Request::Rescan {
            folder: Some(folder()),
        },
        Request::Pause {
            folder: None,
            until: Some(1_767_323_045_000),
        },
        Request::Resume {
            folder: Some(folder()),
        },
        Request::Activity { limit: 50 },
        Request::Conflicts,
        Request::Resolve {
            path: "/home/a/Cairn/f.txt".into(),
            keep: Keep::Mine,
        },
        Request::Resolve {
            path: "/home/a/Cairn/f.txt".into(),
            keep: Keep::Merge,
        },
        Request::PreviewResolve {
            path: "/home/a/Cairn/f.txt".into(),
            keep: Keep::Both,
        },
        Request::Accept,
        Request::Confirm {
            folder: folder(),
            decision: DeletionDecision::Delete,
        },
        Request::Confirm {
            folder: folder(),
            decision: DeletionDecision::Keep,
        },
        Request::Folders,
        Request::AddFolder {
            folder: new.clone(),
        },
        Request::ChangeFolder {
            folder: new.clone(),
        },
        Request::RemoveFolder { folder: folder() },
        Request::Ignore { folder: folder() },
        Request::AddIgnore {
            folder: folder(),
            pattern: "*.log".into(),
        },
        Request::CheckIgnore {
            folder: folder(),
            path: "/home/a/Cairn/x.log".into(),
            lines: None,
        },
        Request::CheckIgnore {
            folder: folder(),
            path: "/home/a/Cairn/x.log".into(),
            lines: Some(vec!["*.log".into()]),
        },
        Request::SetIgnore {
            folder: folder(),
            lines: vec!["*.log".into(), "!keep.log".into()],
        },
        Request::Limits,
        Request::SetLimits {
            limits: Limits {
                up: Some(1_000_000),
                down: None,
            },
        },
        Request::Reload,
        Request::Trash { folder: None },
        Request::RestoreTrashed {
            folder: folder(),
            id: "2026/f".into(),
        },
        Request::Doctor,
        Request::Shutdown,
        Request::Why {
            path: "/home/a/Cairn/x.log".into(),
        },
        Request::AcceptDisk {
            path: "/home/a/Cairn/photos".into(),
        },
        Request::FullStatus,
        Request::Waiting { limit: 10 },
        Request::AddTeamFolder {
            folder: new,
            space: TeamSpace {
                id: SpaceId::from_random_bytes([1; 16]),
                team: TeamId::from_random_bytes([2; 16]),
                name: "Crew".into(),
            },
        },
        Request::SyncNow { folder: None },
        Request::DeleteTrashed {
            folder: folder(),
            ids: ["2026-11-29 120000/a".to_owned()].into(),
        },
        Request::Ping,
    ];
    let asks: Vec<RequestEnvelope> = (1..)
        .zip(all)
        .map(|(id, request)| RequestEnvelope { id, request })
        .collect();
    let text = lines(&asks);
    assert_snapshot!(text);
    for (line, ask) in text.lines().zip(&asks) {
        assert_eq!(&serde_json::from_str::<RequestEnvelope>(line).unwrap(), ask);
    }
}

#[test]
fn responses() {
    let at = || "2026-01-02T03:04:05.000Z".to_owned();
    let activity = Activity {
        at: at(),
        kind: ActivityKind::Uploaded,
        path: "a/b".into(),
        folder: Some("/home/a/Cairn".into()),
        device: None,
        bytes: 5,
    };
    let conflict = Conflict {
        path: "f.txt".into(),
        original_gone: false,
        copy: "f (conflicted copy laptop 2026-01-02 030405).txt".into(),
        folder: "/home/a/Cairn".into(),
        kind: ConflictKind::Edit,
        device: "desk".into(),
        copy_device: "laptop".into(),
        copy_made_here: Some(true),
        at: at(),
    };
    let trashed = Trashed {
        id: "1/f".into(),
        folder: "/home/a/Cairn".into(),
        path: "f".into(),
        at: at(),
        bytes: 5,
    };
    let folder = Folder {
        local: "/home/a/Cairn".into(),
        remote: "/".into(),
        mode: SyncMode::TwoWay,
        exclude: vec![],
        only: vec![],
        gate: None,
        space: None,
    };
    let doctor = DoctorInfo {
        version: "0.1.0".into(),
        pid: 7,
        started_at: at(),
        online: true,
        ..Default::default()
    };
    let rules = IgnoreRules {
        shared: vec!["*.log".into()],
        own: vec![],
    };
    let decision = IgnoreDecision {
        path: "x.log".into(),
        ignored: true,
        rule: Some("*.log".into()),
    };
    let why = PathReport {
        path: "/home/a/Cairn/x.log".into(),
        folder: Some("/home/a/Cairn".into()),
        remote: Some("/x.log".into()),
        state: PathState::Ignored,
        reason: PathReason::Rule,
        message: "it is ignored by `*.log`, line 3 of .cairnignore".into(),
        rule: Some(DecidingRule {
            source: RuleSource::File,
            pattern: "*.log".into(),
            file: Some("/home/a/Cairn/.cairnignore".into()),
            line: Some(3),
            matched: "x.log".into(),
        }),
        ..Default::default()
    };
    let text = [
        lines(&[status()]),
        lines(&[ActivityList {
            events: vec![activity.clone()],
        }]),
        lines(&[ConflictList {
            conflicts: vec![conflict],
        }]),
        lines(&[vec![folder]]),
        lines(&[rules]),
        lines(&[decision]),
        lines(&[Limits {
            up: Some(1),
            down: None,
        }]),
        lines(&[TrashedList {
            trashed: vec![trashed],
        }]),
        lines(&[doctor]),
        lines(&[Failure::new(
            FailureCode::TimedOut,
            "not in sync after 120 s",
        )]),
        lines(&[why]),
        lines(&[Event::Activity { activity }]),
        lines(&[Event::Status {
            status: Status::default(),
        }]),
        lines(&[
            Resolved::default(),
            Resolved {
                copy: Some("/home/a/Cairn/f (laptop 2026-01-02 030405).txt".into()),
            },
        ]),
    ];
    assert_snapshot!(text.join("\n"));
}

/// Such a reply goes with the same version of the protocol: neither side is misled by the other's.
#[test]
fn resolutions_of_older_and_newer_peers_are_understood() {
    let older: Resolved = serde_json::from_str("{}").unwrap();
    assert_eq!(older, Resolved::default());
    let newer = r#"{"copy":"/home/a/Cairn/f (laptop).txt"}"#;
    assert_eq!(serde_json::from_str::<Done>(newer).unwrap(), Done {});
}
