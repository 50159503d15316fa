//! Rules files in the directories of a folder: they count there and below, on every device.

use cairn_model::ProblemCode;
use cairn_sim::device::path;
use cairn_sim::time::{pass, simulate};
use cairn_sim::world::{World, tree_of};
use std::collections::BTreeSet;
use std::time::Duration;

/// The names of everything that the service has.
async fn on_the_service(world: &World) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut after = None;
    loop {
        let page = world.api.snapshot(after.as_deref()).await.expect("a page");
        names.extend(page.nodes.into_iter().map(|node| node.name));
        after = page.next;
        if after.is_none() {
            return names;
        }
    }
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Lets all devices work until nothing is left to do.
async fn work(world: &mut World) {
    for _ in 0..3 {
        for device in &mut world.devices {
            device.start();
            assert!(device.settle().await, "{} comes to rest", device.name);
        }
    }
}

/// A service with rules in a directory, and a second device with files that they forbid, not running yet.
async fn before_joining() -> World {
    let mut world = World::new(1, 2).await;
    world.devices[0].write("sub/.cairnignore", b"*.key\nout/\n");
    world.devices[0].start();
    assert!(world.devices[0].settle().await);
    for name in [
        "sub/id.key",
        "sub/out/m",
        "sub/deep/x.key",
        "sub/doc",
        "top.key",
    ] {
        world.devices[1].write(name, name.as_bytes());
    }
    world
}

const JOINED: &[&str] = &[".cairnignore", "deep", "doc", "sub", "top.key"];

/// The problems that a device reports of a path.
fn problems(world: &World, at: usize, path: &str) -> Vec<ProblemCode> {
    let status = world.devices[at].engine().expect("it runs").status();
    let errors = status.folders[0].errors.iter();
    errors
        .filter(|problem| problem.path == path)
        .map(|problem| problem.code)
        .collect()
}

#[test]
fn a_device_that_joins_sends_nothing_that_shared_rules_in_a_directory_forbid() {
    simulate(async {
        let mut world = before_joining().await;
        work(&mut world).await;
        assert_eq!(on_the_service(&world).await, names(JOINED));
        let tree = tree_of(&world.devices[1]);
        for kept in ["sub/id.key", "sub/out/m", "sub/deep/x.key"] {
            assert!(tree.contains_key(kept), "{tree:?}");
        }
    });
}

#[test]
fn a_device_that_joins_can_not_bring_back_what_shared_rules_in_a_directory_forbid() {
    simulate(async {
        let mut world = before_joining().await;
        world.devices[1].write("sub/.cairnignore", b"!id.key\n");
        work(&mut world).await;
        let there = on_the_service(&world).await;
        for forbidden in ["id.key", "x.key", "out", "m"] {
            assert!(!there.contains(forbidden), "{there:?}");
        }
    });
}

#[test]
fn nothing_is_sent_as_long_as_shared_rules_in_a_directory_can_not_be_had() {
    simulate(async {
        let mut world = before_joining().await;
        world.devices[1]
            .line
            .lie(Some(Box::new(|path, status, body| {
                if path.contains("chunks") || path.contains("manifest") || path.contains("download")
                {
                    return (cairn_api::StatusCode::FORBIDDEN, bytes::Bytes::new());
                }
                (status, body)
            })));
        world.devices[1].start();
        pass(Duration::from_secs(60)).await;
        let there = on_the_service(&world).await;
        assert_eq!(there, names(&[".cairnignore", "sub"]));
        assert!(!problems(&world, 1, "sub/.cairnignore").is_empty());

        world.devices[1].line.lie(None);
        assert!(world.devices[1].settle().await);
        assert_eq!(on_the_service(&world).await, names(JOINED));
    });
}

