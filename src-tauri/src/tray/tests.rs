//! The menu for each state.

use super::*;
use crate::view::{FolderView, SyncProgress};
use cairn_model::SyncMode;

fn view(state: SyncState) -> View {
    View {
        connection: ConnectionState::Up,
        state,
        headline: "headline".into(),
        folders: vec![FolderView {
            local: "/home/a/Cairn".into(),
            name: "Cairn".into(),
            remote: "/".into(),
            team: None,
            state,
            mode: SyncMode::TwoWay,
            pending: 0,
            files: 0,
            bytes: 0,
            problems: vec![],
            confirmations: vec![],
        }],
        ..View::default()
    }
}

fn labels(tray: &Tray) -> Vec<&str> {
    tray.entries
        .iter()
        .filter(|entry| entry.action != Action::Separator)
        .map(|entry| entry.label.as_str())
        .collect()
}

#[test]
fn the_menu_follows_the_state() {
    let tray_of = |view: &View| tray(view, &[], Language::En);
    let idle = tray_of(&view(SyncState::Idle));
    assert_eq!(
        labels(&idle),
        [
            "headline",
            "Open Cairn",
            "Open folder",
            "Recent files",
            "Pause",
            "Settings…",
            "Quit tray",
            "Stop sync and quit"
        ]
    );
    assert!(!idle.entries[0].enabled, "the status is no command");
    let paused = labels(&tray_of(&view(SyncState::Paused))).join("|");
    assert!(paused.contains("Resume") && !paused.contains("Pause"));
    let mut attention = view(SyncState::Attention);
    attention.attention = 2;
    assert!(labels(&tray_of(&attention)).contains(&"2 things need attention…"));
    let mut out = view(SyncState::Attention);
    out.connection = ConnectionState::LoggedOut;
    assert!(labels(&tray_of(&out)).contains(&"Log in…"));
}

#[test]
fn six_states_have_six_pictures_and_syncing_shows_progress() {
    let states = [
        SyncState::Idle,
        SyncState::Syncing,
        SyncState::Paused,
        SyncState::Offline,
        SyncState::Attention,
        SyncState::Error,
    ];
    let mut names: Vec<_> = states
        .iter()
        .map(|state| icon(&view(*state)).name())
        .collect();
    names.dedup();
    assert_eq!(names.len(), 6);
    let mut syncing = view(SyncState::Syncing);
    for (percent, name) in [
        (0, "syncing-0"),
        (30, "syncing-1"),
        (99, "syncing-3"),
        (100, "syncing-3"),
    ] {
        syncing.progress = Some(SyncProgress {
            percent,
            ..SyncProgress::default()
        });
        assert_eq!(icon(&syncing).name(), name);
    }
}

#[test]
fn an_action_is_found_by_its_id() {
    let view = view(SyncState::Idle);
    let recent = [Recent {
        name: "x".repeat(100),
        path: "/home/a/Cairn/x".into(),
    }];
    let tray = tray(&view, &recent, Language::De);
    let all = tray
        .entries
        .iter()
        .flat_map(|entry| entry.below.iter().chain([entry]));
    for entry in all {
        let action = &entry.action;
        if !matches!(action, Action::Submenu(_) | Action::Separator) {
            assert_eq!(Action::of_id(&action.id()).as_ref(), Some(action));
        }
        assert!(entry.label.chars().count() <= LABEL);
    }
    assert_eq!(Action::of_id("format-disk"), None);
}
