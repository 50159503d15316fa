//! One-way folders: changes travel one way only, and the other side is never touched.

use crate::device::Device;
use crate::scenario::{Pair, check};
use crate::service::Service;
use cairn_model::SyncMode;
use cairn_plan::Step;

/// The second device runs in the direction; returns its steps once the first has committed.
fn one_way(mode: SyncMode, base: &str, first: &str, second: &str) -> (Pair, Vec<Step>) {
    let mut pair = Pair::with(base);
    pair.second.policy.mode = mode;
    pair.first.user(first);
    pair.second.user(second);
    pair.first.sync(&mut pair.service);
    let disk = pair.second.paths();
    let nodes = pair.service.nodes.clone();
    let steps = pair.second.sync(&mut pair.service);
    match mode {
        SyncMode::TwoWay => {}
        SyncMode::Upload => assert_eq!(disk, pair.second.paths(), "the disk was changed"),
        SyncMode::Download => assert_eq!(nodes, pair.service.nodes, "the service was changed"),
    }
    assert!(pair.second.plan(&pair.service).steps.is_empty());
    (pair, steps)
}

/// Returns a device that follows the service and has its present state.
fn mirror(service: &mut Service) -> Device {
    let mut device = Device::new("mirror");
    device.sync(service);
    device
}

macro_rules! rows {
    ($direction:expr; $($name:ident: $base:literal, $first:literal, $second:literal => $disk:literal, service $service:literal;)+) => {
        $(
            #[test]
            fn $name() {
                let (mut pair, _) = one_way($direction, $base, $first, $second);
                check(&pair.second, $disk);
                check(&mirror(&mut pair.service), $service);
            }
        )+
    };
}

rows! {
    SyncMode::Upload;
    upload_sends_every_kind_of_change: "a=1 b=2 c=3", "", "a=11; rm b; mv c d/c; n=4" => "a=11 d/c=3 n=4", service "a=11 d/c=3 n=4";
    upload_takes_nothing: "a=1 b=2 c=3", "a=11; rm b; mv c d; n=4", "" => "a=1 b=2 c=3", service "a=11 d=3 n=4";
    upload_sends_an_edit_of_what_moved_there: "a=1", "mv a b", "a=2" => "a=2", service "b=2";
    upload_waits_with_a_conflict: "a=1", "a=22", "a=33" => "a=33", service "a=22";
    upload_waits_with_a_taken_name: "", "n/x=1; m=2", "n=3; m=4; k=5" => "n=3 m=4 k=5", service "n/x=1 m=2 k=5";
    upload_joins_equal_files: "", "d/n=1", "d/n=1; d/m=2" => "d/m=2 d/n=1", service "d/m=2 d/n=1";
    upload_sends_again_what_was_edited_and_deleted_there: "a=1", "rm a", "a=2" => "a=2", service "a=2";
    upload_deletes_around_a_new_child: "d/a=1", "d/n=2", "rm d" => "", service "d/n=2";
    upload_prefers_its_own_move: "a=1", "mv a b", "mv a c" => "c=1", service "c=1";
    upload_leaves_a_cycle_alone: "X/x=1 Y/y=2", "mv X Y/X", "mv Y X/Y" => "X/Y/y=2 X/x=1", service "Y/X/x=1 Y/y=2";
}

rows! {
    SyncMode::Download;
    download_takes_every_kind_of_change: "a=1 b=2 c=3", "a=11; rm b; mv c d/c; n=4", "" => "a=11 d/c=3 n=4", service "a=11 d/c=3 n=4";
    download_sends_nothing: "a=1 b=2 c=3", "", "a=11; rm b; mv c d; n=4; e/f=5" => "a=11 d=3 n=4 e/f=5", service "a=1 b=2 c=3";
    download_keeps_a_local_edit_as_a_copy: "a=1", "a=22", "a=33" => "a=22 CC(a)=33", service "a=22";
    download_keeps_a_local_file_as_a_copy: "", "n=22; d/m=1", "n=33; d=44" => "n=22 CC(n)=33 d/m=1 CC(d)=44", service "d/m=1 n=22";
    download_restores_what_was_edited_there: "a=1", "a=2", "rm a" => "a=2", service "a=2";
    download_keeps_what_was_edited_here: "a=1", "rm a", "a=2" => "a=2", service "";
    download_edits_what_was_moved_here: "a=1", "a=2", "mv a b" => "b=2", service "a=2";
    download_keeps_a_new_file_in_a_deleted_folder: "d/a=1", "rm d", "d/n=2" => "d/n=2", service "";
    download_follows_a_move: "a=1", "mv a b", "mv a c" => "b=1", service "b=1";
}

#[test]
fn bits_travel_one_way_too() {
    let (pair, steps) = one_way(SyncMode::Upload, "a=1 b=2", "chmod a", "chmod b");
    assert!(matches!(
        steps.as_slice(),
        [Step::SetRemoteExecutable {
            executable: true,
            ..
        }]
    ));
    assert!(
        !pair
            .second
            .local
            .values()
            .any(|n| n.executable && n.name.as_str() == "a")
    );
    let (_, steps) = one_way(SyncMode::Download, "a=1 b=2", "chmod a", "chmod b");
    assert!(matches!(
        steps.as_slice(),
        [Step::SetLocalExecutable {
            executable: true,
            ..
        }]
    ));
}
