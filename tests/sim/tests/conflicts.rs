//! Conflicts, resolved on the device that made the copy and on one that only received it.

use cairn_engine::{EngineError, EngineHandle};
use cairn_model::{Keep, RelPath};
use cairn_sim::device::{Device, path};
use cairn_sim::time::simulate;
use cairn_sim::world::{World, tree_of};

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

fn engine(world: &World, at: usize) -> &EngineHandle {
    world.devices[at].engine().expect("it runs")
}

/// Two devices that were edited apart: the first in these versions, one after the other, the second in
/// one. The second makes the conflict copy.
async fn conflicted_world(first: &[&str], second: &str) -> World {
    conflicted_among(2, first, second).await
}

/// The same with so many devices; those after the second only receive.
async fn conflicted_among(devices: usize, first: &[&str], second: &str) -> World {
    let mut world = World::new(1, devices).await;
    world.devices[0].write("f", LINES.as_bytes());
    world.settle().await.expect("calm");
    world.devices[1].kill(false).await;
    for version in first {
        world.devices[0].write("f", version.as_bytes());
        assert!(world.devices[0].settle().await);
    }
    world.devices[1].write("f", second.as_bytes());
    world.settle().await.expect("calm");
    world
}

async fn resolve(world: &World, at: usize, keep: Keep) -> Result<Option<RelPath>, EngineError> {
    let path = RelPath::parse("f").expect("a path");
    engine(world, at).resolve(None, path, keep).await
}

/// Returns the text of the only file that a device has.
fn only_file(device: &Device) -> String {
    let tree = tree_of(device);
    assert_eq!(tree.keys().collect::<Vec<_>>(), ["f"]);
    let content = tree["f"].clone().expect("a file");
    String::from_utf8(content).expect("text")
}

#[test]
fn a_save_with_a_backup_is_an_edit_and_conflicts_with_that_of_another_device() {
    simulate(async {
        let mut world = World::new(1, 2).await;
        world.devices[0].write("f", b"old");
        world.settle().await.expect("calm");
        world.devices[1].kill(false).await;
        world.devices[0].user("f", |files, path| {
            files.rename(path, &path.with_file_name("f~"))?;
            files.write(path, b"mine")
        });
        assert!(world.devices[0].settle().await);
        world.devices[1].write("f", b"theirs");
        world.settle().await.expect("calm");
        for (at, device) in world.devices.iter().enumerate() {
            let tree = tree_of(device);
            let has = |name: &str, text: &str| tree[name] == Some(text.as_bytes().to_vec());
            assert!(has("f~", "old"), "{tree:?}");
            assert_eq!(tree.len(), 3, "{tree:?}");
            for text in ["mine", "theirs"] {
                let wanted = Some(text.as_bytes().to_vec());
                assert!(tree.values().any(|found| *found == wanted), "{tree:?}");
            }
            let open = engine(&world, at).conflicts().expect("the index answers");
            assert_eq!(open.len(), 1, "the person is told");
        }
    });
}

#[test]
fn mine_is_the_version_of_the_device_that_is_asked() {
    simulate(async {
        for (at, keep, kept) in [
            (0, Keep::Mine, "first"),
            (0, Keep::Theirs, "second"),
            (1, Keep::Mine, "second"),
            (1, Keep::Theirs, "first"),
            (0, Keep::Copy, "second"),
            (0, Keep::Original, "first"),
            (1, Keep::Copy, "second"),
            (1, Keep::Original, "first"),
        ] {
            let mut world = conflicted_world(&["first"], "second").await;
            let open = engine(&world, at).conflicts().expect("the index answers");
            assert_eq!(open.len(), 1);
            let facts = (open[0].copy_device.as_str(), open[0].copy_made_here);
            assert_eq!(facts, ("d1", Some(at == 1)));
            resolve(&world, at, keep).await.expect("it is known");
            world.settle().await.expect("calm");
            for device in &world.devices {
                assert_eq!(only_file(device), kept, "{keep} on {at}");
            }
        }
    });
}

#[test]
fn on_a_device_that_made_neither_version_none_is_its_own() {
    simulate(async {
        let world = conflicted_among(3, &["first"], "second").await;
        let open = engine(&world, 2).conflicts().expect("the index answers");
        assert_eq!(open[0].copy_made_here, Some(false));
        for keep in [Keep::Mine, Keep::Theirs] {
            let refused = resolve(&world, 2, keep).await;
            let is_asked = matches!(refused, Err(EngineError::WhoseCopy(_)));
            assert!(is_asked, "{keep}: {refused:?}");
        }
        assert_eq!(tree_of(&world.devices[2]).len(), 2, "both are still there");
    });
}

#[test]
fn keeping_both_ends_the_conflict_on_every_device() {
    simulate(async {
        for at in [0, 1] {
            let mut world = conflicted_world(&["first"], "second").await;
            let open = engine(&world, at).conflicts().expect("the index answers");
            let plain = open[0].copy.name().expect("a name").without_copy_mark();
            let renamed = resolve(&world, at, Keep::Both).await.expect("it is known");
            let plain_path = RelPath::parse(plain.as_str()).expect("a path");
            assert_eq!(renamed, Some(plain_path));
            world.settle().await.expect("calm");
            for (number, device) in world.devices.iter().enumerate() {
                let tree = tree_of(device);
                let content = |name: &str| tree.get(name).cloned().flatten();
                assert_eq!(content("f").as_deref(), Some(b"first".as_slice()));
                let kept = content(plain.as_str());
                assert_eq!(kept.as_deref(), Some(b"second".as_slice()));
                assert_eq!(tree.len(), 2, "resolved on {at}, device {number}");
                let open = engine(&world, number).conflicts();
                assert_eq!(open.expect("the index answers"), []);
            }
        }
    });
}

#[test]
fn a_merge_begins_with_what_both_were_made_from() {
    simulate(async {
        let (one, two) = (
            LINES.replace('1', "one"),
            LINES.replace('1', "one").replace('5', "five"),
        );
        let other = LINES.replace('9', "nine");
        let mut world = conflicted_world(&[&one, &two], &other).await;
        // The first device has never heard of that version.
        let refused = resolve(&world, 0, Keep::Merge).await;
        assert!(
            matches!(refused, Err(EngineError::NoMerge { .. })),
            "{refused:?}"
        );
        resolve(&world, 1, Keep::Merge)
            .await
            .expect("no line is changed twice");
        world.settle().await.expect("calm");
        for device in &world.devices {
            assert_eq!(only_file(device), two.replace('9', "nine"));
        }
    });
}

#[test]
fn a_file_that_lost_its_new_name_is_a_conflict_on_every_device() {
    simulate(async {
        let mut world = World::new(1, 3).await;
        world.devices[0].write("m", b"moved");
        world.settle().await.expect("calm");
        world.devices[1].kill(false).await;
        world.devices[0].write("n", b"new");
        assert!(world.devices[0].settle().await);
        world.devices[1].user("n", |files, to| files.rename(&path("m"), to));
        world.settle().await.expect("calm");
        for at in 0..3 {
            let open = engine(&world, at).conflicts().expect("the index answers");
            let facts: Vec<_> = open
                .iter()
                .map(|one| (one.path.to_string(), one.copy_device.as_str()))
                .collect();
            assert_eq!(facts, [("n".to_owned(), "d1")], "device {at}");
        }
    });
}
