//! A disk that takes `a` and `A` for one name, such as a memory stick with FAT, beside one that doesn't.

use cairn_model::ProblemCode;
use cairn_sim::device::{Device, path};
use cairn_sim::requests::{listen, take_requests};
use cairn_sim::time::{pass, simulate};
use cairn_sim::world::{World, tree_of};
use std::time::Duration;

/// Paths with the texts of files; a folder has none.
fn texts(device: &Device) -> Vec<(String, Option<String>)> {
    tree_of(device)
        .into_iter()
        .map(|(path, bytes)| {
            let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            (path, text)
        })
        .collect()
}

fn files(files: &[(&str, &str)]) -> Vec<(String, Option<String>)> {
    files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), Some((*text).to_owned())))
        .collect()
}

fn clashes(device: &Device) -> Vec<String> {
    device.problems(ProblemCode::NameClash)
}

/// Runs a test in a world of two devices, the second of which ignores case: once with one inode for a file, and once
/// with another one for each spelling of its name.
fn both(test: impl AsyncFn(World)) {
    for numbers_spellings in [false, true] {
        simulate(async {
            let world = World::new(1, 2).await;
            world.devices[1].disk.ignore_case();
            if numbers_spellings {
                world.devices[1].disk.number_spellings();
            }
            test(world).await;
        });
    }
}

fn rename(device: &Device, from: &str, to: &str) {
    device.user(from, |files, path| {
        files.rename(path, &path.with_file_name(to))
    });
}

#[test]
fn a_new_spelling_comes_and_goes_without_a_transfer() {
    both(async |mut world| {
        world.devices[0].write("abc/test/t", b"t");
        world.devices[0].write("a1", b"a");
        world.settle().await.expect("calm");
        let before: Vec<u64> = world.devices.iter().map(Device::transfers).collect();
        rename(&world.devices[0], "abc/test", "TEST");
        rename(&world.devices[0], "abc", "ABC");
        rename(&world.devices[0], "a1", "A1");
        world.settle().await.expect("calm");
        let spelled = [
            ("A1".to_owned(), Some("a".to_owned())),
            ("ABC".to_owned(), None),
            ("ABC/TEST".to_owned(), None),
            ("ABC/TEST/t".to_owned(), Some("t".to_owned())),
        ];
        assert_eq!(texts(&world.devices[1]), spelled);
        rename(&world.devices[1], "A1", "a1");
        rename(&world.devices[1], "ABC/TEST", "Test");
        rename(&world.devices[1], "ABC", "Abc");
        world.settle().await.expect("calm");
        let spelled = [
            ("Abc".to_owned(), None),
            ("Abc/Test".to_owned(), None),
            ("Abc/Test/t".to_owned(), Some("t".to_owned())),
            ("a1".to_owned(), Some("a".to_owned())),
        ];
        assert_eq!(texts(&world.devices[0]), spelled);
        let after: Vec<u64> = world.devices.iter().map(Device::transfers).collect();
        assert_eq!(before, after);
    });
}

#[test]
fn of_two_files_that_differ_by_case_one_waits_and_none_is_lost() {
    both(async |mut world| {
        world.devices[0].write("README", b"upper");
        world.devices[0].write("Readme", b"title");
        world.rest().await;
        let both = files(&[("README", "upper"), ("Readme", "title")]);
        assert_eq!(texts(&world.devices[0]), both);
        let here = texts(&world.devices[1]);
        assert_eq!(here.len(), 1, "{here:?}");
        let (held, other) = if here[0].0 == "README" {
            ("Readme", "README")
        } else {
            ("README", "Readme")
        };
        assert_eq!(clashes(&world.devices[1]), [held]);
        assert_eq!(clashes(&world.devices[0]), [""; 0]);

        // What waits moves nothing, and the other one works as ever.
        let received = listen(&world.devices[1]);
        pass(Duration::from_secs(3600)).await;
        assert_eq!(take_requests(&received), [""; 0]);
        world.devices[1].write(other, b"edited");
        world.rest().await;
        assert_eq!(
            tree_of(&world.devices[0])[other].as_deref(),
            Some(&b"edited"[..])
        );
        world.devices[0].write(held, b"edited too");
        world.rest().await;
        assert_eq!(texts(&world.devices[1]), files(&[(other, "edited")]));

        // Another name brings it.
        rename(&world.devices[0], held, "third");
        world.settle().await.expect("calm");
        assert_eq!(
            texts(&world.devices[1]),
            files(&[(other, "edited"), ("third", "edited too")])
        );
        assert_eq!(clashes(&world.devices[1]), [""; 0]);
    });
}

#[test]
fn what_waits_for_its_name_comes_when_the_other_one_goes() {
    both(async |mut world| {
        world.devices[0].write("README", b"upper");
        world.rest().await;
        world.devices[0].write("Readme", b"title");
        world.rest().await;
        assert_eq!(texts(&world.devices[1]), files(&[("README", "upper")]));
        world.devices[0].user("README", |files, path| files.remove(path).map(drop));
        world.settle().await.expect("calm");
        assert_eq!(texts(&world.devices[1]), files(&[("Readme", "title")]));
    });
}

#[test]
fn deleting_what_waits_deletes_nothing_else() {
    both(async |mut world| {
        world.devices[0].write("README", b"upper");
        world.rest().await;
        world.devices[0].write("Readme", b"title");
        world.rest().await;
        world.devices[0].user("Readme", |files, path| files.remove(path).map(drop));
        world.settle().await.expect("calm");
        for device in &world.devices {
            assert_eq!(texts(device), files(&[("README", "upper")]));
        }
    });
}

