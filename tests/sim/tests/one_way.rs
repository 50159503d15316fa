//! Folders that only send: whatever can't be sent is said, and asks for a person.

use cairn_model::{ProblemCode, SyncMode};
use cairn_sim::device::Device;
use cairn_sim::time::simulate;
use cairn_sim::world::{World, tree_of};

/// Returns two devices that run. The first has a file `report` and a file `photos` on the service; the second only
/// sends, and has a file `report`, a folder `photos` and a file `own`.
async fn world() -> World {
    let mut world = World::new(1, 2).await;
    world.devices[0].write("report", b"other");
    world.devices[0].write("photos", b"a file");
    world.devices[0].start();
    assert!(world.devices[0].settle().await);
    let sender = &world.devices[1];
    sender.set_mode(SyncMode::Upload);
    sender.write("report", b"mine");
    sender.user("photos", |files, path| files.mkdir(path));
    sender.write("photos/1.jpg", b"a picture");
    sender.write("own", b"sent");
    world.devices[1].start();
    world
}

fn not_sent(device: &Device) -> Vec<String> {
    device.problems(ProblemCode::OneWay)
}

#[test]
fn what_has_a_name_that_is_taken_on_the_service_needs_a_person() {
    simulate(async {
        let world = world().await;
        let (other, sender) = (&world.devices[0], &world.devices[1]);
        assert!(sender.rest().await);
        assert!(!sender.settle().await, "it doesn't say that all is in sync");
        assert_eq!(not_sent(sender), ["photos", "report"]);
        assert!(other.settle().await);
        assert_eq!(tree_of(other)["own"].as_deref(), Some(b"sent".as_slice()));
        assert_eq!(
            tree_of(other)["report"].as_deref(),
            Some(b"other".as_slice())
        );
        assert_eq!(
            tree_of(sender)["report"].as_deref(),
            Some(b"mine".as_slice())
        );

        sender.user("report", |files, path| {
            files.rename(path, &path.with_file_name("report 2"))
        });
        sender.user("photos", |files, path| {
            files.rename(path, &path.with_file_name("pictures"))
        });
        assert!(sender.settle().await, "{:?}", not_sent(sender));
        assert!(other.settle().await);
        let tree = tree_of(other);
        assert_eq!(tree["report 2"].as_deref(), Some(b"mine".as_slice()));
        assert_eq!(
            tree["pictures/1.jpg"].as_deref(),
            Some(b"a picture".as_slice())
        );
        assert_eq!(tree["photos"].as_deref(), Some(b"a file".as_slice()));
    });
}

#[test]
fn a_file_that_was_renamed_to_a_taken_name_needs_a_person_too() {
    simulate(async {
        let world = world().await;
        let (other, sender) = (&world.devices[0], &world.devices[1]);
        for name in ["report", "photos"] {
            sender.user(name, |files, path| {
                files.rename(
                    path,
                    &path.with_file_name(format!("my {}", path.display()).replace('/', "_")),
                )
            });
        }
        assert!(sender.settle().await, "{:?}", not_sent(sender));
        sender.user("own", |files, path| {
            files.rename(path, &path.with_file_name("report"))
        });
        assert!(sender.rest().await);
        assert_eq!(not_sent(sender), ["report"]);
        assert!(other.settle().await);
        let tree = tree_of(other);
        assert_eq!(tree["report"].as_deref(), Some(b"other".as_slice()));
        assert_eq!(tree["own"].as_deref(), Some(b"sent".as_slice()));

        other.user("report", |files, path| {
            files.rename(path, &path.with_file_name("report of another"))
        });
        assert!(other.settle().await);
        assert!(sender.settle().await, "{:?}", not_sent(sender));
        assert!(other.settle().await);
        let tree = tree_of(other);
        assert_eq!(tree["report"].as_deref(), Some(b"sent".as_slice()));
    });
}