#[test]
fn rules_in_a_directory_delete_nothing_and_what_they_left_out_syncs_without_them() {
    simulate(async {
        let mut world = World::new(2, 2).await;
        let files = ["sub/x.log", "sub/deep/y.log", "sub/doc", "z.log"];
        for name in files {
            world.devices[0].write(name, name.as_bytes());
        }
        world.settle().await.expect("calm");
        world.devices[0].write("sub/.cairnignore", b"*.log\n");
        work(&mut world).await;
        for device in &world.devices {
            let tree = tree_of(device);
            assert!(
                files.iter().all(|name| tree.contains_key(*name)),
                "{tree:?}"
            );
        }
        let there = on_the_service(&world).await;
        assert!(
            there.contains("x.log") && there.contains("y.log"),
            "{there:?}"
        );

        world.devices[0].write("sub/deep/y.log", b"edited");
        world.devices[0].write("z.log", b"edited");
        work(&mut world).await;
        let tree = tree_of(&world.devices[1]);
        assert_eq!(tree["sub/deep/y.log"], Some(b"sub/deep/y.log".to_vec()));
        assert_eq!(tree["z.log"], Some(b"edited".to_vec()));

        world.devices[1].write("sub/.cairnignore", b"# none\n");
        world.settle().await.expect("calm");
        let tree = tree_of(&world.devices[1]);
        assert_eq!(tree["sub/deep/y.log"], Some(b"edited".to_vec()));
        assert!(
            files.iter().all(|name| tree.contains_key(*name)),
            "{tree:?}"
        );
    });
}

#[test]
fn what_rules_forbid_stays_unsent_when_another_device_deletes_their_folder() {
    simulate(async {
        let mut world = World::new(5, 2).await;
        world.devices[0].write("sub/.cairnignore", b"*.key\n");
        world.devices[0].write("sub/deep/doc", b"doc");
        world.settle().await.expect("calm");
        world.devices[1].write("sub/id.key", b"secret");
        world.devices[1].write("sub/deep/id2.key", b"secret");
        work(&mut world).await;
        world.devices[0].user("sub", |files, path| files.remove(path).map(drop));
        work(&mut world).await;
        // Not even the empty folder comes back.
        assert_eq!(on_the_service(&world).await, names(&[]));
        assert!(tree_of(&world.devices[0]).is_empty());
        let tree = tree_of(&world.devices[1]);
        assert_eq!(tree["sub/id.key"], Some(b"secret".to_vec()));
        assert_eq!(tree["sub/deep/id2.key"], Some(b"secret".to_vec()));

        // Once what kept it has gone, the folder goes, too.
        for left in ["sub/id.key", "sub/deep/id2.key"] {
            world.devices[1].user(left, |files, path| files.remove(path).map(drop));
        }
        world.devices[1].kill(false).await;
        work(&mut world).await;
        let tree = tree_of(&world.devices[1]);
        assert!(tree.is_empty(), "{tree:?}");
    });
}

/// A folder with rules that one device has just deleted, while another one has a file in it that they forbid.
async fn after_deleting() -> World {
    let mut world = World::new(5, 2).await;
    world.devices[0].write("sub/.cairnignore", b"*.key\n");
    world.devices[0].write("sub/doc", b"doc");
    world.settle().await.expect("calm");
    world.devices[1].write("sub/id.key", b"secret");
    work(&mut world).await;
    world.devices[0].user("sub", |files, path| files.remove(path).map(drop));
    world
}

#[test]
fn a_folder_that_stays_for_what_rules_forbid_meets_a_new_one_of_its_name() {
    simulate(async {
        let mut world = after_deleting().await;
        work(&mut world).await;
        world.devices[0].write("sub/new", b"new");
        work(&mut world).await;
        let there = on_the_service(&world).await;
        assert_eq!(there, names(&[".cairnignore", "new", "sub"]));
        let tree = tree_of(&world.devices[1]);
        assert_eq!(tree["sub/new"], Some(b"new".to_vec()));
        assert_eq!(tree["sub/id.key"], Some(b"secret".to_vec()));
    });
}

#[test]
fn rules_stay_with_a_folder_that_is_kept_for_an_edit_although_it_was_deleted_elsewhere() {
    simulate(async {
        let mut world = after_deleting().await;
        world.devices[1].write("sub/doc", b"edited");
        work(&mut world).await;
        let there = on_the_service(&world).await;
        assert_eq!(there, names(&[".cairnignore", "doc", "sub"]));
        let tree = tree_of(&world.devices[0]);
        assert_eq!(tree["sub/doc"], Some(b"edited".to_vec()));
        assert_eq!(tree["sub/.cairnignore"], Some(b"*.key\n".to_vec()));
    });
}

