//! Objects of a signed log whose bytes went bad, and what a backup has of a log.

use super::*;
use cairn_server::Options;
use std::path::{Path, PathBuf};

/// The files of all objects in a data directory.
fn files(data: &Path) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(data.join("objects")).unwrap();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
    files.map(|file| file.unwrap().path()).collect()
}

fn stored_world(data: &Path) -> World {
    World::with(Options {
        data: data.to_owned(),
        ..Options::default()
    })
}

fn object(id: u8) -> String {
    format!("objects/{}", hex::encode([id; 32]))
}

/// A team's log with one file; the owner's client and the member's.
async fn team_with_file(world: &World) -> (Client, Client) {
    let page: Page<Team> = world.owner().get("/api/v1/teams").await.ok();
    let space = page.content[0].space_id;
    let as_team = |caller: Caller| Client { caller, space };
    let (owner, member) = (as_team(world.owner()), as_team(world.member()));
    let mut writer = owner.found_space().await;
    owner.put(1, b"sealed").await.done(204);
    let file = bytes(writer.file(node(1), "a.txt", [1; 32]));
    owner.write(&mut writer, vec![file]).await;
    (owner, member)
}

#[tokio::test]
async fn a_damaged_object_is_gone_until_somebody_sends_it_again() {
    for is_missing in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let world = stored_world(dir.path());
        let (owner, member) = team_with_file(&world).await;
        let [file] = &files(dir.path())[..] else {
            panic!("one object is stored");
        };
        if is_missing {
            std::fs::remove_file(file).unwrap();
        } else {
            std::fs::write(file, b"SEALED").unwrap();
        }
        let message = member.get(&object(1)).await.failed(410);
        assert!(message.contains("send it again"), "{message}");
        assert!(!member.has(1, b"sealed").await, "it is asked for");
        member.put(1, b"other").await.failed(409);
        // Who has the same bytes heals it, whoever sent it first.
        member.put(1, b"sealed").await.done(204);
        assert!(owner.has(1, b"sealed").await);
        assert_eq!(owner.get(&object(1)).await.body, "sealed");
        let checked = world.app.check(true).await.unwrap();
        assert_eq!(checked.problems, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_check_that_reads_finds_what_is_damaged_and_has_it_sent_again() {
    let dir = tempfile::tempdir().unwrap();
    let world = stored_world(dir.path());
    let (owner, _) = team_with_file(&world).await;
    for file in files(dir.path()) {
        std::fs::write(file, b"SEALED").unwrap();
    }
    let checked = world.app.check(false).await.unwrap();
    assert_eq!(checked.problems, Vec::<String>::new());
    assert!(owner.has(1, b"sealed").await);
    let checked = world.app.check(true).await.unwrap();
    assert_eq!(checked.problems.len(), 1, "{:?}", checked.problems);
    assert!(checked.problems[0].contains("other bytes"));
    assert!(!owner.has(1, b"sealed").await);
    owner.put(1, b"sealed").await.done(204);
    let checked = world.app.check(true).await.unwrap();
    assert_eq!(checked.problems, Vec::<String>::new());
}

#[tokio::test]
async fn a_backup_has_a_log_with_its_objects() {
    let dir = tempfile::tempdir().unwrap();
    let [data, copy, restored] = ["data", "copy", "restored"].map(|name| dir.path().join(name));
    let world = stored_world(&data);
    let (owner, _) = team_with_file(&world).await;
    let before = owner.page(0).await;
    let made = world.app.backup(&copy).unwrap();
    assert_eq!(made.objects, 1);
    owner.put(2, b"later").await.done(204);
    drop(world);
    cairn_server::restore(&copy, &restored).unwrap();
    let world = stored_world(&restored);
    let checked = world.app.check(true).await.unwrap();
    assert_eq!((checked.problems, checked.objects), (Vec::new(), 1));
    let owner = Client {
        caller: world.owner(),
        space: owner.space,
    };
    let page = owner.page(0).await;
    assert_eq!(
        (page.size, page.root, page.restored_to),
        (before.size, before.root, before.size)
    );
    assert_ne!(page.history, before.history);
    assert_eq!(owner.get(&object(1)).await.body, "sealed");
    owner.get(&object(2)).await.failed(404);
}
