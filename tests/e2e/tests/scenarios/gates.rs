//! Protection against deletions by mistake: the deletion gate, a lost index, a restored server, a vanished
//! folder (scenarios S190–S198).

use anyhow::{Result, ensure};
use cairn_e2e::dev::Fault;
use cairn_e2e::device::{Device, Options};
use cairn_e2e::status::Status;
use cairn_e2e::world::Setup;
use cairn_e2e::{Tree, World};
use std::fmt::Write as _;
use std::fs;

fn hundred() -> String {
    (0..100).fold(String::new(), |mut text, n| {
        let _ = write!(text, "{}/{n}=content {n};", n % 5);
        text
    })
}

fn asks(status: &Status) -> bool {
    status.state == "attention"
        && status
            .problems()
            .any(|problem| problem.hint.contains("confirm"))
}

fn has(device: &Device, script: &str) -> Result<()> {
    match Tree::literal(script).difference(&device.tree()?) {
        Some(difference) => anyhow::bail!("{}:\n{difference}", device.name()),
        None => Ok(()),
    }
}

/// A hundred files on both, A's gone, A asking.
fn asking_world() -> Result<World> {
    let world = World::with_base(&hundred())?;
    world.a.files().remove_everything()?;
    world.a.must(&["sync"])?;
    world.a.wait_status("A asks whether to delete", asks)?;
    Ok(world)
}

#[test]
fn s190_a_mass_deletion_waits_for_a_person() -> Result<()> {
    let world = asking_world()?;
    let waited = world.a.cli(&["status", "--wait", "--timeout", "60"])?;
    ensure!(
        waited.code == 5,
        "`status --wait` ended with {}: {}",
        waited.code,
        waited.printed_text()
    );
    world.b.cycle()?;
    has(&world.b, &hundred())?;
    ensure!(world.server.service().tree()?.len() == 105);
    world.finish()
}

#[test]
fn s190_everything_else_syncs_on_while_it_waits() -> Result<()> {
    let world = asking_world()?;
    world.b.files().run("news=from b")?;
    world.b.wait_idle()?;
    world.a.wait_status("the new file arrives on A", |_| {
        world.a.files().exists("news")
    })?;
    has(&world.b, &format!("{}news=from b", hundred()))?;
    world.finish()
}

#[test]
fn s191_keep_brings_everything_back() -> Result<()> {
    let world = asking_world()?;
    world.a.must(&["confirm", &world.a.root_text(), "keep"])?;
    world.settle()?;
    world.expect(&Tree::literal(&hundred()))?;
    world.finish()
}

#[test]
fn s192_delete_deletes_everywhere_and_asks_once() -> Result<()> {
    let world = asking_world()?;
    world.a.must(&["confirm", &world.a.root_text(), "delete"])?;
    world.settle()?;
    world.expect(&Tree::default())?;
    for device in [&world.a, &world.b] {
        let status = device.status()?;
        ensure!(
            status.state == "idle",
            "{} asks again: {status:?}",
            device.name()
        );
    }
    world.finish()
}

#[test]
fn s193_the_question_survives_a_crash() -> Result<()> {
    let mut world = asking_world()?;
    world.a.kill9()?;
    world.a.start()?;
    world.a.wait_status("A asks again", asks)?;
    world.b.cycle()?;
    has(&world.b, &hundred())?;
    world.a.must(&["confirm", &world.a.root_text(), "keep"])?;
    world.settle()?;
    world.expect(&Tree::literal(&hundred()))?;
    world.finish()
}

#[test]
fn a_gate_that_is_off_asks_nobody() -> Result<()> {
    let off = || Options {
        add: vec!["--deletion-gate".to_owned(), "off".to_owned()],
        ..Options::default()
    };
    let world = World::with(Setup {
        a: off(),
        b: off(),
        ..Setup::default()
    })?;
    world.base(&hundred())?;
    world.a.files().remove_everything()?;
    world.settle()?;
    world.expect(&Tree::default())?;
    world.finish()
}

