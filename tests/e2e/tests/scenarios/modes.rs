//! One-way folders, questions that a person answers, and what the command line tells of it all.

use anyhow::{Context, Result, ensure};
use cairn_e2e::device::Options;
use cairn_e2e::tree::trash;
use cairn_e2e::world::Setup;
use cairn_e2e::{Tree, World};

fn b_in_mode(mode: &str) -> Result<World> {
    World::with(Setup {
        b: Options {
            add: vec!["--mode".to_owned(), mode.to_owned()],
            ..Options::default()
        },
        ..Setup::default()
    })
}

fn check_same(expected: &str, found: &Tree) -> Result<()> {
    match Tree::literal(expected).difference(found) {
        Some(difference) => anyhow::bail!("\n{difference}"),
        None => Ok(()),
    }
}

#[test]
fn an_upload_folder_only_sends() -> Result<()> {
    let world = b_in_mode("upload")?;
    world.b.files().run("mine=b; d/deep=b too")?;
    world.settle()?;
    check_same("mine=b; d/deep=b too", &world.a.tree()?)?;
    world
        .a
        .files()
        .run("theirs=a; mine=edited on a; rm d/deep")?;
    world.settle()?;
    check_same("mine=b; d/deep=b too", &world.b.tree()?)?;
    world.finish()
}

#[test]
fn what_both_changed_in_a_one_way_folder_stays_and_is_reported() -> Result<()> {
    let world = b_in_mode("upload")?;
    world.b.files().run("a=base")?;
    world.settle()?;
    world.a.files().run("a=by a")?;
    world.a.wait_idle()?;
    world.b.wait_idle()?;
    world.b.files().run("a=by b, later; other=o")?;
    world.b.must(&["sync"])?;
    let status = world
        .b
        .wait_status("B says what it does not send", |status| {
            status.problem_at("a").is_some()
        })?;
    let problem = status.problem_at("a").cloned();
    ensure!(
        problem.as_ref().is_some_and(|p| p.code == "one_way"),
        "{problem:?}"
    );
    world.settle()?;
    check_same("a=by a; other=o", &world.a.tree()?)?;
    world.b.files().run("mv a mine")?;
    world.b.must(&["sync"])?;
    world.b.wait_status("renamed, it goes up", |status| {
        status.problem_at("a").is_none()
    })?;
    ensure!(world.b.files().read("mine")? == b"by b, later");
    world.finish()
}

#[test]
fn a_download_folder_only_receives() -> Result<()> {
    let world = b_in_mode("download")?;
    world.a.files().run("theirs=a; d/deep=a too")?;
    world.settle()?;
    check_same("theirs=a; d/deep=a too", &world.b.tree()?)?;
    world.b.files().run("mine=b")?;
    world.settle()?;
    ensure!(
        !world.a.files().exists("mine"),
        "a download folder sent a file"
    );
    ensure!(world.b.files().read("mine")? == b"b");
    world.a.files().run("rm theirs; d/deep=edited")?;
    world.settle()?;
    check_same("mine=b; d/deep=edited", &world.b.tree()?)?;
    world.finish()
}

#[test]
fn a_strict_device_asks_before_it_takes_what_was_made_without_keys() -> Result<()> {
    let world = World::with_base("f=base")?;
    world.b.must(&["config", "set", "sync.verify", "strict"])?;
    let service = world.server.service();
    let top = service.folder_id("sync")?;
    service.create_folder(Some(&top), "made")?;
    world.a.files().run("g=new")?;
    let held = world.b.wait_status("it says what it holds", |status| {
        status.folders[0]
            .errors
            .iter()
            .any(|p| p.code == "unverified")
    })?;
    let problem = &held.folders[0].errors[0];
    ensure!(problem.path == "made", "{problem:?}");
    ensure!(problem.hint.contains("cairn accept"), "{problem:?}");
    ensure!(held.folders[0].state == "attention", "{held:?}");
    world.a.wait_idle()?;
    check_same("f=base; g=new; made/", &world.a.tree()?)?;
    world.b.wait_idle()?;
    check_same("f=base; g=new", &world.b.tree()?)?;
    let taken = world.b.must(&["accept"])?.json()?;
    ensure!(taken["accepted"] == 1, "{taken}");
    world.settle()?;
    check_same("f=base; g=new; made/", &world.b.tree()?)?;
    let again = world.b.must(&["accept"])?.json()?;
    ensure!(again["accepted"] == 0, "{again}");
    world.finish()
}

/// Both edited `f.txt`, A first.
fn conflicted_world() -> Result<World> {
    let world = World::with_base("f.txt=base")?;
    world.a.pause()?;
    world.b.pause()?;
    world.a.files().run("f.txt=by a")?;
    world.b.files().run("f.txt=by b, later")?;
    world.a.resume()?;
    world.a.wait_idle()?;
    world.b.resume()?;
    world.settle()?;
    Ok(world)
}

#[test]
fn a_conflict_is_listed_with_both_paths_and_its_device() -> Result<()> {
    let world = conflicted_world()?;
    let response = world.b.must(&["conflicts"])?.json()?;
    let conflict = &response["conflicts"][0];
    ensure!(conflict["path"] == "f.txt", "{conflict}");
    let copy = conflict["copy"]
        .as_str()
        .context("a conflict without a copy")?;
    ensure!(
        copy.starts_with("f (conflicted copy b ") && copy.ends_with(").txt"),
        "{conflict}"
    );
    ensure!(world.b.files().exists(copy), "{copy} is not there");
    for field in ["folder", "kind", "device", "at"] {
        ensure!(!conflict[field].is_null(), "no {field} in {conflict}");
    }
    ensure!(world.b.counters()?.conflicts == 1);
    world.finish()
}