#[test]
fn rules_that_are_deleted_on_one_device_end_on_all() {
    simulate(async {
        let mut world = World::new(3, 2).await;
        world.devices[0].write("sub/.cairnignore", b"*.log\n");
        world.devices[0].write("sub/doc", b"doc");
        world.settle().await.expect("calm");
        world.devices[0].write("sub/x.log", b"x");
        world.devices[1].write("sub/y.log", b"y");
        work(&mut world).await;
        assert!(!tree_of(&world.devices[1]).contains_key("sub/x.log"));
        world.devices[0].user("sub/.cairnignore", |files, path| {
            files.remove(path).map(drop)
        });
        world.settle().await.expect("calm");
        let tree = tree_of(&world.devices[0]);
        assert!(tree.contains_key("sub/y.log"), "{tree:?}");
        assert!(!tree.contains_key("sub/.cairnignore"), "{tree:?}");
    });
}

#[test]
fn rules_move_with_their_directory() {
    simulate(async {
        let mut world = World::new(4, 2).await;
        world.devices[0].write("sub/.cairnignore", b"*.log\n");
        world.devices[0].write("sub/doc", b"doc");
        world.settle().await.expect("calm");
        world.devices[0].write("sub/x.log", b"x");
        world.devices[1].write("sub/y.log", b"y");
        work(&mut world).await;
        world.devices[0].user("sub", |files, from| files.rename(from, &path("new")));
        work(&mut world).await;
        let there = on_the_service(&world).await;
        assert_eq!(there, names(&[".cairnignore", "doc", "new"]));
        let (here, other) = (tree_of(&world.devices[0]), tree_of(&world.devices[1]));
        assert!(here.contains_key("new/x.log"), "{here:?}");
        assert!(other.contains_key("new/y.log"), "{other:?}");

        world.devices[0].write("sub/x.log", b"another");
        world.devices[1].write("new/.cairnignore", b"# none\n");
        world.settle().await.expect("calm");
        let tree = tree_of(&world.devices[1]);
        for name in ["new/x.log", "new/y.log", "sub/x.log"] {
            assert!(tree.contains_key(name), "{tree:?}");
        }
    });
}

#[test]
fn rules_in_a_directory_that_can_not_be_read_go_on_as_they_were() {
    simulate(async {
        let mut world = World::new(5, 1).await;
        world.devices[0].write("sub/.cairnignore", b"*.key\n");
        world.devices[0].start();
        assert!(world.devices[0].settle().await);
        world.devices[0].kill(false).await;
        let rules = path("sub/.cairnignore");
        world.devices[0].disk.refuse(&rules, true);
        world.devices[0].write("sub/id.key", b"secret");
        world.devices[0].write("sub/doc", b"doc");
        world.devices[0].start();
        world.devices[0].settle().await;
        let there = on_the_service(&world).await;
        assert_eq!(there, names(&[".cairnignore", "doc", "sub"]));
        let found = problems(&world, 0, "sub/.cairnignore");
        assert_eq!(found, [ProblemCode::Unreadable]);

        world.devices[0].disk.refuse(&rules, false);
        assert!(world.devices[0].settle().await);
        assert_eq!(problems(&world, 0, "sub/.cairnignore"), []);
        assert!(!on_the_service(&world).await.contains("id.key"));
    });
}

