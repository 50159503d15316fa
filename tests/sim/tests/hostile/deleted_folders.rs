//! Deletions of folders by a hostile server, and strict devices: those that accept only changes that a device of the
//! account has authenticated.

use super::*;

fn remove(world: &World, below: &str) {
    world.devices[0].user(below, |files, path| files.remove(path).map(drop));
}

/// A strict device that is off, and the folder `d` with the folder `in` and the files `f`, `g` and `in/h`.
async fn strict_world_with_a_folder() -> World {
    let mut world = strict_world().await;
    for below in ["d/f", "d/g", "d/in/h"] {
        world.devices[0].write(below, b"1");
    }
    pass(&world).await;
    world.devices[1].kill(false).await;
    world
}

/// Starts the strict device, and checks what it has then.
async fn check_strict(world: &mut World, expected: &[&str]) {
    assert!(world.devices[0].settle().await, "the honest line settles");
    world.devices[1].start();
    pass(world).await;
    let names: Vec<String> = tree_of(&world.devices[1]).into_keys().collect();
    assert_eq!(names, expected);
}

#[test]
fn what_was_changed_in_a_folder_before_it_was_deleted_is_gone_and_nobody_is_accused() {
    simulate(async {
        let mut world = strict_world_with_a_folder().await;
        world.devices[0].write("d/f", b"2");
        world.devices[0].write("d/in/h", b"2");
        assert!(world.devices[0].settle().await);
        remove(&world, "d");
        check_strict(&mut world, &["f", "other"]).await;
        assert_eq!(problems(&world.devices[1]), []);
    });
}

#[test]
fn what_was_moved_into_a_folder_before_it_was_deleted_is_gone_and_nobody_is_accused() {
    simulate(async {
        let mut world = strict_world_with_a_folder().await;
        world.devices[0].user("d/new", |files, path| files.mkdir(path));
        rename(&world.devices[0], "other", "d/new/other");
        assert!(world.devices[0].settle().await);
        remove(&world, "d");
        check_strict(&mut world, &["f"]).await;
        assert_eq!(problems(&world.devices[1]), []);
        let held = world.devices[1].index().read(|db| db.unaccepted_nodes());
        assert_eq!(held.expect("the index answers"), []);
    });
}

#[test]
fn a_folder_whose_deletion_comes_pages_later_vouches_for_what_went_with_it() {
    simulate(async {
        let mut world = strict_world_with_a_folder().await;
        rename(&world.devices[0], "other", "d/in/other");
        assert!(world.devices[0].settle().await);
        for number in 0..8 {
            world.devices[0].write(&format!("d/new{number}"), b"new");
            world.devices[0].write(&format!("stays{number}"), b"stays");
        }
        assert!(world.devices[0].settle().await);
        remove(&world, "d");
        assert!(world.devices[0].settle().await);
        world.devices[0].write("last", b"last");
        let stays: Vec<String> = (0..8).map(|number| format!("stays{number}")).collect();
        let mut expected = vec!["f", "last"];
        expected.extend(stays.iter().map(String::as_str));
        check_strict(&mut world, &expected).await;
        assert_eq!(problems(&world.devices[1]), []);
    });
}

#[test]
fn a_folder_that_is_deleted_takes_along_what_waits_for_a_person_in_it() {
    simulate(async {
        let mut world = strict_world_with_a_folder().await;
        world.devices[1].start();
        about_nodes(&world.devices[1], |node| {
            if node["name"] == "g" {
                node["seal"] = Value::Null;
            }
        });
        world.devices[0].write("d/g", b"2");
        pass(&world).await;
        assert_eq!(
            problems(&world.devices[1]),
            [(ProblemCode::Unverified, "d/g".into())]
        );
        world.devices[1].line.lie(None);
        remove(&world, "d");
        check_strict(&mut world, &["f", "other"]).await;
        assert_eq!(problems(&world.devices[1]), []);
        world.devices[1].kill(false).await;
        check_strict(&mut world, &["f", "other"]).await;
        assert_eq!(problems(&world.devices[1]), []);
    });
}

#[test]
fn the_service_alone_can_not_put_a_file_into_a_folder_that_was_deleted() {
    simulate(async {
        let mut world = strict_world_with_a_folder().await;
        about_json(&world.devices[1], CHANGES, |page| {
            let changes = page["changes"].as_array_mut().expect("changes");
            let deleted = changes.iter().find(|change| change["node"]["name"] == "d");
            let Some(folder) = deleted.map(|change| change["node_id"].clone()) else {
                return;
            };
            for change in changes {
                if change["node"]["name"] == "other" {
                    change["kind"] = json!("trashed");
                    change["node"]["parent_id"] = folder.clone();
                }
            }
        });
        world.devices[0].write("other", b"2");
        assert!(world.devices[0].settle().await);
        remove(&world, "d");
        check_strict(&mut world, &["f", "other"]).await;
        assert_eq!(
            problems(&world.devices[1]),
            [(ProblemCode::Unverified, "other".into())]
        );
    });
}
