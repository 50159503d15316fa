//! Another file system that is mounted inside a synced folder.

use anyhow::{Context, Result, ensure};
use cairn_e2e::mount::SmallDisk;
use cairn_e2e::world::Setup;
use cairn_e2e::{Tree, World};
use serde_json::json;

#[test]
fn a_file_system_inside_a_folder_syncs_one_way() -> Result<()> {
    let mut world = World::with(Setup {
        unlinked: true,
        ..Setup::default()
    })?;
    let disk = SmallDisk::mount(world.a.files().path("photos"), 8 << 20)?;
    world.a.files().run("photos/old=old; doc=doc")?;
    let (root, remote) = (world.a.root_text(), World::remote_folder());
    let preview = world
        .a
        .must(&["add", &root, "--remote", &remote, "--dry-run"])?
        .json()?;
    ensure!(preview["mounts"] == json!(["photos"]), "{preview}");
    world.link_one_after_the_other()?;
    world.expect(&Tree::literal("photos/old=old; doc=doc"))?;

    world
        .b
        .files()
        .run("photos/new=new; photos/old=changed; other=other")?;
    let status = world.a.wait_status("what comes for it waits", |status| {
        let waits = |path| status.problem_at(path).is_some();
        waits("photos/new") && waits("photos/old")
    })?;
    let problem = status.problem_at("photos/new").context("it is there")?;
    ensure!(problem.hint.contains("another file system"), "{problem:?}");
    world
        .a
        .wait_status("the rest comes", |_| world.a.files().exists("other"))?;
    ensure!(!world.a.files().exists("photos/new"));
    ensure!(world.a.files().read("photos/old")? == b"old");

    world.a.files().run("photos/more=more")?;
    world.b.wait_status("what is on it is sent", |_| {
        world.b.files().exists("photos/more")
    })?;
    ensure!(world.b.files().read("photos/old")? == b"changed");
    world.a.stop()?;
    drop(disk);
    world.finish()
}
