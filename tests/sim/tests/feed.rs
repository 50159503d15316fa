//! Changes from the server's feed on their way into a device's index (the sync engine's database).

use cairn_model::NodeId;
use cairn_sim::device::ROOT;
use cairn_sim::world::{World, tree_of};
use std::path::Path;

#[test]
fn a_change_that_can_not_be_read_any_more_is_listed_again() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let mut world = World::new(1, 2).await;
        world.settle().await.expect("calm");
        world.devices[1].kill(false).await;
        let node = NodeId::from_random_bytes([7; 16]);
        let index = world.devices[1].index();
        index
            .write(|db| db.put_pending(node, b"rubbish"))
            .expect("the index takes it");
        let path = Path::new(ROOT).join("doc");
        world.devices[0]
            .disk
            .user(&path, true, |files| files.write(&path, b"doc"))
            .expect("the disk takes it");
        world.settle().await.expect("calm");
        assert!(tree_of(&world.devices[1]).contains_key("doc"));
        let kept = world.devices[1]
            .index()
            .read(|db| db.pending_changes(None, 1));
        assert_eq!(kept.expect("the index answers"), []);
    });
}