#[test]
fn s195_a_lost_index_deletes_and_sends_nothing_again() -> Result<()> {
    let mut world = World::with_base("a=1; d/b=2; d/c=3")?;
    let before = world.b.counters()?;
    world.a.stop()?;
    for entry in fs::read_dir(world.a.home())? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("index.db") {
            fs::remove_file(entry.path())?;
        }
    }
    world.a.files().run("fresh=new")?;
    world.a.start()?;
    ensure!(
        world.a.status()?.folders.len() == 1,
        "the folder pair went with the index"
    );
    world.settle()?;
    world.expect(&Tree::literal("a=1; d/b=2; d/c=3; fresh=new"))?;
    let (a, b) = world.counters()?;
    ensure!((a.uploads, a.downloads) == (1, 0), "A did {a:?}");
    ensure!((b - before).downloads == 1, "B did {b:?}");
    world.finish()
}

#[test]
fn s196_a_server_restored_from_a_backup_deletes_nothing() -> Result<()> {
    let mut world = World::with(Setup {
        durable: true,
        ..Setup::default()
    })?;
    world.base("same=s; changed=v1; removed=r")?;
    let backup = world.path("backup");
    world.server.backup(&backup)?;
    world.settle()?;
    world
        .a
        .files()
        .run("changed=v2-later; rm removed; added=new")?;
    world.settle()?;
    world.equal()?;
    world.server.restore(&backup)?;
    world.settle()?;
    let tree = world.equal()?;
    for (path, content) in [
        ("same", "s"),
        ("changed", "v1"),
        ("removed", "r"),
        ("added", "new"),
    ] {
        let found = tree.file(path) == Some(&cairn_e2e::tree::Content::new(content.as_bytes()));
        ensure!(found, "{path} is not {content:?}:\n{tree}");
    }
    ensure!(
        (tree.count_of(b"v2-later"), tree.files().count()) == (1, 5),
        "the later version is to be there once, and nothing else:\n{tree}"
    );
    world.steady()?;
    world.finish()
}

#[test]
fn s198_a_feed_that_fails_deletes_nothing() -> Result<()> {
    let world = World::with_base("d/a=1; d/b=2; e/c=3")?;
    world
        .server
        .dev()
        .fault(&Fault::on("/api/v1/changes*").status(500))?;
    world.a.files().run("e/d=4")?;
    for device in [&world.a, &world.b] {
        device.cli(&["sync"])?.refuses(4, &["sent later"])?;
    }
    world.server.dev().wait_for_hits(4)?;
    has(&world.a, "d/a=1; d/b=2; e/c=3; e/d=4")?;
    world.server.dev().clear_faults()?;
    world.settle()?;
    world.expect(&Tree::literal("d/a=1; d/b=2; e/c=3; e/d=4"))?;
    world.finish()
}

#[test]
fn a_vanished_folder_halts_and_heals_when_it_is_back() -> Result<()> {
    let world = World::with_base("d/a=1; b=2")?;
    let (root, away) = (world.a.files().root().to_owned(), world.path("away"));
    fs::rename(&root, &away)?;
    world.a.cli(&["sync"])?.refuses(1, &["is missing"])?;
    let status = world
        .a
        .wait_status("A says that its folder is gone", |status| {
            status.folders[0].state != "idle" && !status.folders[0].errors.is_empty()
        })?;
    let problem = &status.folders[0].errors[0];
    ensure!(
        !problem.hint.is_empty() && !problem.code.is_empty(),
        "{problem:?}"
    );
    world.b.cycle()?;
    has(&world.b, "d/a=1; b=2")?;
    ensure!(world.server.service().tree()?.len() == 3);
    ensure!(!root.exists(), "the daemon made the folder again");
    fs::rename(&away, &root)?;
    world.a.must(&["sync"])?;
    world.settle()?;
    world.expect(&Tree::literal("d/a=1; b=2"))?;
    world.finish()
}