#[test]
fn files_made_on_both_sides_with_names_that_differ_by_case_stay_both() {
    both(async |mut world| {
        world.settle().await.expect("calm");
        world.devices[0].write("README", b"upper");
        world.devices[1].write("Readme", b"title");
        world.rest().await;
        assert_eq!(
            texts(&world.devices[0]),
            files(&[("README", "upper"), ("Readme", "title")])
        );
        assert_eq!(texts(&world.devices[1]), files(&[("Readme", "title")]));
        assert_eq!(clashes(&world.devices[1]), ["README"]);
    });
}

#[test]
fn folders_that_differ_by_case_are_not_mixed() {
    both(async |mut world| {
        world.devices[0].write("dir/one", b"1");
        world.rest().await;
        world.devices[0].write("DIR/two", b"2");
        world.devices[0].write("DIR/one", b"3");
        world.rest().await;
        let first = [
            ("dir".to_owned(), None),
            ("dir/one".to_owned(), Some("1".to_owned())),
        ];
        assert_eq!(texts(&world.devices[1]), first);
        assert_eq!(clashes(&world.devices[1]), ["DIR"]);
        let all = texts(&world.devices[0]);
        assert_eq!(all.len(), 5, "{all:?}");
        rename(&world.devices[0], "dir", "other");
        world.settle().await.expect("calm");
        assert_eq!(texts(&world.devices[1]), texts(&world.devices[0]));
    });
}

#[test]
fn names_that_change_places_by_case_arrive() {
    both(async |mut world| {
        world.devices[0].write("README", b"upper");
        world.devices[0].write("x", b"x");
        world.settle().await.expect("calm");
        rename(&world.devices[0], "README", "y");
        rename(&world.devices[0], "x", "Readme");
        world.settle().await.expect("calm");
        for device in &world.devices {
            assert_eq!(texts(device), files(&[("Readme", "x"), ("y", "upper")]));
        }
    });
}

/// Settles two devices that have these files, and lets the second one meet at once all that the first one does then.
async fn at_once(world: &mut World, files: &[&str], changes: impl FnOnce(&Device)) {
    for below in files {
        world.devices[0].write(below, below.as_bytes());
    }
    world.settle().await.expect("calm");
    world.devices[1].kill(false).await;
    changes(&world.devices[0]);
    assert!(world.devices[0].settle().await);
    world.settle().await.expect("calm");
    assert_eq!(world.devices[1].transfers(), 0, "nothing is fetched again");
}

#[test]
fn files_that_exchange_their_names_in_other_spellings_arrive() {
    both(async |mut world| {
        let circle = |device: &Device| {
            rename(device, "a", "t");
            rename(device, "b", "A");
            rename(device, "c", "b");
            rename(device, "t", "C");
        };
        at_once(&mut world, &["a", "b", "c"], circle).await;
        let moved = files(&[("A", "b"), ("C", "a"), ("b", "c")]);
        assert_eq!(texts(&world.devices[1]), moved);
    });
}

#[test]
fn a_file_moves_into_a_new_folder_that_has_its_name_in_another_spelling() {
    both(async |mut world| {
        let into_folder = |device: &Device| {
            rename(device, "A", "t");
            device.user("a", |files, path| files.mkdir(path));
            device.user("t", |files, from| files.rename(from, &path("a/B")));
        };
        at_once(&mut world, &["A"], into_folder).await;
        assert_eq!(texts(&world.devices[1]), texts(&world.devices[0]));
    });
}

#[test]
fn a_file_takes_the_name_of_its_deleted_folder_in_another_spelling() {
    both(async |mut world| {
        let out_of_folder = |device: &Device| {
            device.user("a/x", |files, from| files.rename(from, &path("t")));
            device.user("a", |files, path| files.remove(path).map(drop));
            rename(device, "t", "A");
        };
        at_once(&mut world, &["a/x", "a/y"], out_of_folder).await;
        assert_eq!(texts(&world.devices[1]), files(&[("A", "a/x")]));
    });
}

#[test]
fn what_cannot_have_its_name_after_an_exchange_elsewhere_keeps_no_temporary_one() {
    for (name, other) in [("README", "Readme"), ("Readme", "README")] {
        both(async |mut world| {
            world.devices[0].write("third", b"third");
            world.settle().await.expect("calm");
            world.devices[0].write(name, b"first");
            world.settle().await.expect("calm");
            rename(&world.devices[0], "third", other);
            world.rest().await;
            let waits = [(name, "first"), ("third", "third")];
            assert_eq!(texts(&world.devices[1]), files(&waits));

            rename(&world.devices[0], name, "aside");
            rename(&world.devices[0], other, name);
            rename(&world.devices[0], "aside", other);
            world.rest().await;
            let mut exchanged = files(&[(name, "third"), (other, "first")]);
            exchanged.sort();
            assert_eq!(texts(&world.devices[0]), exchanged);
            let is_hidden = |(name, _): &(String, _)| name.starts_with('.');
            assert!(!texts(&world.devices[1]).iter().any(is_hidden));

            // A name that differs by more than case brings both.
            rename(&world.devices[0], name, "third");
            world.settle().await.expect("calm");
            let mut apart = files(&[("third", "third"), (other, "first")]);
            apart.sort();
            assert_eq!(texts(&world.devices[1]), apart);
        });
    }
}
