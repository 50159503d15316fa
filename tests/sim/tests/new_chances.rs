//! Failed steps are tried again as soon as what they failed for has gone, however long their pauses have grown.

use cairn_sim::device::{Device, path};
use cairn_sim::time::{pass, simulate, until};
use cairn_sim::world::{World, tree_of};
use std::time::Duration;

/// Long enough for pauses to grow to minutes; the pause that ends next has other lengths after each.
const LONG: [Duration; 3] = [
    Duration::from_secs(700),
    Duration::from_secs(900),
    Duration::from_secs(1100),
];
/// Long enough for a change of this disk to be noticed and synced, and too short for most pauses to end.
const SOON: Duration = Duration::from_secs(5);
/// The same for a change on the service, which is asked for it each minute.
const POLLED: Duration = Duration::from_secs(65);

/// Returns two devices, of which both run and are in sync.
async fn world() -> World {
    let mut world = World::new(1, 2).await;
    world.devices[0].write("d/beside", b"beside");
    world.settle().await.expect("calm");
    world
}

/// Lets a user change the attributes of a file or directory, as `chmod` does.
fn change_mode(device: &Device, below: &str) {
    device.user(below, |files, path| {
        let now = files.tick();
        files.get_mut(path)?.ctime = now;
        Ok(())
    });
}

fn has(device: &Device, below: &str) -> bool {
    tree_of(device).contains_key(below)
}

fn uploads(device: &Device) -> u64 {
    let status = device.engine().expect("it runs").status();
    status.counters.uploads
}

/// Runs a case after each of the times in which a pause grows.
fn after_each(case: impl AsyncFn(Duration)) {
    for wait in LONG {
        simulate(case(wait));
    }
}

#[test]
fn a_file_that_may_be_read_again_is_sent_at_once() {
    after_each(async |wait| {
        let world = world().await;
        let one = &world.devices[0];
        one.disk.refuse(&path("d/f"), true);
        one.write("d/f", b"f");
        pass(wait).await;
        one.disk.refuse(&path("d/f"), false);
        let before = uploads(one);
        one.write("d/beside", b"changed");
        pass(SOON).await;
        assert_eq!(
            uploads(one),
            before + 1,
            "one beside it is no reason to try"
        );
        change_mode(one, "d/f");
        assert!(until(|| uploads(one) == before + 2, SOON).await, "{wait:?}");
    });
}

#[test]
fn a_file_comes_at_once_when_its_directory_takes_files_again() {
    after_each(async |wait| {
        let world = world().await;
        let [one, other] = [&world.devices[0], &world.devices[1]];
        other.disk.refuse(&path("d"), true);
        one.write("d/f", b"f");
        pass(wait).await;
        other.disk.refuse(&path("d"), false);
        change_mode(other, "d");
        assert!(until(|| has(other, "d/f"), SOON).await, "{wait:?}");
    });
}

#[test]
fn a_file_whose_name_a_disk_refuses_comes_under_another_one_as_soon_as_that_is_known() {
    after_each(async |wait| {
        let world = world().await;
        let [one, other] = [&world.devices[0], &world.devices[1]];
        other.disk.fail_on_names_of_windows();
        one.write("a:b", b"f");
        pass(wait).await;
        one.user("a:b", |files, path| {
            files.rename(path, &path.with_file_name("ab"))
        });
        assert!(until(|| has(other, "ab"), POLLED).await, "{wait:?}");
    });
}

#[test]
fn a_file_comes_soon_after_there_is_space_for_it() {
    after_each(async |wait| {
        let world = world().await;
        let [one, other] = [&world.devices[0], &world.devices[1]];
        other.disk.set_room(Some(10));
        one.write("f", &[1; 2 << 20]);
        pass(wait).await;
        other.write("mine", b"a change of whatever file");
        pass(SOON).await;
        assert!(!has(other, "f"), "there is no more space than before");
        other.disk.set_room(Some(3 << 20));
        other.write("mine", b"another one");
        assert!(until(|| has(other, "f"), SOON).await, "{wait:?}");
    });
}
