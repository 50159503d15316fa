//! Paths that can mean one file, several, or none.

use super::*;
use cairn_control::{FolderStatus, TeamSpace};
use cairn_model::{SpaceId, TeamId};
use serde_json::json;

fn team(n: u8, name: &str) -> Team {
    let id = |n| SpaceId::from_random_bytes([n; 16]);
    let team = json!({
        "id": id(n), "name": name, "role": "owner", "owner_id": id(99), "owner_name": "Ada",
        "member_count": 1, "space_id": id(n), "key_epoch": 1,
        "created_at": "2026-11-22T03:05:53.123Z",
    });
    serde_json::from_value(team).unwrap()
}

fn in_team(n: u8, path: &str) -> Place {
    Place {
        space: Some(SpaceId::from_random_bytes([n; 16])),
        path: path.to_owned(),
    }
}

fn own(path: &str) -> Place {
    Place {
        space: None,
        path: path.to_owned(),
    }
}

fn synced(dir: &std::path::Path, space: Option<TeamSpace>) -> SyncedFolders {
    let folder = FolderStatus {
        local: dir.to_str().unwrap().to_owned(),
        remote: "/".to_owned(),
        space,
        ..FolderStatus::default()
    };
    SyncedFolders {
        folders: vec![folder],
        foreign: None,
        is_unknown: false,
    }
}

#[test]
fn a_path_in_a_team_that_is_also_one_of_this_machine_is_not_shown() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let (teams, shown) = ([team(1, "Dev Team")], "Dev Team/budget.txt");
    let place = in_team(1, "/budget.txt");
    let folders = synced(&top, None);
    assert!(is_unmistakable(&folders, &teams, &place, shown));
    std::fs::create_dir(top.join("Dev Team")).unwrap();
    std::fs::write(top.join(shown), "private").unwrap();
    assert!(!is_unmistakable(&folders, &teams, &place, shown));
    // The folder of the team itself is the same file.
    let space = TeamSpace {
        id: SpaceId::from_random_bytes([1; 16]),
        team: TeamId::from_random_bytes([1; 16]),
        name: "Dev Team".to_owned(),
    };
    let of_team = synced(&top.join("Dev Team"), Some(space));
    let both = SyncedFolders {
        folders: [folders.folders, of_team.folders].concat(),
        foreign: None,
        is_unknown: false,
    };
    assert!(is_unmistakable(&both, &teams, &place, shown));
}

#[test]
fn a_path_on_the_service_below_a_synced_folder_of_this_machine_is_not_shown() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let folders = synced(&top, None);
    let shown = top.join("notes.txt").to_str().unwrap().to_owned();
    assert!(!is_unmistakable(&folders, &[], &own(&shown), &shown));
    assert!(is_unmistakable(&folders, &[], &own("/docs/a"), "/docs/a"));
}

#[test]
fn a_team_whose_name_reads_as_another_path_has_none() {
    let teams = [
        team(1, "Ops"),
        team(2, "Ops/EU"),
        team(3, "/x"),
        team(4, "Five"),
        team(5, "Five"),
    ];
    let none = SyncedFolders::default();
    for (n, path, shown, is_shown) in [
        (1, "/a", "Ops/a", true),
        (1, "/EU/a", "Ops/EU/a", false),
        (2, "/a", "Ops/EU/a", false),
        (3, "/a", "/x/a", false),
        (4, "/a", "Five/a", false),
    ] {
        let place = in_team(n, path);
        assert_eq!(
            is_unmistakable(&none, &teams, &place, shown),
            is_shown,
            "{shown}"
        );
    }
}

fn meaning(place: Place, local: Option<&str>, found: Found) -> Meaning {
    Meaning {
        team: place.space.map(|_| "Dev Team".to_owned()),
        place,
        local: local.map(PathBuf::from),
        found,
    }
}

#[test]
fn a_path_that_can_mean_two_files_is_refused_with_both() {
    let given = "Dev Team/a.txt";
    let synced = SyncedFolders::default();
    let chosen = |found| {
        let in_team = meaning(in_team(1, "/a.txt"), None, found);
        let local = meaning(
            own("/Dev Team/a.txt"),
            Some("/nowhere/Dev Team/a.txt"),
            Found::Root,
        );
        choose(given, &synced, vec![in_team, local])
    };
    let refused = chosen(Found::Root).err().unwrap().to_string();
    for part in [
        "`a.txt` in the team `Dev Team`",
        "`/nowhere/Dev Team/a.txt` on this machine",
        "give the id",
    ] {
        assert!(refused.contains(part), "{refused}");
    }
    let one = chosen(Found::Nothing).unwrap();
    assert_eq!(one.place, own("/Dev Team/a.txt"));
    let nothing = vec![meaning(own("/a"), None, Found::Nothing)];
    assert_eq!(choose("/a", &synced, nothing).unwrap().place, own("/a"));
    assert!(choose("a/b", &synced, Vec::new()).is_err());
}

#[test]
fn two_teams_of_one_name_are_named_with_their_ids() {
    let tops = [1, 2].map(|n| meaning(in_team(n, "/"), None, Found::Root));
    let chosen = choose("Dev Team/", &SyncedFolders::default(), tops.into());
    let refused = chosen.err().unwrap().to_string();
    for n in [1, 2] {
        let space = in_team(n, "/").space.unwrap();
        let part = format!("the top of the team `Dev Team` (id {space})");
        assert!(refused.contains(&part), "{refused}");
    }
}