#[test]
fn keeping_mine_gives_the_copy_the_name() -> Result<()> {
    let world = conflicted_world()?;
    let path = world.b.files().path("f.txt").display().to_string();
    world.b.must(&["resolve", &path, "--keep", "mine"])?;
    world.settle()?;
    world.expect(&Tree::literal("f.txt=by b, later"))?;
    ensure!(world.b.conflicts()? == 0 && world.a.conflicts()? == 0);
    world.finish()
}

#[test]
fn keeping_theirs_removes_the_copy_into_the_trash() -> Result<()> {
    let world = conflicted_world()?;
    let path = world.b.files().path("f.txt").display().to_string();
    world.b.must(&["resolve", &path, "--keep", "theirs"])?;
    world.settle()?;
    world.expect(&Tree::literal("f.txt=by a"))?;
    ensure!(world.b.conflicts()? == 0);
    ensure!(
        trash(world.b.files().root())?.count_of(b"by b, later") == 1,
        "the copy is not in the trash"
    );
    world.finish()
}

#[test]
fn keeping_both_closes_the_conflict_on_every_device() -> Result<()> {
    let world = conflicted_world()?;
    let listed = world.b.must(&["conflicts"])?.json()?;
    let copy = listed["conflicts"][0]["copy"].as_str();
    let plain = copy.context("no conflict")?.replace("conflicted copy ", "");
    let path = world.b.files().path("f.txt").display().to_string();
    let resolved = world
        .b
        .must(&["resolve", &path, "--keep", "both"])?
        .json()?;
    let shown = resolved["copy"].as_str().context("no copy")?;
    ensure!(
        std::path::Path::new(shown).ends_with(&plain),
        "{plain}: {resolved}"
    );
    world.settle()?;
    world.expect(&Tree::literal("f.txt=by a").with_file(&plain, "by b, later"))?;
    ensure!(world.b.conflicts()? == 0 && world.a.conflicts()? == 0);
    world.finish()
}

#[test]
fn merging_joins_edits_of_different_lines() -> Result<()> {
    let world = World::two_devices()?;
    let base = "one\ntwo\nthree\nfour\nfive\n";
    world.a.files().write("f.txt", base)?;
    world.settle()?;
    world.a.pause()?;
    world.b.pause()?;
    world
        .a
        .files()
        .write("f.txt", base.replace("one", "ONE by a"))?;
    world
        .b
        .files()
        .write("f.txt", base.replace("five", "FIVE by b"))?;
    world.a.resume()?;
    world.a.wait_idle()?;
    world.b.resume()?;
    world.settle()?;
    let path = world.b.files().path("f.txt").display().to_string();
    world.b.must(&["resolve", &path, "--keep", "merge"])?;
    world.settle()?;
    let merged = base.replace("one", "ONE by a").replace("five", "FIVE by b");
    world.expect(&Tree::default().with_file("f.txt", merged))?;
    ensure!(world.b.conflicts()? == 0);
    world.finish()
}

#[test]
fn what_a_deletion_removed_elsewhere_can_be_restored_here() -> Result<()> {
    let world = World::with_base("keep=k; lost=precious")?;
    world.a.files().run("rm lost")?;
    world.settle()?;
    check_same("keep=k", &world.b.tree()?)?;
    ensure!(trash(world.b.files().root())?.count_of(b"precious") == 1);
    let response = world.b.must(&["trash", "list"])?.json()?;
    ensure!(response.to_string().contains("lost"), "{response}");
    world.finish()
}

#[test]
fn activity_names_what_happened_to_which_path() -> Result<()> {
    let world = World::with_base("a=1")?;
    world.a.files().run("mv a b; c=3")?;
    world.settle()?;
    let response = world.b.must(&["activity"])?.json()?;
    let events = response["events"]
        .as_array()
        .context("`activity` answered without a list")?;
    for path in ["b", "c"] {
        let event = events.iter().find(|event| event["path"] == path);
        let event = event.with_context(|| format!("no event for {path}: {response}"))?;
        for field in ["at", "kind", "folder"] {
            ensure!(!event[field].is_null(), "no {field} in {event}");
        }
    }
    world.finish()
}

#[test]
fn a_removed_folder_keeps_its_files_and_syncs_no_more() -> Result<()> {
    let world = World::with_base("a=1")?;
    world.b.must(&["remove", &world.b.root_text()])?;
    world.a.files().run("c=3")?;
    world.a.wait_idle()?;
    check_same("a=1", &world.b.tree()?)?;
    ensure!(world.b.status()?.folders.is_empty());
    world.finish()
}

#[test]
fn a_pause_survives_a_restart() -> Result<()> {
    let mut world = World::with_base("a=1")?;
    world.b.pause()?;
    world.b.stop()?;
    world.b.start()?;
    ensure!(
        world.b.status()?.state == "paused",
        "{:?}",
        world.b.status()?.state
    );
    world.a.files().run("c=3")?;
    world.a.wait_idle()?;
    check_same("a=1", &world.b.tree()?)?;
    world.b.resume()?;
    world.settle()?;
    world.expect(&Tree::literal("a=1; c=3"))?;
    world.finish()
}