#[test]
fn a_folder_replaced_by_an_empty_one_deletes_nothing() -> Result<()> {
    let world = World::with_base(&hundred())?;
    let (root, away) = (world.a.files().root().to_owned(), world.path("away"));
    fs::rename(&root, &away)?;
    fs::create_dir(&root)?;
    world.a.cli(&["sync"])?.refuses(1, &["is missing"])?;
    world.a.wait_status("A notices", |status| {
        status.state == "attention" || status.state == "error"
    })?;
    world.b.cycle()?;
    has(&world.b, &hundred())?;
    world.finish()
}

#[test]
fn a_mass_deletion_that_takes_its_time_is_asked_about_too() -> Result<()> {
    let world = World::with_base(&hundred())?;
    for n in 0..100_u64 {
        world.a.files().remove(format!("{}/{n}", n % 5))?;
        if n % 10 == 9 {
            // Slower than a change waits for others: ten after ten are seen, and planned for.
            world
                .a
                .wait_status("A has seen that they are gone", |status| {
                    status.folders[0].files <= 99 - n
                })?;
        }
    }
    world.a.wait_status("A asks whether to delete", asks)?;
    world.b.cycle()?;
    let left = world.b.tree()?.files().count();
    // Fewer than the gate takes for several may be gone before it can know.
    ensure!(left > 90, "only {left} of 100 files are left on B");
    world.a.must(&["confirm", &world.a.root_text(), "keep"])?;
    world.settle()?;
    ensure!(world.a.tree()?.files().count() == left);
    world.finish()
}

#[test]
fn deletions_on_the_service_count_together() -> Result<()> {
    let world = World::with_base(&hundred())?;
    let top = World::remote_folder();
    let folders = [0, 1, 2].map(|n| format!("{top}/{n}"));
    let mut delete = vec!["delete"];
    delete.extend(folders.iter().map(String::as_str));
    world.a.must(&delete)?;
    for device in [&world.a, &world.b] {
        device.wait_status("it asks whether to delete here", asks)?;
        has(device, &hundred())?;
    }
    Ok(())
}

#[test]
fn a_folder_whose_remote_folder_is_deleted_halts_and_keeps_its_files() -> Result<()> {
    let world = World::with_base("f=1; d/g=2")?;
    world.a.must(&["delete", &World::remote_folder()])?;
    let halted = |status: &Status| {
        status.state == "error" && status.problems().any(|p| p.code == "remote_gone")
    };
    for device in [&world.a, &world.b] {
        device.wait_status("it says that its remote folder is gone", halted)?;
    }
    world.a.files().run("new=3")?;
    world.a.cli(&["sync"])?.refuses(1, &["not synced now"])?;
    world.a.wait_status("it still says so", halted)?;
    has(&world.a, "f=1; d/g=2; new=3")?;
    has(&world.b, "f=1; d/g=2")?;
    // Added anew, it is made anew, from what is here.
    for device in [&world.a, &world.b] {
        device.must(&["remove", &device.root_text()])?;
        device.add(&World::remote_folder())?;
    }
    world.settle()?;
    world.expect(&Tree::literal("f=1; d/g=2; new=3"))?;
    world.finish()
}

#[test]
fn a_folder_follows_its_remote_folder_that_is_renamed() -> Result<()> {
    let world = World::with_base("f=1; d/g=2")?;
    world.a.must(&["move", &World::remote_folder(), "/moved"])?;
    let followed = |status: &Status| status.folders.iter().all(|f| f.remote == "/moved");
    for device in [&world.a, &world.b] {
        device.wait_status("it says where its remote folder is", followed)?;
        let file = device.files().root().join("d/g").display().to_string();
        device.must(&["history", &file])?;
    }
    world.a.files().run("new=3")?;
    world.settle()?;
    world.expect(&Tree::literal("f=1; d/g=2; new=3"))?;
    world.b.must(&["list", "/moved/new"])?;
    world.finish()
}