#[test]
fn nothing_in_a_directory_is_sent_before_its_rules_could_be_read() {
    simulate(async {
        let mut world = World::new(6, 1).await;
        let rules = path("sub/.cairnignore");
        world.devices[0].disk.refuse(&rules, true);
        world.devices[0].write("sub/.cairnignore", b"*.key\n");
        world.devices[0].write("sub/id.key", b"secret");
        world.devices[0].write("sub/doc", b"doc");
        world.devices[0].write("top", b"top");
        world.devices[0].start();
        world.devices[0].settle().await;
        let there = on_the_service(&world).await;
        assert!(there.contains("top"), "{there:?}");
        assert!(
            !there.contains("id.key") && !there.contains("doc"),
            "{there:?}"
        );

        world.devices[0].disk.refuse(&rules, false);
        assert!(world.devices[0].settle().await);
        let there = on_the_service(&world).await;
        assert_eq!(there, names(&[".cairnignore", "doc", "sub", "top"]));
    });
}

#[test]
fn shared_rules_in_a_directory_that_are_too_large_let_nothing_be_sent() {
    simulate(async {
        let mut world = World::new(7, 2).await;
        world.devices[0].write("sub/.cairnignore", &vec![b'#'; 9 << 20]);
        world.devices[0].start();
        assert!(world.devices[0].settle().await);
        world.devices[1].write("sub/doc", b"doc");
        world.devices[1].start();
        pass(Duration::from_secs(30)).await;
        let there = on_the_service(&world).await;
        assert_eq!(there, names(&[".cairnignore", "sub"]));
        let found = problems(&world, 1, "sub/.cairnignore");
        assert_eq!(found, [ProblemCode::TooLarge]);

        world.devices[0].write("sub/.cairnignore", b"*.key\n");
        work(&mut world).await;
        assert!(on_the_service(&world).await.contains("doc"));
    });
}

#[test]
fn rules_count_after_a_start_before_the_disk_was_looked_at() {
    simulate(async {
        let mut world = World::new(8, 2).await;
        world.devices[0].write("sub/.cairnignore", b"*.key\n");
        world.settle().await.expect("calm");
        for at in 0..2 {
            world.devices[at].kill(false).await;
        }
        world.devices[1].write("sub/id.key", b"secret");
        world.devices[1].write("sub/deep/id.key", b"secret");
        work(&mut world).await;
        assert!(!on_the_service(&world).await.contains("id.key"));
    });
}

#[test]
fn what_a_rule_kept_away_comes_when_its_folder_leaves_the_rule() {
    simulate(async {
        let mut world = World::new(8, 2).await;
        world.devices[0].write("a/doc", b"doc");
        world.settle().await.expect("calm");
        let paused = |world: &World, at: usize, pauses: bool| {
            let engine = world.devices[at].engine().expect("it runs");
            let done = match pauses {
                true => engine.pause(None, None),
                false => engine.resume(None),
            };
            done.expect("the index takes it");
        };
        // The one has sent something in the folder before it knows the other's rule.
        paused(&world, 1, true);
        world.devices[1].write(".cairnignore", b"a\n");
        world.devices[0].user("a/b", |files, path| files.mkdir(path));
        assert!(world.devices[0].settle().await);
        paused(&world, 1, false);
        work(&mut world).await;
        assert!(!tree_of(&world.devices[1]).contains_key("a/b"));

        world.devices[1].user("a", |files, from| files.rename(from, &path("c")));
        world.devices[1].user("c", |_, _| Ok(()));
        world.calm().await.expect("calm");
        for device in &world.devices {
            let tree = tree_of(device);
            assert!(tree.contains_key("c/b"), "{}: {tree:?}", device.name);
        }
    });
}

#[test]
fn rules_that_a_device_moves_or_removes_for_another_one_end_here_without_a_hint() {
    simulate(async {
        let mut world = World::new(9, 2).await;
        world.devices[0].write("a/.cairnignore", b"*.key\n");
        world.devices[0].write("b/doc", b"doc");
        world.settle().await.expect("calm");
        for at in 0..2 {
            world.devices[at].write("a/id.key", b"mine");
        }
        world.calm().await.expect("calm");

        world.devices[0].user("a/.cairnignore", |files, path| files.remove(path));
        world.devices[0].write("a/new.key", b"new");
        world.calm().await.expect("calm");
        let tree = tree_of(&world.devices[1]);
        assert_eq!(tree["a/new.key"], Some(b"new".to_vec()), "{tree:?}");
    });
}
